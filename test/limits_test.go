package test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"whatif/internal/profile"
	"whatif/internal/testing/realkernel"
)

func warned(data *profile.Data, code, text string) bool {
	return slices.ContainsFunc(data.Warnings,
		func(w profile.Warning) bool { return w.Code == code && strings.Contains(w.Text, text) })
}

// whatif tells of a CPU quota that is used up, in attach and in system.
func TestQuota(t *testing.T) {
	realkernel.NeedSession(t)
	dir := limited(t, 20*time.Millisecond, 100*time.Millisecond)
	p := startBusy(t, compileBusy(t), "2") // which ends before the cgroup is taken away
	pid := strconv.Itoa(p.pid())
	a := attach(t, append(busyPoints, pid)...)
	time.Sleep(300 * time.Millisecond) // some experiments
	if warned(a.detach(t), "cpu-quota", dir) {
		t.Error("a quota is told of where there is none")
	}
	enter(t, dir, p.pid())
	a = attach(t, append(busyPoints, pid)...)
	awaitUntil(t, "word of the quota", func() bool { return strings.Contains(a.written(), `"cpu-quota"`) })
	if !warned(a.detach(t), "cpu-quota", dir) {
		t.Error("attach does not tell of the quota")
	}
	// A warning about the whole machine names the first of its quotas only, which may be another one.
	a = system(t, "-p", "syscall:getppid")
	before := throttled(t, dir)
	awaitUntil(t, "the quota to be used up", func() bool { return throttled(t, dir) > before })
	if data := a.detach(t); !warned(data, "cpu-quota", "") {
		t.Errorf("system does not tell of the quota: %v", data.Warnings)
	}
}

// throttled is how often a cgroup has used its quota up.
func throttled(t *testing.T, dir string) (n int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "cpu.stat"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		fmt.Sscanf(line, "nr_throttled %d", &n)
	}
	return n
}

// limited makes a cgroup that may use this quota of each period.
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

// A CPU goes off line while whatif stops it, and comes again: the program runs on, what was measured before is kept,
// and the user is told. It is tried only where it is asked for: a program that was bound to that CPU is bound no more.
func TestHotplug(t *testing.T) {
	measures(t)
	const online = "/sys/devices/system/cpu/cpu1/online"
	bring := func(to string) error { return os.WriteFile(online, []byte(to), 0) }
	if err := bring("1"); err != nil {
		t.Skip("no CPU can be taken away here: ", err)
	}
	p := startBusy(t, compileBusy(t), "3")
	a := attach(t, append(busyPoints, "-s", "100", strconv.Itoa(p.pid()))...)
	time.Sleep(500 * time.Millisecond)
	t.Cleanup(func() { bring("1") })
	for _, to := range []string{"0", "1"} {
		if err := bring(to); err != nil {
			t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond)
	}
	time.Sleep(time.Second)
	data := a.detach(t)
	// The CPU has its clock again: experiments have the samples of both CPUs.
	rate := func(some []profile.Experiment) float64 {
		var samples, ns int64
		for i := range some {
			if why := some[i].SetAside; why == "foreign CPU time" || why == "steal" {
				continue // others', which are not this test's matter
			} else if why != "" {
				t.Errorf("experiment %d is set aside for %q", some[i].Index, why)
			}
			samples, ns = samples+some[i].Samples, ns+some[i].RealNS
		}
		return float64(samples) / float64(ns) * 1e6
	}
	const some = 10                   // each is short, and has few samples
	last := len(data.Experiments) - 1 // it ended early
	if last <= 2*some {
		t.Fatalf("%d experiments", len(data.Experiments))
	}
	before, after := rate(data.Experiments[1:1+some]), rate(data.Experiments[last-some:last])
	t.Logf("%.2f samples a millisecond before the CPU went, %.2f after it was back", before, after)
	if after < 0.8*before {
		t.Errorf("%.2f samples a millisecond before the CPU went, %.2f after it was back", before, after)
	}
	if !warned(data, "cpu-hotplug", "") {
		t.Errorf("no word of the CPU that went: %v", data.Warnings)
	}
	aside := map[string]int{}
	for _, e := range data.Experiments {
		aside[e.SetAside]++
	}
	if aside[""] == 0 || aside["CPU hotplug"] == 0 {
		t.Errorf("what experiments were set aside for: %v", aside)
	}
	rounds := p.rounds()
	time.Sleep(100 * time.Millisecond)
	if p.rounds() == rounds {
		t.Error("the program stands still")
	}
}
