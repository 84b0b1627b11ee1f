package experiment

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/target"
)

// limits are what makes a stopped core something else than time withheld: looked at after
// each experiment.
type limits struct {
	cpus      string // that are online
	suspended time.Duration
	quotas    map[target.Quota]int64 // how often each was used up
	changed   bool                   // CPUs came or went
}

// Bounds of how many are looked at: the processes of one target are in few cgroups, a machine's in many.
const (
	mostProcesses = 64
	mostCgroups   = 4096
)

// watchLimits begins, and says what is known at once.
func (s *session) watchLimits() {
	s.limits = limits{cpus: kernelSays("/sys/devices/system/cpu/online"), suspended: suspendedTime(), quotas: make(map[target.Quota]int64)}
	if kernelSays("/sys/devices/system/cpu/smt/active") == "1" {
		s.note("smt", "two threads share a core of this machine: while one is stopped the other runs faster; echo off > /sys/devices/system/cpu/smt/control, or keep the program on one thread of each core with taskset")
	}
	if nodes := kernelSays("/sys/devices/system/node/online"); strings.ContainsAny(nodes, "-,") {
		s.note("numa", "this machine has memory nodes %s: what threads run where decides how fast they are; keep the program on one with numactl", nodes)
	}
	for _, q := range s.quotas() {
		s.limits.quotas[q] = q.Throttled()
	}
}

// quotas are those that the target is under: of cgroups that are there now, and of processes that are in them now.
func (s *session) quotas() (all []target.Quota) {
	if s.cfg.System {
		return target.AllQuotas(mostCgroups)
	}
	members, err := s.ledger.Members()
	if err != nil {
		s.cfg.Log.Debug("looking for CPU quotas", "error", err)
	}
	for _, m := range members[:min(len(members), mostProcesses)] {
		all = append(all, target.QuotasOf(m.PID)...)
	}
	return all
}

// checkCPUs says what it means that whatif may not be on some of the CPUs: what it starts may not either.
func (s *session) checkCPUs(barred []int) {
	if len(barred) > 0 && (s.cfg.System || !s.cfg.Starts()) {
		s.warn("cpuset", "whatif may not be on %d of the CPUs, from number %d on, because of the cpuset that it is in: what runs there is neither sampled nor stopped, and what is found may be wrong. Run it where all CPUs may be used (docker: without --cpuset-cpus; systemd: AllowedCPUs=)", len(barred), barred[0])
	}
}

func kernelSays(path string) string {
	text, err := os.ReadFile(path)
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

// exceeded says why an experiment cannot be used that has just ended; "": it can.
func (s *session) exceeded() string {
	why := ""
	if now := suspendedTime(); now > s.limits.suspended+time.Second {
		s.limits.suspended = now
		s.warn("suspended", "the machine was suspended meanwhile: that experiment is set aside")
		why = "suspended"
	}
	for q, before := range s.limits.quotas {
		if now := q.Throttled(); now > before {
			s.limits.quotas[q] = now
			s.warn("cpu-quota", "the CPU quota of %s (%.2g CPUs) is used up now and then, and the kernel stops all that is in it: a core that whatif stops uses it up, too, so what is found may be wrong. Take the limit away while you profile (docker: without --cpus; systemd: CPUQuota=)", q.Dir, q.CPUs)
		}
	}
	if now := kernelSays("/sys/devices/system/cpu/online"); now != s.limits.cpus && !s.limits.changed {
		s.limits.changed = true
		s.warn("cpu-hotplug", "the machine's CPUs were %s and are %s: experiments from then on are set aside; profile anew", s.limits.cpus, now)
	}
	if s.limits.changed {
		why = "CPU hotplug"
	}
	return why
}
