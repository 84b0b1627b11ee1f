package target

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"whatif/internal/hint"
)

// tree makes files below a temporary directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestFindCgroup(t *testing.T) {
	two := tree(t, map[string]string{
		"cgroup.procs": "", "system.slice/cgroup.procs": "", "system.slice/nginx.service/cgroup.procs": "7\n",
		"system.slice/docker-4711abcd.scope/cgroup.procs": "8\n", "plain/file": "",
	})
	hybrid := tree(t, map[string]string{
		"cpu/cgroup.procs": "", "cpu/docker/abc/cgroup.procs": "", "systemd/cgroup.procs": "", "unified/cgroup.procs": "",
		"unified/own/cgroup.procs": "", "systemd/own/cgroup.procs": "",
	})
	for _, x := range []struct{ root, name, want, hint string }{
		{two, "system.slice/nginx.service", "system.slice/nginx.service", ""},
		{two, "/system.slice/nginx.service", "system.slice/nginx.service", ""},
		{two, two + "/system.slice", "system.slice", ""},
		{two, "nginx.service", "system.slice/nginx.service", ""},
		{two, "nginx", "system.slice/nginx.service", ""},
		{two, "/", "", ""},
		{two, "ngnix.service", "none", "did you mean " + two + "/system.slice/nginx.service?"},
		{two, "4711", "none", "did you mean " + two + "/system.slice/docker-4711abcd.scope?"},
		{two, two + "/plain", "none", "cgroups are in"},
		{two, two + "/plain/file", "none", "name the directory"},
		{two, "nothing/of/it", "none", "/proc/PID/cgroup"},
		{hybrid, "docker/abc", "cpu/docker/abc", ""},
		{hybrid, "own", "unified/own", ""},
		{t.TempDir(), "own", "none", "mount them"},
	} {
		got, err := findCgroup(x.root, x.name)
		if x.want == "none" {
			if err == nil || !strings.Contains(hint.Of(err), x.hint) {
				t.Errorf("%s: %s, %v, hint %q, want %q", x.name, got, err, hint.Of(err), x.hint)
			}
			continue
		}
		if err != nil || got != filepath.Join(x.root, x.want) {
			t.Errorf("%s: %s, want %s: %v", x.name, got, x.want, err)
		}
	}
}

func TestCgroupMembers(t *testing.T) {
	root := tree(t, map[string]string{"cgroup.procs": "3\n0\n", "a/cgroup.procs": "5\n", "a/b/cgroup.procs": "8\n9\n"})
	got, err := CgroupMembers(root)
	slices.Sort(got)
	if err != nil || !slices.Equal(got, []int{3, 5, 8, 9}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := CgroupMembers(root + "/none"); err == nil {
		t.Error("no error for a cgroup that is gone")
	}
}

func TestQuotas(t *testing.T) {
	root := tree(t, map[string]string{
		"a/cpu.max": "50000 100000\n", "a/b/cpu.max": "max 100000\n",
		"a/cpu.stat":              "usage_usec 1\nnr_periods 3\nnr_throttled 2\n",
		"cpu/v1/cpu.cfs_quota_us": "150000\n", "cpu/v1/cpu.cfs_period_us": "100000\n",
		"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n",
	})
	got := quotas(root, ParseCgroups([]byte("4:cpu,cpuacct:/v1/x\n3:memory:/v1\n0::/a/b\nnonsense\n")))
	want := []Quota{{root + "/cpu/v1", 1.5}, {root + "/a", 0.5}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if n := got[1].Throttled(); n != 2 {
		t.Errorf("throttled %d times, want 2", n)
	}
}

func TestAllQuotas(t *testing.T) {
	const quota, none = "50000 100000\n", "max 100000\n"
	for _, x := range []struct {
		files map[string]string
		most  int
		want  []string
	}{
		{
			map[string]string{"cgroup.procs": "", "a/cpu.max": quota, "b/cpu.max": none, "b/c/cpu.max": quota},
			100, []string{"a", "b/c"},
		},
		{map[string]string{"cgroup.procs": "", "a/cpu.max": quota, "b/cpu.max": quota}, 2, []string{"a"}},
		{
			map[string]string{
				"unified/cgroup.procs": "", "unified/a/cpu.max": quota,
				"memory/cgroup.procs": "", "memory/a/cpu.max": quota,
				"cpu,cpuacct/cgroup.procs": "", "cpu,cpuacct/v1/cpu.cfs_quota_us": "50000\n",
				"cpu,cpuacct/v1/cpu.cfs_period_us": "100000\n",
			},
			100, []string{"unified/a", "cpu,cpuacct/v1"},
		},
		{map[string]string{}, 100, nil},
	} {
		root := tree(t, x.files)
		var got []string
		for _, q := range allQuotas(root, x.most) {
			dir, _ := filepath.Rel(root, q.Dir)
			got = append(got, dir)
			if q.CPUs != 0.5 {
				t.Errorf("%s: %g CPUs", dir, q.CPUs)
			}
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("of %d of %v: %v, want %v", x.most, x.files, got, x.want)
		}
	}
}

func FuzzParseCgroups(f *testing.F) {
	f.Add([]byte("4:cpu,cpuacct:/user.slice\n0::/system.slice/cron.service\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, m := range ParseCgroups(text) {
			if !strings.HasPrefix(m.Path, "/") || strings.Contains(m.Path+"/", "/../") {
				t.Errorf("%q leads elsewhere", m.Path)
			}
		}
	})
}
