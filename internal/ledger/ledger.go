// Package ledger is the kernel side of whatif as Go sees it. It loads and attaches the BPF programs, maps the memory
// that they share with this process, and runs one experiment at a time. Other packages decide what an experiment is to
// be and what its result means.
//
// The normal sequence of its use:
//
//   - Open loads the programs. Nothing belongs to the target yet.
//   - AddCounters and SetFile say where the program counts the points in its source.
//   - MeasureVisit, MeasureHooks and MeasureProbes find out what counting a visit costs.
//   - SetSpan makes two points the ends of a latency.
//   - AttachProbes and the Count methods count the visits of the other points.
//   - Adopt makes a stopped program the target. Join and JoinAll take in processes that run already.
//   - NextEvent is called in a goroutine of its own. SetPlace, SetTable, SetFile and SetName answer its events.
//   - StartClock starts sampling.
//   - Begin and End enclose one experiment after another. Renew is called every RenewEvery.
//   - Detach ends all that. Close frees the memory, too.
package ledger

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	"whatif/bpf"
)

// MaxPoints is how many progress points one run can have.
const MaxPoints = int(bpf.LedgerLimitMAX_POINTS)

// MaxUnits is how many units one run can tell apart. Number 0 is no unit.
const MaxUnits = int(bpf.LedgerLimitMAX_UNITS)

// Ledger is the loaded and attached kernel side. Each part has the methods, the maps and the state of one subject.
type Ledger struct {
	*kernelSide
	*clock
	*experiments
	*knownCode
	*probes
	*sources
	*visitCounts
	*membership
	*returnDelays
	*goroutines

	claim *ebpf.Map // see claimCores; nil: this session stops no cores
}

func newLedger(k *kernelSide, opt *Options) *Ledger {
	l := &Ledger{
		kernelSide: k, clock: newClock(k, opt.Period), knownCode: newKnownCode(k), probes: &probes{kernelSide: k},
		sources: newSources(k), membership: newMembership(k), returnDelays: newReturnDelays(k),
	}
	l.visitCounts = &visitCounts{kernelSide: k, sources: l.sources}
	l.experiments = &experiments{
		kernelSide: k, clock: l.clock, members: l.membership, visits: l.visitCounts, nested: opt.Stacks != nil,
	}
	l.goroutines = &goroutines{kernelSide: k, probes: l.probes}
	return l
}

// Open loads the programs, and attaches those that are always needed. No process belongs to the target yet, so nothing
// is slowed but by the attached programs themselves.
func Open(opt Options) (_ *Ledger, err error) {
	spec, err := bpf.LoadLedger()
	if err != nil {
		return nil, fmt.Errorf("reading the kernel programs: %w", err)
	}
	settings, err := opt.settings()
	if err != nil {
		return nil, err
	}
	for _, s := range settings {
		if err := setVariable(spec, s.variable, s.value); err != nil {
			return nil, err
		}
	}
	for name, entries := range opt.mapSizes() {
		spec.Maps[name].MaxEntries = entries
	}
	k, err := newKernelSide(spec)
	if err != nil {
		return nil, err
	}
	l := newLedger(k, &opt)
	defer func() {
		if err != nil {
			l.Close()
		}
	}()
	if opt.Stops {
		if l.claim, err = claimCores(k.programs); err != nil {
			return nil, err
		}
	}
	if err := l.setKernelFunctions(opt.Kernel); err != nil {
		return nil, err
	}
	l.loadClock()
	k.page.control.Cap = uint64(opt.Cap)
	l.renew()
	if !opt.NobodyPays {
		if err := k.seeMode(opt.uncounted); err != nil {
			return nil, err
		}
	}
	if err := l.openEvents(opt.SamplesOnly); err != nil {
		return nil, err
	}
	if err := k.attach(opt.attached(k.programs)...); err != nil {
		return nil, err
	}
	return l, nil
}

// Detach detaches all programs: the target runs on, unobserved, and there are no more events. What was counted can
// still be read.
func (l *Ledger) Detach() error {
	l.detached.Store(true)
	if l.page != nil {
		store(&l.page.control.Deadline, 0)
	}
	errs := []error{l.links.close(), l.followLinks.close()}
	if l.events != nil {
		errs = append(errs, l.events.close()) // a second time does nothing
	}
	return errors.Join(errs...)
}

// Close detaches all programs and frees the memory. Nothing may use the ledger any more. A goroutine that answers
// events must have seen, after Detach, that there are no more.
func (l *Ledger) Close() error {
	errs := []error{l.Detach()}
	l.awaitClock()
	errs = append(errs, l.kernelSide.close())
	if l.claim != nil { // last: another session may stop cores from now on
		errs = append(errs, l.claim.Close())
	}
	return errors.Join(errs...)
}
