package ledger

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// StartClock starts sampling on every core. The events are started at multiples
// of the period, so that all cores tick together: at a sample in the selected
// code the state of the other cores is known (see on_tick). It is also the
// cheapest for a program whose threads wait for each other.
func (l *Ledger) StartClock() error {
	cpus, err := onlineCPUs()
	if err != nil {
		return err
	}
	for _, cpu := range cpus {
		attr := unix.PerfEventAttr{
			Type:   unix.PERF_TYPE_SOFTWARE,
			Config: unix.PERF_COUNT_SW_CPU_CLOCK,
			Size:   uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
			Sample: uint64(l.opt.Period),
			Bits:   unix.PerfBitDisabled | unix.PerfBitExcludeIdle,
		}
		fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if errors.Is(err, unix.ENODEV) {
			continue // went offline meanwhile
		}
		if err != nil {
			return fmt.Errorf("opening the sampling clock of CPU %d: %w", cpu, err)
		}
		l.clock = append(l.clock, fd)
		if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_BPF, l.objs.OnTick.FD()); err != nil {
			return fmt.Errorf("attaching to the sampling clock of CPU %d: %w", cpu, err)
		}
	}
	for i, fd := range l.clock {
		p := uint64(l.opt.Period)
		for at := (Now()/p + 1) * p; Now() < at; {
		}
		if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_ENABLE, 0); err != nil {
			return fmt.Errorf("starting the sampling clock of CPU %d: %w", cpus[i], err)
		}
	}
	return nil
}

func onlineCPUs() ([]int, error) {
	const path = "/sys/devices/system/cpu/online"
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("listing the CPUs: %w", err)
	}
	cpus, err := parseCPUs(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("listing the CPUs: reading %s: %w", path, err)
	}
	return cpus, nil
}

// parseCPUs reads the kernel's notation for a set: 0-3,8.
func parseCPUs(s string) ([]int, error) {
	var cpus []int
	for _, part := range strings.Split(s, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		a, err := strconv.Atoi(from)
		if err != nil {
			return nil, err
		}
		b, err := strconv.Atoi(to)
		if err != nil {
			return nil, err
		}
		for ; a <= b; a++ {
			cpus = append(cpus, a)
		}
	}
	return cpus, nil
}
