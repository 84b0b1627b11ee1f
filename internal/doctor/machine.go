package doctor

import (
	"fmt"
	"io/fs"
	"math"
	"path"
	"runtime"
	"strconv"
	"strings"

	machineload "whatif/internal/load"
)

// These checks are about the accuracy of the answers. whatif works whatever they find.

// sampleRate checks the limit of perf events. The kernel lowers it if samples take long, and then leaves samples out.
// whatif takes 1000 a second on each CPU.
func sampleRate(root fs.FS) answer {
	const wanted = 1000
	rate := number(root, "proc/sys/kernel/perf_event_max_sample_rate")
	switch {
	case rate == 0:
		return good("unlimited")
	case rate < wanted:
		return bad("sysctl kernel.perf_event_max_sample_rate=100000",
			"the kernel allows %d samples a second, whatif takes %d", rate, wanted)
	}
	return good("up to %d a second", rate)
}

func clockSource(root fs.FS) answer {
	name := strings.TrimSpace(read(root, "sys/devices/system/clocksource/clocksource0/current_clocksource"))
	switch name {
	case "hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit":
		return bad("see why the kernel distrusts the TSC: dmesg | grep -i -e tsc -e clocksource",
			"%s: reading it takes a microsecond or more", name)
	case "":
		return good("unknown")
	}
	return good("%s", name)
}

func cpus(fs.FS) answer {
	n := runtime.NumCPU()
	if n < 2 {
		return bad("allow whatif and the program two CPUs or more", "one: there is nothing that could run in parallel")
	}
	return good("%d", n)
}

func smt(root fs.FS) answer {
	if strings.TrimSpace(read(root, "sys/devices/system/cpu/smt/active")) == "1" {
		return bad("echo off > /sys/devices/system/cpu/smt/control, "+
			"or keep the program on one thread of each core with taskset",
			"two threads share a core: while one is stopped the other runs faster")
	}
	return good("off")
}

// worrySteal is the share of the time that other virtual machines may take. Above it, too many experiments are
// discarded.
const worrySteal = 0.02

func virtualMachine(root fs.FS) answer {
	flags := ""
	for line := range strings.Lines(read(root, "proc/cpuinfo")) {
		if strings.HasPrefix(line, "flags") {
			flags = line
			break
		}
	}
	steal := stealShare(read(root, "proc/stat"))
	if steal > worrySteal {
		return bad("measure on a machine of your own, or when the neighbours are quiet",
			"other machines took %.1f%% of the CPU time since boot", 100*steal)
	}
	if strings.Contains(flags, " hypervisor") {
		return good("yes; other machines took %.1f%% of the CPU time since boot", 100*steal)
	}
	return good("no")
}

// stealShare is the share of the CPU time since boot that other virtual machines took, by /proc/stat. Idle time does
// not count, because other machines cannot take it.
func stealShare(stat string) float64 {
	t, err := machineload.Parse(stat)
	if err != nil || t.Busy+t.Steal == 0 {
		return 0
	}
	return float64(t.Steal) / float64(t.Busy+t.Steal)
}

func quota(root fs.FS) answer {
	limit, where := tightestQuota(root)
	if limit < float64(runtime.NumCPU()) {
		return bad("give the container or service no CPU limit while it is profiled "+
			"(docker: without --cpus; systemd: CPUQuota=)",
			"%s allows %.2g of %d CPUs: the kernel stops all threads when it is used up", where, limit, runtime.NumCPU())
	}
	return good("none")
}

// tightestQuota finds the smallest quota of whatif's own cgroup and those above it, in versions 2 and 1.
func tightestQuota(root fs.FS) (cpus float64, where string) {
	cpus = math.Inf(1)
	consider := func(quota, period float64, name string) {
		if quota > 0 && period > 0 && quota/period < cpus {
			cpus, where = quota/period, "/"+name
		}
	}
	for line := range strings.Lines(read(root, "proc/self/cgroup")) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for dir := parts[2]; ; dir = path.Dir(dir) {
			if parts[1] == "" {
				for _, mount := range []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"} {
					name := path.Join(mount, dir, "cpu.max")
					var quota, period float64
					if n, _ := fmt.Sscanf(read(root, name), "%g %g", &quota, &period); n == 2 {
						consider(quota, period, name)
					}
				}
			} else if hasController(parts[1], "cpu") {
				name := path.Join("sys/fs/cgroup/cpu", dir, "cpu.cfs_quota_us")
				period := number(root, path.Join(path.Dir(name), "cpu.cfs_period_us"))
				consider(float64(number(root, name)), float64(period), name)
			}
			if dir == "/" || dir == "." || dir == "" {
				break
			}
		}
	}
	return cpus, where
}

func hasController(list, name string) bool {
	for c := range strings.SplitSeq(list, ",") {
		if c == name {
			return true
		}
	}
	return false
}

// number reads the number in a file; 0 if there is none.
func number(root fs.FS, name string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(read(root, name)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
