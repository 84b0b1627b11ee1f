package experiment

import (
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"whatif/internal/profile"
	"whatif/internal/realkernel"
)

func warnedOf(data *profile.Data, code string) bool {
	return slices.ContainsFunc(data.Warnings, func(w profile.Warning) bool { return w.Code == code })
}

// Who is stopped by the kernel because his quota is used up is told, whoever profiles him and how.
func TestQuota(t *testing.T) {
	realkernel.Need(t)
	p := startBusy(t, compileBusy(t), "2")
	pid := strconv.Itoa(p.pid())
	dir := limited(t, 20*time.Millisecond, 100*time.Millisecond)
	told := func(a *attaching) bool {
		t.Helper()
		time.Sleep(500 * time.Millisecond)
		return warnedOf(a.detach(t), "cpu-quota")
	}
	if told(attach(t, append(busyPoints, pid)...)) {
		t.Error("a quota is told of where there is none")
	}
	enter(t, dir, p.pid())
	if !told(attach(t, append(busyPoints, pid)...)) {
		t.Error("attach does not tell of the quota")
	}
	if !told(system(t, "-p", "syscall:getppid")) {
		t.Error("system does not tell of the quota")
	}
	enter(t, filepath.Dir(dir), p.pid()) // so that the cgroup can go
}

// limited makes a cgroup that may use so much of each period.
func limited(t *testing.T, quota, period time.Duration) string {
	t.Helper()
	us := func(d time.Duration) string { return strconv.FormatInt(d.Microseconds(), 10) }
	for _, root := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"} {
		dir := cgroupIn(t, root)
		if dir == "" {
			continue
		}
		if os.WriteFile(filepath.Join(dir, "cpu.max"), []byte(us(quota)+" "+us(period)), 0) == nil {
			return dir
		}
		if os.WriteFile(filepath.Join(dir, "cpu.cfs_period_us"), []byte(us(period)), 0) == nil &&
			os.WriteFile(filepath.Join(dir, "cpu.cfs_quota_us"), []byte(us(quota)), 0) == nil {
			return dir
		}
	}
	t.Skip("no cgroup with a quota can be made here")
	return ""
}

// What happens to a machine while it is profiled, and makes an experiment worth nothing.
func TestMachineChanged(t *testing.T) {
	for _, x := range []struct {
		name  string
		since func(l *limits)
		why   string
		code  string
	}{
		{"nothing", func(*limits) {}, "", ""},
		{"CPUs", func(l *limits) { l.cpus = "0-1023" }, "CPU hotplug", "cpu-hotplug"},
		{"suspended", func(l *limits) { l.suspended -= 2 * time.Second }, "suspended", "suspended"},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := &session{cfg: &Config{Log: slog.New(slog.DiscardHandler), System: true}, data: &profile.Data{}, warned: map[string]bool{}}
			s.watchLimits()
			s.data.Warnings = nil // of what this machine is at any time
			x.since(&s.limits)
			if why := s.exceeded(); why != x.why {
				t.Errorf("set aside for %q, want %q", why, x.why)
			}
			if (len(s.data.Warnings) > 0) != (x.code != "") || x.code != "" && s.data.Warnings[0].Code != x.code {
				t.Errorf("warnings %v, want %q", s.data.Warnings, x.code)
			}
			again := s.exceeded()
			if lasts := x.code == "cpu-hotplug"; lasts != (again != "") {
				t.Errorf("the next experiment is set aside for %q", again)
			}
		})
	}
}

// A CPU that goes while whatif stops it, and comes again: the program runs on, what was measured before is kept, and it is told.
func TestHotplug(t *testing.T) {
	realkernel.Need(t)
	const online = "/sys/devices/system/cpu/cpu1/online"
	if _, err := os.Stat(online); err != nil || runtime.NumCPU() < 2 {
		t.Skip("no CPU can be taken away here")
	}
	bring := func(to string) {
		t.Helper()
		if err := os.WriteFile(online, []byte(to), 0); err != nil {
			t.Fatal(err)
		}
	}
	p := startBusy(t, compileBusy(t), "3")
	a := attach(t, append(busyPoints, "-s", "100", strconv.Itoa(p.pid()))...)
	defer bring("1")
	bring("0")
	time.Sleep(300 * time.Millisecond)
	bring("1")
	time.Sleep(300 * time.Millisecond)
	data := a.detach(t)
	if !warnedOf(data, "cpu-hotplug") {
		t.Errorf("no word of the CPU that went: %v", data.Warnings)
	}
	aside := map[string]int{}
	for _, e := range data.Experiments {
		aside[e.SetAside]++
	}
	if aside[""] == 0 || aside["CPU hotplug"] == 0 {
		t.Errorf("what experiments were set aside for: %v", aside)
	}
	before := p.rounds()
	time.Sleep(100 * time.Millisecond)
	if p.rounds() == before {
		t.Error("the program stands still")
	}
}
