package experiment

import (
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/cpulist"
	"whatif/internal/ledger"
	"whatif/internal/load"
)

// machine is where the kernel describes the machine.
var machine = os.DirFS("/sys/devices/system")

func kernelSays(system fs.FS, path string) string {
	text, err := fs.ReadFile(system, path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// onlineCPUs is the kernel's list of the CPUs that are online; "" if it cannot be read.
func onlineCPUs() string {
	list, err := cpulist.Text(machine, "online")
	if err != nil {
		return ""
	}
	return list
}

// CPUs is how many of the machine's CPUs whatif can sample.
func CPUs() int {
	sampled, _ := sampledCPUs()
	return sampled
}

// sampledCPUs is how many CPUs whatif can sample, and how many are online.
var sampledCPUs = sync.OnceValues(func() (sampled, all int) {
	cpus, err := ledger.ReadCPUs(machine)
	if err != nil {
		return runtime.NumCPU(), runtime.NumCPU()
	}
	return cpus.Reachable(), len(cpus.Online)
})

// stealTime is the time since boot that the hypervisor has taken from the cores that are sampled; 0 if it cannot be
// read. It is taken to be spread evenly over all cores.
func stealTime() time.Duration {
	t, err := load.Read()
	if err != nil {
		return 0
	}
	sampled, all := sampledCPUs()
	return time.Duration(float64(t.Steal) * float64(sampled) / float64(all))
}

// ownTime is the CPU time of this process so far.
func ownTime() time.Duration {
	var ran unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ran); err != nil {
		panic(err) // cannot fail on Linux
	}
	return time.Duration(ran.Nano())
}

// cpuModel is the processor's name as /proc/cpuinfo has it.
func cpuModel() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// kernelRelease is what uname -r prints.
func kernelRelease() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}
