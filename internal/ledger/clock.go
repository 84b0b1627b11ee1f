package ledger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"whatif/bpf"
)

// StartClock starts sampling on these cores: the kernel side's timers, which set
// themselves anew at each tick. A timer is started on the core that it is for. Kernels before 6.7 cannot
// pin it there: then the clock of a core stands still while that is idle. It gives the
// cores that this process may not be on, where nothing is sampled, and nobody stopped.
func (l *Ledger) StartClock(cpus []int) (barred []int, err error) {
	if err := <-l.clock; err != nil {
		return nil, err
	}
	l.renew()
	return l.AddClocks(cpus)
}

// AddClocks starts sampling on cores that have no clock yet, as StartClock does.
func (l *Ledger) AddClocks(cpus []int) (barred []int, err error) {
	barred, err = l.startClocks(cpus)
	if err != nil {
		return nil, err
	}
	for _, cpu := range cpus {
		if !slices.Contains(barred, cpu) {
			l.clocks = append(l.clocks, cpu)
		}
	}
	return barred, nil
}

// unseen is a core's Left until a thread of the target runs there: no moment, as it is long ago.
const unseen = 1

// Await marks these cores, which have no clock: Ran then tells whether threads of the target have run there.
func (l *Ledger) Await(cpus []int) {
	for _, cpu := range cpus {
		if cpu < len(l.page.cores) {
			store(&l.page.cores[cpu].ShownLeft, unseen)
		}
	}
}

// Ran gives those of the cores, which Await has marked, that threads of the target have run on. Where only samples are
// taken, switches are not followed, and it gives none.
func (l *Ledger) Ran(cpus []int) []int {
	var ran []int
	for _, cpu := range cpus {
		if cpu < len(l.page.cores) && load(&l.page.cores[cpu].ShownLeft) != unseen {
			ran = append(ran, cpu)
		}
	}
	return ran
}

// parked tells whether a core's clock stands still because the core is idle, on a kernel that cannot pin it.
func (l *Ledger) parked(cpu int) bool {
	var v bpf.LedgerTimer
	return l.page.control.Unpinned != 0 && l.maps.Timers.Lookup(uint32(cpu), &v) == nil && v.Parked != 0
}

// startClocks starts the clocks of cores, and gives those that this process may not be on.
func (l *Ledger) startClocks(cpus []int) (barred []int, err error) {
	program, err := l.programs.get("start_clock")
	if err != nil {
		return nil, err
	}
	k, err := link.AttachIter(link.IterOptions{Program: program})
	if err != nil {
		return nil, fmt.Errorf("starting the sampling clock: %w", err)
	}
	defer k.Close()
	// This goroutine's thread visits the cores; it is not used again.
	done := make(chan struct{})
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		barred, err = l.startClockOn(cpus, k)
		close(done)
	}()
	<-done
	return barred, err
}

func (l *Ledger) startClockOn(cpus []int, program *link.Iter) (barred []int, err error) {
	for _, cpu := range cpus {
		var set unix.CPUSet
		set.Set(cpu)
		err := unix.SchedSetaffinity(0, &set)
		if err == unix.EINVAL { // it is not in this process's cpuset, or has been taken off line
			barred = append(barred, cpu)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("starting the sampling clock: moving to CPU %d: %w", cpu, err)
		}
		err = startTimer(program)
		if errors.Is(err, unix.EINVAL) && l.page.control.Unpinned == 0 {
			if err := l.unpin(); err != nil {
				return nil, err
			}
			err = startTimer(program)
		}
		if errors.Is(err, unix.ERANGE) {
			err = fmt.Errorf("whatif knows CPUs up to number %d", bpf.LedgerLimitMAX_CPUS-1)
		}
		if err != nil {
			return nil, fmt.Errorf("starting the sampling clock of CPU %d: %w", cpu, err)
		}
	}
	if len(barred) == len(cpus) && len(l.clocks) == 0 {
		return nil, errors.New("starting the sampling clock: this process may be on no CPU of those that are on line")
	}
	return barred, nil
}

// unpin has the clock do without timers that are pinned to their cores.
func (l *Ledger) unpin() error {
	l.page.control.Unpinned = 1
	k, err := l.programs.attach("on_leave_idle")
	if err != nil {
		return err
	}
	l.links.add(k)
	return nil
}

// startTimer starts the timer of the core that it runs on. The kernel makes a
// timer of what memory of that size lies ready on the core, and does not wait for
// more: sometimes there is none.
func startTimer(program *link.Iter) error {
	const attempts = 100
	for i := 1; ; i++ {
		err := startTimerOnce(program)
		if !errors.Is(err, unix.ENOMEM) || i == attempts {
			return err
		}
		leaveMemory()
		time.Sleep(time.Millisecond)
	}
}

func startTimerOnce(program *link.Iter) error {
	run, err := program.Open()
	if err != nil {
		return err
	}
	defer run.Close()
	var status [4]byte
	if _, err := io.ReadFull(run, status[:]); err != nil {
		return err
	}
	if errno := unix.Errno(-int32(binary.NativeEndian.Uint32(status[:]))); errno != 0 {
		return errno
	}
	return nil
}

// leaveMemory makes the kernel take small objects of all sizes, and give them back
// to this core: pipes are of several.
func leaveMemory() {
	var open []int
	for range 32 {
		var p [2]int
		if unix.Pipe2(p[:], unix.O_CLOEXEC) != nil {
			break // it was only an attempt to help
		}
		open = append(open, p[:]...)
	}
	for _, fd := range open {
		unix.Close(fd)
	}
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
