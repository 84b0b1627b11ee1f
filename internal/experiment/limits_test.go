package experiment

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"whatif/internal/profile"
	"whatif/internal/target"
)

func TestUnevenCores(t *testing.T) {
	for _, x := range []struct {
		files map[string]string
		want  []string
	}{
		{nil, nil},
		{map[string]string{"cpu/smt/active": "0\n", "node/online": "0\n"}, nil},
		{map[string]string{"cpu/smt/active": "1\n", "node/online": "0\n"}, []string{"smt"}},
		{map[string]string{"cpu/smt/active": "1\n", "node/online": "0-1\n"}, []string{"smt", "numa"}},
		{map[string]string{"node/online": "0,2\n"}, []string{"numa"}},
	} {
		system := fstest.MapFS{}
		for name, text := range x.files {
			system[name] = &fstest.MapFile{Data: []byte(text)}
		}
		var got []string
		for _, w := range unevenCores(system) {
			got = append(got, w.Code)
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("%v: %v, want %v", x.files, got, x.want)
		}
	}
}

// What is told of a machine that changed since the last experiment, and whether that experiment is discarded.
func TestMachineChanged(t *testing.T) {
	used := target.Quota{Dir: t.TempDir(), CPUs: 0.5}
	if err := os.WriteFile(filepath.Join(used.Dir, "cpu.stat"), []byte("nr_periods 9\nnr_throttled 3\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name   string
		before func(w *watchers)
		why    reason
		code   string
	}{
		{"nothing", func(*watchers) {}, usable, ""},
		{"CPUs", func(w *watchers) { w.limits.cpus = "0-1023" }, "CPU hotplug", "cpu-hotplug"},
		{"suspended", func(w *watchers) { w.limits.suspended -= 2 * time.Second }, "suspended", "suspended"},
		{"quota", func(w *watchers) { w.quotas.used = map[target.Quota]int64{used: 2} }, usable, "cpu-quota"},
		{"quota, not used up", func(w *watchers) { w.quotas.used = map[target.Quota]int64{used: 3} }, usable, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			rec, err := newRecorder(profile.Run{}, nil, slog.New(slog.DiscardHandler), nil)
			if err != nil {
				t.Fatal(err)
			}
			w := &watchers{lease: &lease{}, quotas: &quotas{rec: rec}, clocks: &clocks{}}
			w.limits = &limits{rec: rec, cpus: onlineCPUs(), suspended: suspendedTime()}
			x.before(w)
			if why := w.exceeded(); why != x.why {
				t.Errorf("set aside for %q, want %q", why, x.why)
			}
			var codes []string
			for _, w := range rec.data.Warnings {
				codes = append(codes, w.Code)
			}
			if got := strings.Join(codes, " "); got != x.code {
				t.Errorf("warnings %q, want %q", got, x.code)
			}
			again := w.exceeded()
			if lasts := x.code == "cpu-hotplug"; lasts != (again != usable) {
				t.Errorf("the next experiment is set aside for %q", again)
			}
		})
	}
}
