package experiment

import (
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/profile"
	"whatif/internal/target"
)

// limits are what makes a stopped core something else than time withheld: looked at after
// each experiment.
type limits struct {
	cpus      string // that are online
	suspended time.Duration
	quotas    map[target.Quota]int64 // how often each was used up
}

// machine is where the kernel describes it.
var machine = os.DirFS("/sys/devices/system")

// watchLimits begins, and says what is known at once.
func (s *session) watchLimits() {
	s.limits = limits{cpus: kernelSays(machine, "cpu/online"), suspended: suspendedTime(), quotas: make(map[target.Quota]int64)}
	for _, w := range unevenCores(machine) {
		s.note(w.Code, "%s", w.Text)
	}
	for _, q := range s.quotas() {
		if _, known := s.limits.quotas[q]; !known { // many processes are in one cgroup
			s.limits.quotas[q] = q.Throttled()
		}
	}
}

// unevenCores says what makes it matter which core a thread is on.
func unevenCores(system fs.FS) (all []profile.Warning) {
	if kernelSays(system, "cpu/smt/active") == "1" {
		all = append(all, profile.Warning{Code: "smt", Text: "two threads share a core of this machine: while one is stopped the other runs faster; echo off > /sys/devices/system/cpu/smt/control, or keep the program on one thread of each core with taskset"})
	}
	if nodes := kernelSays(system, "node/online"); strings.ContainsAny(nodes, "-,") {
		all = append(all, profile.Warning{Code: "numa", Text: "this machine has memory nodes " + nodes + ": what threads run where decides how fast they are; keep the program on one with numactl"})
	}
	return all
}

func kernelSays(system fs.FS, path string) string {
	text, err := fs.ReadFile(system, path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// suspendedTime is for how long the machine has been suspended since it was started.
func suspendedTime() time.Duration {
	var boot, running unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &running) != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil {
		return 0
	}
	return time.Duration(boot.Nano() - running.Nano())
}

// renew tells the kernel side that this loop is at work: else the target is at full speed again within a second. What
// was measured while that was so, or while a clock stood still, cannot be used.
func (s *session) renew() {
	i, err := s.ledger.Renew()
	if err != nil {
		s.warn("clock-lost", "checking the sampling clocks: %v", err)
	}
	if i.InExperiment {
		s.interrupted = "whatif stood still"
		s.warn("stalled", "whatif itself did not run for a second or more, as it was stopped or the machine was too busy: after 0.9 s the program ran at full speed, and such experiments are set aside")
	}
	if len(i.Lost) > 0 {
		s.interrupted = "clock lost"
		s.warn("clock-lost", "the sampling clock of CPU %s stopped and was started again: the CPU was off line for a moment, the machine was suspended, or the host did not run the CPU. That experiment is set aside", listed(i.Lost))
	}
	if len(i.Barred) > 0 {
		s.warn("clock-lost", "the sampling clock of CPU %s could not be started again: while that is so, threads there are neither sampled nor stopped, and gains may be wrong. If the CPU is not just going off line, profile anew where whatif may use all CPUs", listed(i.Barred))
	}
}

// exceeded says why an experiment cannot be used that has just ended; "": it can.
func (s *session) exceeded() string {
	why := s.interrupted
	if now := suspendedTime(); now > s.limits.suspended+time.Second {
		s.limits.suspended = now
		s.warn("suspended", "the machine was suspended meanwhile: that experiment is set aside")
		why = "suspended"
	}
	if !s.cfg.System {
		for _, q := range s.limits.usedUp(slices.Collect(maps.Keys(s.limits.quotas))) {
			s.warnOfQuota(q, "")
		}
	}
	if now := kernelSays(machine, "cpu/online"); now != s.limits.cpus {
		s.warn("cpu-hotplug", "the machine's CPUs were %s and are %s: experiments are set aside until they are as they were; if they stay so, profile anew", s.limits.cpus, now)
		why = "CPU hotplug"
	}
	if s.addClocks() {
		why = "CPU without a clock"
	}
	return why
}
