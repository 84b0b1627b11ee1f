package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// cpuClock checks that a clock which ticks every millisecond on one CPU can run a program, as whatif's sampling does.
func cpuClock(fs.FS) answer {
	return needs(tryClock(), "", "use a kernel with CONFIG_PERF_EVENTS=y and CONFIG_BPF_EVENTS=y")
}

func tryClock() error {
	counter, err := newCounter()
	if err != nil {
		return err
	}
	defer counter.Close()
	p, err := load(counting(ebpf.PerfEvent, counter))
	if err != nil {
		return err
	}
	defer p.Close()
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return fmt.Errorf("finding a CPU: %w", err)
	}
	cpu := 0
	for !allowed.IsSet(cpu) {
		cpu++
	}
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK,
		Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})), Sample: uint64(time.Millisecond), Bits: unix.PerfBitDisabled,
	}
	fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("opening a clock: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_BPF, p.FD()); err != nil {
		return fmt.Errorf("attaching a program to it: %w", err)
	}
	if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_ENABLE, 0); err != nil {
		return fmt.Errorf("starting it: %w", err)
	}
	return errors.Join(reaches(counter, 2, 200*time.Millisecond), unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_DISABLE, 0))
}
