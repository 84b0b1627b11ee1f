package experiment

import (
	"io/fs"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/profile"
)

// limits looks after each experiment whether CPUs came or went, or the machine was suspended: then the stops of that
// experiment are not what they should be.
type limits struct {
	rec       *recorder
	cpus      string        // that were online when profiling began
	suspended time.Duration // for how long the machine was suspended so far
}

// watchLimits begins to watch, and says what is known at once.
func watchLimits(rec *recorder) *limits {
	l := &limits{rec: rec, cpus: onlineCPUs(), suspended: suspendedTime()}
	for _, w := range unevenCores(machine) {
		rec.note(w.Code, "%s", w.Text)
	}
	return l
}

// wasSuspended tells whether the machine was suspended during an experiment that has just ended.
func (l *limits) wasSuspended() reason {
	now := suspendedTime()
	if now <= l.suspended+time.Second {
		return usable
	}
	l.suspended = now
	l.rec.warn("suspended", "the machine was suspended meanwhile: that experiment is discarded")
	return wasSuspended
}

// otherCPUs tells whether other CPUs are online than when profiling began.
func (l *limits) otherCPUs() reason {
	now := onlineCPUs()
	if now == l.cpus {
		return usable
	}
	l.rec.warn("cpu-hotplug", "the machine's CPUs were %s and are %s: experiments are discarded until they are "+
		"as they were; if they stay so, profile again", l.cpus, now)
	return cpuHotplug
}

// unevenCores says why it matters which core a thread is on.
func unevenCores(system fs.FS) (all []profile.Warning) {
	if kernelSays(system, "cpu/smt/active") == "1" {
		all = append(all, profile.Warning{
			Code: "smt", Text: "two threads share a core of this machine: while one is stopped the other runs faster; " +
				"echo off > /sys/devices/system/cpu/smt/control, or keep the program on one thread of each core with taskset",
		})
	}
	if nodes := kernelSays(system, "node/online"); strings.ContainsAny(nodes, "-,") {
		all = append(all, profile.Warning{
			Code: "numa", Text: "this machine has memory nodes " + nodes + ": what threads run where decides how fast " +
				"they are; keep the program on one with numactl",
		})
	}
	return all
}

// suspendedTime is for how long the machine has been suspended since it was started.
func suspendedTime() time.Duration {
	var boot, running unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &running) != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil {
		return 0
	}
	return time.Duration(boot.Nano() - running.Nano())
}
