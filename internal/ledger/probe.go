package ledger

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/features"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"whatif/bpf"
	"whatif/internal/hint"
	"whatif/internal/openfile"
)

// probes is the part of a Ledger that makes programs of the kernel side run where a point is visited: at code, at
// system calls, at tracepoints and at the ends of processes (hooks.go). It knows what each visit costs (cost.go).
type probes struct {
	*kernelSide

	singly      bool                         // the kernel has no links for several probes
	callsHooked [2]bool                      // at their begin, and at their end
	visitCost   time.Duration                // of counting a visit, see MeasureVisit
	measured    [bpf.LedgerCostCOST_MAX]bool // by MeasureProbes
}

// Cost says which of the measured costs a visit has.
type Cost uint32

// The costs of probes on code.
const (
	Emulated      = Cost(bpf.LedgerCostCOST_EMULATED)       // the kernel emulates the probed instruction
	Stepped       = Cost(bpf.LedgerCostCOST_STEPPED)        // or runs it in a single step
	LongNop       = Cost(bpf.LedgerCostCOST_NOP)            // or may do either: a no-op of several bytes
	Return        = Cost(bpf.LedgerCostCOST_RETURN)         // at a function's return; its first instruction is emulated
	ReturnStepped = Cost(bpf.LedgerCostCOST_RETURN_STEPPED) // or stepped
)

// AtReturn reports whether the visit is counted when the function that begins at the probe returns.
func (c Cost) AtReturn() bool { return c == Return || c == ReturnStepped }

// Probe is a place where a point is counted: an offset in a file.
type Probe struct {
	// File has to be open until the probe is attached. The probe is set in this file, as its path may lead to another
	// program by now, which has the middle of an instruction at the offset.
	File   *os.File
	Offset uint64
	Cost   Cost
	// Semaphore is the offset in the file of a counter. The kernel keeps it above zero in each process while the probe
	// is there. 0: there is none.
	Semaphore uint64
	Key       Key
	// Source is 1 + the number of the counter of which this is the site, as Counters.Source returns it; 0: it is no
	// site. A visit at a site counts for the points of its counter.
	Source int
	// Entry says, in a function that counts for a table's entries, where the entry is.
	Entry Key
	// Of is the Moment, where goroutines are followed. AttachProbes sets it to the point.
	Of uint32
}

// Key says in which register, by its DWARF number, a probe finds the value that tells which begin an end belongs to.
// With the zero Key, begin and end are in one thread.
type Key uint8

// KeyIn is the key in a register.
func KeyIn(register int) Key { return Key(register + 1) }

// AttachProbes counts a visit of the point whenever a thread of the target comes to one of the probes.
func (p *probes) AttachProbes(point int, all []Probe) error {
	// In groups that can share a link.
	rest := slices.Clone(all)
	for i := range rest {
		rest[i].Of = uint32(point)
	}
	for len(rest) > 0 {
		first := rest[0]
		shares := func(probe Probe) bool {
			return probe.File == first.File && probe.Cost.AtReturn() == first.Cost.AtReturn() &&
				(probe.Source > 0) == (first.Source > 0)
		}
		var group []Probe
		for _, probe := range rest {
			if shares(probe) {
				group = append(group, probe)
			}
		}
		rest = slices.DeleteFunc(rest, shares)
		links, err := p.setAllowed(visitHandler(group), group)
		p.links.add(links...)
		if err != nil {
			return err
		}
	}
	return nil
}

// AttachSites sets probes on the sites of counters that AddCounters has added. A visit there is counted at its moment.
func (p *probes) AttachSites(all []Probe) error { return p.AttachProbes(0, all) }

// visitHandler is the handler of probes that count visits. Either all of them are sites of counters or none is.
func visitHandler(all []Probe) string {
	if all[0].Source > 0 {
		return "site"
	}
	return "probe"
}

// refusedProbe adds what to do where the kernel sets no breakpoint on an instruction.
func refusedProbe(err error) error {
	const notSupported = unix.Errno(524) // the kernel's own ENOTSUPP
	if !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, notSupported) {
		return err
	}
	return hint.New(err, "the kernel puts no breakpoint on an instruction there, such as one with a lock prefix, "+
		"as of an atomic counter: name a line nearby (FILE:LINE), or a function that calls this one")
}

// maxProbes bounds the probes that one call sets in a file. Each takes the kernel a moment and some memory. It
// is twice the counters that one file can have.
const maxProbes = 1 << 14

// set sets probes in one file: all of them at returns, or none. If it fails, it returns the links that were made
// before. The handler is two programs of the kernel side (bpf/base/program.h).
//
// One link for all probes needs Linux 6.6, and no more than CAP_BPF and CAP_PERFMON. Before, each probe is a perf event
// of its own.
func (p *probes) set(handler string, all []Probe) ([]link.Link, error) {
	path := all[0].File.Name()
	if len(all) > maxProbes {
		return nil, fmt.Errorf("putting %d probes into %s: more than %d are too many", len(all), path, maxProbes)
	}
	defer runtime.KeepAlive(all[0].File)
	// The kernel wants a path, too. This one leads to the open file.
	x, err := link.OpenExecutable(openfile.Path(int(all[0].File.Fd())))
	if err != nil {
		return nil, fmt.Errorf("opening %s for a probe: %w", path, err)
	}
	if !p.singly {
		k, err := p.setTogether("on_"+handler, x, all)
		if err == nil {
			return []link.Link{k}, nil
		}
		// Kernels that do not know such links return an error about the arguments.
		if !errors.Is(features.HaveBPFLinkUprobeMulti(), ebpf.ErrNotSupported) {
			return nil, refusedProbe(fmt.Errorf("putting %d probes into %s: %w", len(all), path, err))
		}
		p.singly = true
	}
	set := x.Uprobe
	if all[0].Cost.AtReturn() {
		set = x.Uretprobe
	}
	program, err := p.programs.get("on_single_" + handler)
	if err != nil {
		return nil, err
	}
	var links []link.Link
	for _, probe := range all {
		k, err := set("", program, &link.UprobeOptions{
			Address: probe.Offset, Cookie: cookie(probe), RefCtrOffset: probe.Semaphore,
		})
		if err != nil {
			return links, refusedProbe(fmt.Errorf("putting a probe at %#x in %s: %w", probe.Offset, path, err))
		}
		links = append(links, k)
	}
	return links, nil
}

func (p *probes) setTogether(name string, x *link.Executable, all []Probe) (link.Link, error) {
	var opt link.UprobeMultiOptions
	for _, probe := range all {
		opt.Addresses = append(opt.Addresses, probe.Offset)
		opt.Cookies = append(opt.Cookies, cookie(probe))
		opt.RefCtrOffsets = append(opt.RefCtrOffsets, probe.Semaphore)
	}
	program, err := p.programs.get(name)
	if err != nil {
		return nil, err
	}
	if all[0].Cost.AtReturn() {
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
