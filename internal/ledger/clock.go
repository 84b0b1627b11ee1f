package ledger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"whatif/bpf"
)

// clock is the part of a Ledger that samples cores: their timers, the lease without which those become slow (lease.go),
// and how often they tick (ticks.go).
type clock struct {
	*kernelSide
	timers *ebpf.Map

	loaded    chan error // gets the error of loadClock
	cores     []int      // that have a clock
	barred    []int      // cores where the last Renew could not start the clock again
	tickCosts tickCosts
	taken     []int     // cores where real-time threads leave no room to measure ticks
	nextCore  int       // of cores: where that is measured next
	lastTime  time.Time // when it was measured
}

func newClock(k *kernelSide, period time.Duration) *clock {
	c := k.page.control
	c.Seed = rand.Uint64()
	c.Period, c.AskedPeriod, c.Parts = uint64(period), uint64(period), uint64(sampleParts)
	return &clock{kernelSide: k, timers: k.maps.Timers, tickCosts: make(tickCosts)}
}

// Now is the clock of the kernel side, in nanoseconds.
func Now() uint64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err) // cannot fail on any kernel that BPF runs on
	}
	return uint64(t.Nano())
}

// loadClock begins to load the program that starts the timers. Most of what the kernel has to check is in that one, so
// other work is done meanwhile.
func (c *clock) loadClock() {
	c.loaded = make(chan error, 1)
	go func() {
		_, err := c.programs.get("start_clock")
		c.loaded <- err
		close(c.loaded)
	}()
}

// awaitClock waits until loadClock has ended, if it was called.
func (c *clock) awaitClock() {
	if c.loaded != nil {
		<-c.loaded
	}
}

// StartClock starts sampling on these cores. Each gets a timer of the kernel side, which sets itself anew at each tick,
// and which is started on the core itself. Kernels before 6.7 cannot pin it there: then the clock of a core stands
// still while the core is idle. StartClock returns the cores on which this process may not run: nothing is sampled
// there, and no thread is stopped.
func (c *clock) StartClock(cpus []int) (barred []int, err error) {
	if err := <-c.loaded; err != nil {
		return nil, err
	}
	c.renew()
	return c.AddClocks(cpus)
}

// AddClocks starts sampling on cores that have no clock yet, as StartClock does.
func (c *clock) AddClocks(cpus []int) (barred []int, err error) {
	barred, err = c.startTimers(cpus)
	if err != nil {
		return nil, err
	}
	for _, cpu := range cpus {
		if !slices.Contains(barred, cpu) {
			c.cores = append(c.cores, cpu)
		}
	}
	return barred, nil
}

// notSeen is when the last thread of the target has left a core, before any has been there. It is no real time.
const notSeen = 1

// Await marks cores that have no clock. From then on Ran tells whether threads of the target have run there.
func (c *clock) Await(cpus []int) {
	for _, cpu := range cpus {
		if cpu < len(c.page.cores) {
			store(&c.page.cores[cpu].ShownLeft, notSeen)
		}
	}
}

// Ran returns the marked cores on which threads of the target have run since Await. With SamplesOnly it returns none,
// as switches are not followed.
func (c *clock) Ran(cpus []int) []int {
	var ran []int
	for _, cpu := range cpus {
		if cpu < len(c.page.cores) && load(&c.page.cores[cpu].ShownLeft) != notSeen {
			ran = append(ran, cpu)
		}
	}
	return ran
}

// rests tells whether a core's clock stands still because the core is idle, on a kernel that cannot pin timers.
func (c *clock) rests(cpu int) bool {
	var t bpf.LedgerTimer
	return c.page.control.Unpinned != 0 && c.timers.Lookup(uint32(cpu), &t) == nil && t.Parked != 0
}

// startTimers starts the timers of cores, and returns the cores on which this process may not run.
func (c *clock) startTimers(cpus []int) (barred []int, err error) {
	program, err := c.programs.get("start_clock")
	if err != nil {
		return nil, err
	}
	start, err := link.AttachIter(link.IterOptions{Program: program})
	if err != nil {
		return nil, fmt.Errorf("starting the sampling clock: %w", err)
	}
	defer start.Close()
	onOwnThread(func() { barred, err = c.startTimersOn(cpus, start) })
	return barred, err
}

// onOwnThread calls do on a thread that is not used again, as do may move it to another core.
func onOwnThread(do func()) {
	done := make(chan struct{})
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		do()
		close(done)
	}()
	<-done
}

// moveTo moves the calling thread to a core.
func moveTo(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	return unix.SchedSetaffinity(0, &set)
}

func (c *clock) startTimersOn(cpus []int, start *link.Iter) (barred []int, err error) {
	for _, cpu := range cpus {
		err := moveTo(cpu)
		if err == unix.EINVAL { // it is not in this process's cpuset, or has been taken off line
			barred = append(barred, cpu)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("starting the sampling clock: moving to CPU %d: %w", cpu, err)
		}
		err = startTimer(start)
		if errors.Is(err, unix.EINVAL) && c.page.control.Unpinned == 0 {
			if err := c.unpin(); err != nil {
				return nil, err
			}
			err = startTimer(start)
		}
		if errors.Is(err, unix.ERANGE) {
			err = fmt.Errorf("whatif knows CPUs up to number %d", bpf.LedgerLimitMAX_CPUS-1)
		}
		if err != nil {
			return nil, fmt.Errorf("starting the sampling clock of CPU %d: %w", cpu, err)
		}
	}
	if len(barred) == len(cpus) && len(c.cores) == 0 {
		return nil, errors.New("starting the sampling clock: this process may be on no CPU of those that are on line")
	}
	return barred, nil
}

// unpin makes the clock work without timers that are pinned to their cores.
func (c *clock) unpin() error {
	c.page.control.Unpinned = 1
	return c.attach("on_leave_idle")
}

// startTimer starts the timer of the core that it runs on. The kernel takes the memory for a timer from what lies ready
// on that core for its size, and does not wait for more. So sometimes there is none.
func startTimer(start *link.Iter) error {
	const attempts = 100
	for i := 1; ; i++ {
		err := startTimerOnce(start)
		if !errors.Is(err, unix.ENOMEM) || i == attempts {
			return err
		}
		leaveMemory()
		time.Sleep(time.Millisecond)
	}
}

func startTimerOnce(start *link.Iter) error {
	run, err := start.Open()
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

// leaveMemory makes the kernel allocate small objects of all sizes and give them back to this core. A pipe has objects
// of several sizes.
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
