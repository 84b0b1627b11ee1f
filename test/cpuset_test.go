package test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"whatif/internal/profile"
	"whatif/internal/testing/realkernel"
)

// In a container that may not use all CPUs, a program that whatif starts is profiled on those that it may use. Of a
// program that runs elsewhere whatif says that it cannot be profiled.
func TestCPUSet(t *testing.T) {
	realkernel.NeedSession(t)
	if runtime.NumCPU() < 2 {
		t.Skip("one CPU")
	}
	dir := cpuset(t)
	within := func(args ...string) (data *profile.Data, warned bool) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "whatif.profile")
		cmd := exec.Command("sh", append([]string{"-c", `echo $$ > "$0" && exec "$@"`, filepath.Join(dir, "cgroup.procs"),
			realkernel.Whatif(t), args[0], "--quiet", "-o", file}, args[1:]...)...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, stderr.Bytes())
		}
		runs, err := profile.ReadFiles([]string{file})
		if err != nil || len(runs) != 1 {
			t.Fatal(len(runs), err)
		}
		return runs[0], slices.ContainsFunc(runs[0].Warnings, func(w profile.Warning) bool { return w.Code == "cpuset" })
	}
	program, busy := realkernel.Compile(t, "testdata/naps.c", "-O1"), compileBusy(t)
	data, warned := within("run", "--repeat", "2", "--", program)
	if len(data.Experiments) != 2 || data.Experiments[0].Samples == 0 || warned {
		t.Errorf("%d executions, warnings %v: %+v", len(data.Experiments), data.Warnings, data.Experiments)
	}
	p := startBusy(t, busy, "3")
	if _, warned = within("attach", "-d", "300ms", "-p", "func:visited", fmt.Sprint(p.pid())); !warned {
		t.Error("nothing is said of the CPUs that it may not be on")
	}
}

// cpuset makes a cgroup that may use the first CPU only.
func cpuset(t *testing.T) string {
	t.Helper()
	for _, root := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/cpuset"} {
		dir := cgroupIn(t, root)
		if dir == "" {
			continue
		}
		// Without mems no process may be in a cgroup of the first version; one of the second has its parent's.
		if mems, err := os.ReadFile(filepath.Join(root, "cpuset.mems")); err == nil {
			os.WriteFile(filepath.Join(dir, "cpuset.mems"), mems, 0)
		}
		if os.WriteFile(filepath.Join(dir, "cpuset.cpus"), []byte("0"), 0) == nil {
			return dir
		}
	}
	t.Skip("no cgroup with a set of CPUs can be made here")
	return ""
}
