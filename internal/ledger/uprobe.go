package ledger

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/features"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"whatif/bpf"
	"whatif/internal/hint"
	"whatif/internal/openfile"
)

// Cost says which of the measured costs a visit has.
type Cost uint32

// The costs of the probes that are set on code.
const (
	Emulated      = Cost(bpf.LedgerCostCOST_EMULATED)       // the kernel emulates the instruction under it
	Stepped       = Cost(bpf.LedgerCostCOST_STEPPED)        // or runs it in a single step
	LongNop       = Cost(bpf.LedgerCostCOST_NOP)            // or may do either: a no-op of several bytes
	Return        = Cost(bpf.LedgerCostCOST_RETURN)         // at a function's return; the first instruction emulated
	ReturnStepped = Cost(bpf.LedgerCostCOST_RETURN_STEPPED) // or stepped
)

// atReturn reports whether the visit is counted when the function that begins at the
// probe returns.
func (c Cost) atReturn() bool { return c == Return || c == ReturnStepped }

// Probe is where a point is counted: an offset in a file.
type Probe struct {
	// File is open until the probe is attached, and what it is attached to: its path may lead elsewhere by
	// now, where the offset would be in the middle of an instruction of another program.
	File   *os.File
	Offset uint64
	Cost   Cost
	// Semaphore is the offset in the file of a counter that the kernel keeps above
	// zero, in each process, while the probe is there; 0 for none.
	Semaphore uint64
	Key       Key
	// Source is the number of the counter of which this is the site, + 1; 0: it is
	// none. Then the point is not used: the counter has its points. Entry is, in a
	// function of a table's, where the entry is.
	Source int
	Entry  Key
	// Of is the Moment, where goroutines are followed; AttachProbes sets it to the point.
	Of uint32
}

// Key says in which register, by its DWARF number, a probe finds what tells which
// begin an end belongs to. The zero Key is for what happens in one thread.
type Key uint8

// KeyIn is the key in a register.
func KeyIn(register int) Key { return Key(register + 1) }

// AttachProbes counts a visit of the point whenever a thread of the target comes to
// one of the probes.
func (l *Ledger) AttachProbes(point int, probes []Probe) error {
	// In groups that can share a link.
	rest := slices.Clone(probes)
	for i := range rest {
		rest[i].Of = uint32(point)
	}
	for len(rest) > 0 {
		first := rest[0]
		shares := func(p Probe) bool {
			return p.File == first.File && p.Cost.atReturn() == first.Cost.atReturn() && (p.Source > 0) == (first.Source > 0)
		}
		var group []Probe
		for _, p := range rest {
			if shares(p) {
				group = append(group, p)
			}
		}
		rest = slices.DeleteFunc(rest, shares)
		links, err := l.attachAllowed(visitedBy(group), group)
		l.links.add(links...)
		if err != nil {
			return err
		}
	}
	return nil
}

// AttachSites puts probes on sites of counters that AddCounters was given: a visit
// there is counted at its moment.
func (l *Ledger) AttachSites(probes []Probe) error { return l.AttachProbes(0, probes) }

// visitedBy is the handler of probes that count visits, on sites of counters or not.
func visitedBy(probes []Probe) string {
	if probes[0].Source > 0 {
		return "site"
	}
	return "probe"
}

// refusedProbe says what to do where the kernel puts no breakpoint on an instruction.
func refusedProbe(err error) error {
	const notSupported = unix.Errno(524) // the kernel's own ENOTSUPP
	if !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, notSupported) {
		return err
	}
	return hint.New(err, "the kernel puts no breakpoint on an instruction there, such as one with a lock prefix, as of an atomic counter: "+
		"name a line nearby (FILE:LINE), or a function that calls this one")
}

// attach sets probes in one file, all at the return or none. Links that were made before
// an error are given with it. The handler is two programs of the kernel side (bpf/base/program.h).
//
// A link for all of them needs Linux 6.6, and no more than CAP_BPF and CAP_PERFMON;
// before, each probe is a perf event of its own.
func (l *Ledger) attach(handler string, probes []Probe) ([]link.Link, error) {
	path := probes[0].File.Name()
	defer runtime.KeepAlive(probes[0].File)
	// Also the kernel is given a name, not a descriptor: this one leads to the file that is open.
	x, err := link.OpenExecutable(openfile.Path(int(probes[0].File.Fd())))
	if err != nil {
		return nil, fmt.Errorf("opening %s for a probe: %w", path, err)
	}
	if !l.single {
		k, err := l.attachTogether("on_"+handler, x, probes)
		if err == nil {
			return []link.Link{k}, nil
		}
		// Kernels that know nothing of such links find fault with the arguments.
		if !errors.Is(features.HaveBPFLinkUprobeMulti(), ebpf.ErrNotSupported) {
			return nil, refusedProbe(fmt.Errorf("putting %d probes into %s: %w", len(probes), path, err))
		}
		l.single = true
	}
	set := x.Uprobe
	if probes[0].Cost.atReturn() {
		set = x.Uretprobe
	}
	program, err := l.programs.get("on_single_" + handler)
	if err != nil {
		return nil, err
	}
	var links []link.Link
	for _, p := range probes {
		k, err := set("", program, &link.UprobeOptions{Address: p.Offset, Cookie: cookie(p), RefCtrOffset: p.Semaphore})
		if err != nil {
			return links, refusedProbe(fmt.Errorf("putting a probe at %#x in %s: %w", p.Offset, path, err))
		}
		links = append(links, k)
	}
	return links, nil
}

func (l *Ledger) attachTogether(name string, x *link.Executable, probes []Probe) (link.Link, error) {
	var opt link.UprobeMultiOptions
	for _, p := range probes {
		opt.Addresses = append(opt.Addresses, p.Offset)
		opt.Cookies = append(opt.Cookies, cookie(p))
		opt.RefCtrOffsets = append(opt.RefCtrOffsets, p.Semaphore)
	}
	program, err := l.programs.get(name)
	if err != nil {
		return nil, err
	}
	if probes[0].Cost.atReturn() {
		return x.UretprobeMulti(nil, program, &opt)
	}
	return x.UprobeMulti(nil, program, &opt)
}

// cookie is what the kernel side is told of a probe.
func cookie(p Probe) uint64 {
	if p.Source > 0 {
		return uint64(p.Source)<<48 | uint64(p.Key)<<40 | uint64(p.Cost)<<32 | uint64(p.Entry)
	}
	return uint64(p.Key)<<40 | uint64(p.Cost)<<32 | uint64(p.Of)
}
