// Package ledger is the kernel side of whatif seen from Go: it loads and
// attaches the BPF programs, owns the page that both sides share, and runs one
// experiment at a time. What an experiment should be, and what its result means,
// are decided elsewhere.
//
// The normal sequence: Open, Adopt the stopped program, or Join or JoinAll for what runs
// already, MeasureVisit, MeasureProbes and AttachProbes for the
// sites of a progress point, or one of the Count methods for a point that is no place in the
// program, StartClock, then Begin and End in turn, with
// NextEvent in a goroutine of its own answering through SetPlace and SetTable; at
// last Close.
package ledger

import (
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"whatif/bpf"
	"whatif/internal/kerneltypes"
)

// MaxPoints is how many progress points one run can have.
const MaxPoints = int(bpf.LedgerLimitMAX_POINTS)

// MaxUnits is how many units one run can tell apart, 0 excluded.
const MaxUnits = int(bpf.LedgerLimitMAX_UNITS)

// Options are fixed for the life of a Ledger.
type Options struct {
	Period time.Duration // between samples, on each core
	Cap    time.Duration // the longest single stop
	Stacks *Stacks       // nil: a sample belongs to the first unit up its stack
	// UnitWaits are the classes of waiting that count as time of the unit in whose code the
	// thread waits, Waits those that are units themselves. With none, nobody who waits is looked at.
	UnitWaits, Waits []WaitClass
	// SamplesOnly: samples and visits are all that matters. Nothing is sped up, no waits are followed and no requests timed, and
	// so what the scheduler does is not looked at, which costs each switch. Then nobody can pay (NobodyPays has to be set, too), and it
	// is not known what other programs take, as they may work for the target.
	SamplesOnly bool
	// NobodyPays: nothing is compared, so what counting costs is no delay, and nobody is stopped for what it costs others.
	NobodyPays bool
	// Kernel: the kernel's own code has units, too; its places have inode 0. nil: it has none.
	Kernel *KernelCode

	// Stops: cores are stopped, which only one session of the machine may do at a time: Open gives an AnotherSession where one does.
	Stops bool

	uncounted bool // for tests: the kernel is taken for one that does not count how deep preemption is off

	Keys     bool // latencies can have begins and ends with the same key
	Counters bool // count the progress points in the program's source: see SetFile
}

// Ledger is the loaded and attached kernel side.
type Ledger struct {
	opt            Options
	programs       *programs
	maps           bpf.LedgerMaps
	shared         *ebpf.Map // the variables
	page           *page
	links          links
	goroutineLinks links           // those that follow goroutines
	followCost     atomic.Int64    // of each visit of their probes
	holding        map[string]bool // programs attached by hold
	events         *events
	tables         *tables

	claim  *ebpf.Map  // see claimCores; nil: this session stops no cores
	clock  chan error // that its program is loaded; see StartClock
	clocks []int      // the cores that have one

	barred []int // those of them that could not be started again, last time

	detached atomic.Bool

	callsHooked [2]bool // when they begin, when they are over

	chains, members int // added so far
	spans           []span

	single   bool                         // the kernel has no links for several probes
	visit    time.Duration                // what counting one costs, see MeasureVisit
	measured [bpf.LedgerCostCOST_MAX]bool // costs of probes

	sources sources
}

// Open loads the programs and attaches those that follow the target. Nothing is
// a target yet, so nothing is slowed but by the hooks themselves.
func Open(opt Options) (_ *Ledger, err error) {
	l := &Ledger{opt: opt, holding: make(map[string]bool)}
	defer func() {
		if err != nil {
			l.Close()
		}
	}()
	spec, err := bpf.LoadLedger()
	if err != nil {
		return nil, fmt.Errorf("reading the kernel programs: %w", err)
	}
	shared, err := variables(spec)
	if err != nil {
		return nil, err
	}
	if err := lookAtStacks(spec, opt.Stacks); err != nil {
		return nil, err
	}
	if err := setClasses(spec, "waits_counted", opt.UnitWaits); err != nil {
		return nil, err
	}
	if err := setClasses(spec, "waits_followed", slices.Concat(opt.UnitWaits, opt.Waits)); err != nil {
		return nil, err
	}
	if err := sampleKernel(spec, opt.Kernel); err != nil {
		return nil, err
	}
	if err := setVariable(spec, "page_shift", uint32(bits.TrailingZeros(uint(os.Getpagesize())))); err != nil {
		return nil, err
	}
	cpus, err := ebpf.PossibleCPU()
	if err != nil {
		return nil, fmt.Errorf("asking how many CPUs there may be: %w", err)
	}
	if err := setVariable(spec, "possible_cores", min(uint32(cpus), uint32(bpf.LedgerLimitMAX_CPUS))); err != nil {
		return nil, err
	}
	if opt.SamplesOnly {
		if err := setVariable(spec, "samples_only", uint32(1)); err != nil {
			return nil, err
		}
	}
	if opt.NobodyPays {
		if err := setVariable(spec, "nobody_pays", uint32(1)); err != nil {
			return nil, err
		}
	}
	if err := count(spec, opt.Counters); err != nil {
		return nil, err
	}
	types, err := kerneltypes.Get()
	if err != nil {
		return nil, err
	}
	if err := findVariables(spec, types); err != nil {
		return nil, err
	}
	if !opt.Keys {
		spec.Maps["begun_by_key"].MaxEntries = 1
	}
	if !slices.Contains(opt.UnitWaits, WaitSleep) {
		spec.Maps["goroutines"].MaxEntries = 1
	}
	if err := l.makeMaps(spec); err != nil {
		return nil, err
	}
	if opt.Stops {
		if l.claim, err = l.claimCores(); err != nil {
			return nil, err
		}
	}
	if err := l.tellFunctions(opt.Kernel); err != nil {
		return nil, err
	}
	// Most of what the kernel checks is in this one: it does that meanwhile.
	l.clock = make(chan error, 1)
	go func() {
		_, err := l.programs.get("start_clock")
		l.clock <- err
		close(l.clock)
	}()
	if l.page, err = mapPage(l.shared, shared); err != nil {
		return nil, err
	}
	l.tables = newTables(l.page)
	l.page.control.Seed = rand.Uint64()
	l.page.control.Period, l.page.control.AskedPeriod, l.page.control.Parts = uint64(opt.Period), uint64(opt.Period), uint64(sampleParts)
	l.page.control.Cap = uint64(opt.Cap)
	l.renew()
	if !opt.NobodyPays {
		if err := l.seeMode(); err != nil {
			return nil, err
		}
	}
	if l.events, err = openEvents(l.maps.Events, &l.page.control.Patient, opt.SamplesOnly); err != nil {
		return nil, fmt.Errorf("opening the ring of events: %w", err)
	}
	attached := slices.Clone(following)
	if !opt.SamplesOnly {
		attached = append(attached, scheduling...)
		attached = append(attached, l.programs.attachable(irqWork)...)
	}
	if opt.Counters {
		attached = append(attached, l.programs.attachable(counting)...)
	}
	if opt.Kernel != nil {
		attached = append(attached, "on_softirq_raise")
	}
	for _, name := range attached {
		k, err := l.programs.attach(name)
		if err != nil {
			return nil, err
		}
		l.links.add(k)
	}
	return l, nil
}

// Timeouts is how many timeouts have run out so far while threads of the target waited for others.
func (l *Ledger) Timeouts() int64 { return int64(load(&l.page.control.Timeouts)) }

// TimeKept is how often threads that keep time have done something after a sleep so far: see bpf/pay/periodic.h.
func (l *Ledger) TimeKept() int64 { return int64(load(&l.page.control.PeriodicSeen)) }

// HoldTimekeepers makes who keeps time pay when it wakes up, from now on. It costs each system call of the machine some 100 ns.
func (l *Ledger) HoldTimekeepers() error { return l.hold(&l.page.control.DelayPeriodic, "on_sys_exit") }

// HoldSleepers makes who sleeps by the clock pay when it wakes up, from now on. It costs each
// system call of the machine some 100 ns.
func (l *Ledger) HoldSleepers() error { return l.hold(&l.page.control.DelaySleepers, "on_sys_exit") }

// HoldExpired makes who has waited for another until a timeout ran out pay for that, or wait on, from now
// on. It costs each system call of the machine some 200 ns.
func (l *Ledger) HoldExpired() error {
	return l.hold(&l.page.control.DelayTimeouts, "on_sys_exit", "on_futex")
}

// hold attaches what holds threads of one kind, and then says that they are.
func (l *Ledger) hold(kind *uint32, programs ...string) error {
	for _, name := range programs {
		if l.holding[name] {
			continue
		}
		k, err := l.programs.attach(name)
		if err != nil {
			return err
		}
		l.links.add(k)
		l.holding[name] = true
	}
	l.page.control.DelaysReturns = 1
	*kind = 1
	return nil
}

// makeMaps makes what all programs share.
func (l *Ledger) makeMaps(spec *ebpf.CollectionSpec) (err error) {
	var made struct {
		bpf.LedgerMaps
		Variables *ebpf.Map `ebpf:".bss"`
	}
	if l.programs, err = newPrograms(spec, &made); err != nil {
		return err
	}
	l.maps, l.shared = made.LedgerMaps, made.Variables
	l.programs.share(map[string]*ebpf.Map{
		section:     l.shared,
		"addresses": l.maps.Addresses, "chosen": l.maps.Chosen, "begun_by_key": l.maps.BegunByKey, "chains": l.maps.Chains,
		"counters": l.maps.Counters, "events": l.maps.Events, "files": l.maps.Files, "goroutines": l.maps.Goroutines, "kernel_function": l.maps.KernelFunction, "kernel_stacks": l.maps.KernelStacks, "members": l.maps.Members,
		"names": l.maps.Names, "parked": l.maps.Parked, "pieces": l.maps.Pieces, "places": l.maps.Places, "processes": l.maps.Processes,
		"progress": l.maps.Progress, "sources": l.maps.Sources, "tables": l.maps.Tables, "outsiders": l.maps.Outsiders,
		"threads": l.maps.Threads,
		"timers":  l.maps.Timers,
	})
	return nil
}

// Processes is how many processes of the target are alive.
func (l *Ledger) Processes() int { return int(load(&l.page.control.Processes)) }

// Visits are the visits of a point since the start, by any thread of the target.
func (l *Ledger) Visits(point int) int64 {
	return int64(load(&l.page.visits[point])) + l.earlyVisits(point)
}

// Spent is what counting the point's visits took since the start.
func (l *Ledger) Spent(point int) time.Duration { return time.Duration(load(&l.page.spent[point])) }

// Detach detaches everything: the target runs on, unobserved, and there are no
// more events. What was counted can still be read.
func (l *Ledger) Detach() error {
	var errs []error
	l.detached.Store(true)
	if l.page != nil {
		store(&l.page.control.Deadline, 0)
	}
	errs = append(errs, l.links.close(), l.goroutineLinks.close())
	if l.events != nil {
		errs = append(errs, l.events.close()) // a second time does nothing
	}
	return errors.Join(errs...)
}

// Close gives everything back. Nothing may use the ledger any more: who answers
// events must have seen that there are no more, after Detach.
func (l *Ledger) Close() error {
	errs := []error{l.Detach()}
	if l.page != nil {
		errs = append(errs, l.page.unmap())
		l.page = nil
	}
	if l.clock != nil {
		<-l.clock
	}
	if l.programs != nil {
		errs = append(errs, l.programs.close())
	}
	errs = append(errs, l.maps.Close(), l.shared.Close())
	if l.claim != nil { // last: another session may stop cores from now on
		errs = append(errs, l.claim.Close())
	}
	return errors.Join(errs...)
}

// Now is the clock of the kernel side, in nanoseconds.
func Now() uint64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err) // cannot fail on any kernel that BPF runs on
	}
	return uint64(t.Nano())
}
