package measure

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/klauspost/cpuid/v2"
	"golang.org/x/sys/unix"

	"whatif/internal/device"
)

// machine describes this machine.
func machine(caches map[string]int64) device.Machine {
	m := device.Machine{Arch: runtime.GOARCH, Caches: caches}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		m.Processor = processor(string(text))
	}
	var u unix.Utsname
	if err := unix.Uname(&u); err == nil {
		m.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	return m
}

// processor finds the name of the processor in /proc/cpuinfo. Arm has numbers there instead of a name.
func processor(cpuinfo string) string {
	found := make(map[string]string)
	for text := range strings.Lines(cpuinfo) {
		if key, value, ok := strings.Cut(text, ":"); ok && found[strings.TrimSpace(key)] == "" {
			found[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	switch {
	case found["model name"] != "":
		return found["model name"]
	case found["CPU part"] != "":
		return "implementer " + found["CPU implementer"] + " part " + found["CPU part"]
	}
	return ""
}

// Caches are the sizes of the first core's caches for data. root is /sys. In some virtual machines the kernel knows
// none. Then the processor is asked, which mostly does not tell the third level.
func Caches(root string) map[string]int64 {
	if sizes := cachesOfKernel(root); len(sizes) > 0 {
		return sizes
	}
	sizes := make(map[string]int64)
	told := cpuid.CPU.Cache
	for level, size := range map[string]int{"l1": told.L1D, "l2": told.L2, "l3": told.L3} {
		if size > 0 {
			sizes[level] = int64(size)
		}
	}
	return sizes
}

func cachesOfKernel(root string) map[string]int64 {
	sizes := make(map[string]int64)
	dirs, _ := filepath.Glob(filepath.Join(root, "devices/system/cpu/cpu0/cache/index*"))
	for _, dir := range dirs {
		read := func(name string) string {
			text, _ := os.ReadFile(filepath.Join(dir, name))
			return strings.TrimSpace(string(text))
		}
		level, kind := read("level"), read("type")
		if kind == "Instruction" || level < "1" || level > "3" || len(level) != 1 {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(read("size"), "K"), 10, 32)
		if err == nil && kib > 0 {
			sizes["l"+level] = kib << 10
		}
	}
	return sizes
}
