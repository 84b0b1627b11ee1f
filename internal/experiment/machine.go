package experiment

import (
	"bytes"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
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

// stealTime is the time that the hypervisor has taken from all cores together since boot; 0 where the kernel does not
// tell.
func stealTime() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	fields := strings.Fields(string(line)) // cpu user nice system idle iowait irq softirq steal …
	if len(fields) < 9 {
		return 0
	}
	ticks, err := strconv.ParseInt(fields[8], 10, 64)
	if err != nil {
		return 0
	}
	const userHZ = 100 // fixed for /proc/stat on every architecture that Linux runs on
	return time.Duration(ticks) * time.Second / userHZ
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
