package ledger

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"

	"whatif/bpf"
)

// page is the memory that the kernel side and this process share: the variables
// of the BPF programs, mapped.
type page struct {
	memory      []byte
	control     *bpf.LedgerControlPage
	membership  *bpf.LedgerMembership
	cores       *[bpf.LedgerLimitMAX_CPUS]bpf.LedgerCore
	unitSamples *[bpf.LedgerLimitMAX_UNITS]uint64
	unitWaits   *[bpf.LedgerLimitMAX_UNITS]bpf.LedgerWaits
	bins        *[2][bpf.LedgerLimitMAX_POINTS][bpf.LedgerLimitMAX_BINS]uint32
	visits      *[bpf.LedgerLimitMAX_POINTS]uint64
	spent       *[bpf.LedgerLimitMAX_POINTS]uint64
	calls       *[2][bpf.LedgerLimitMAX_CALLS]uint32
	spanPoints  *[bpf.LedgerLimitMAX_POINTS]bpf.LedgerSpanPoint
	spanBins    *[2][bpf.LedgerLimitMAX_SPANS][bpf.LedgerLimitSPAN_BINS]uint32
	spanEnds    *[bpf.LedgerLimitMAX_SPANS]bpf.LedgerSpanEnds
	spanSamples *[2][bpf.LedgerLimitMAX_SPANS][bpf.LedgerLimitMAX_BINS]uint32
	pointSets   *[bpf.LedgerLimitMAX_SETS]uint32
	spanCounts  *[2][bpf.LedgerLimitMAX_SPANS]bpf.LedgerSpanCounts
	unbegun     *[bpf.LedgerLimitMAX_SPANS]uint64
	rules       *[bpf.LedgerLimitMAX_RULES]bpf.LedgerRule
	rows        *[bpf.LedgerLimitMAX_ROWS]bpf.LedgerRow
}

const section = ".bss"

// variables takes those that both sides share out of the spec, for the library not to make copies of them, which are 10 MiB of
// zeros, and gives where they are in their section. The larger ones are hidden from it in the first place.
func variables(spec *ebpf.CollectionSpec) (map[string]btf.VarSecinfo, error) {
	m := spec.Maps[section]
	if m == nil {
		return nil, errors.New("reading the kernel programs: the kernel object has no variables: generate it anew")
	}
	layout, ok := m.Value.(*btf.Datasec)
	if !ok {
		return nil, errors.New("reading the kernel programs: the kernel object does not say where its variables are: generate it anew")
	}
	m.Contents = nil // the kernel begins with zeros
	for name, v := range spec.Variables {
		if v.SectionName == section {
			delete(spec.Variables, name)
		}
	}
	at := make(map[string]btf.VarSecinfo, len(layout.Vars))
	for _, v := range layout.Vars {
		at[v.Type.TypeName()] = v
	}
	return at, nil
}

func mapPage(m *ebpf.Map, at map[string]btf.VarSecinfo) (*page, error) {
	memory, err := unix.Mmap(m.FD(), 0, int(m.ValueSize()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping the page shared with the kernel: %w", err)
	}
	p := &page{memory: memory}
	for name, to := range map[string]struct {
		size uintptr
		set  func(unsafe.Pointer)
	}{
		"control":      {unsafe.Sizeof(*p.control), func(at unsafe.Pointer) { p.control = (*bpf.LedgerControlPage)(at) }},
		"membership":   {unsafe.Sizeof(*p.membership), func(at unsafe.Pointer) { p.membership = (*bpf.LedgerMembership)(at) }},
		"cores":        {unsafe.Sizeof(*p.cores), func(at unsafe.Pointer) { p.cores = (*[bpf.LedgerLimitMAX_CPUS]bpf.LedgerCore)(at) }},
		"unit_samples": {unsafe.Sizeof(*p.unitSamples), func(at unsafe.Pointer) { p.unitSamples = (*[bpf.LedgerLimitMAX_UNITS]uint64)(at) }},
		"unit_waits":   {unsafe.Sizeof(*p.unitWaits), func(at unsafe.Pointer) { p.unitWaits = (*[bpf.LedgerLimitMAX_UNITS]bpf.LedgerWaits)(at) }},
		"bins": {unsafe.Sizeof(*p.bins), func(at unsafe.Pointer) {
			p.bins = (*[2][bpf.LedgerLimitMAX_POINTS][bpf.LedgerLimitMAX_BINS]uint32)(at)
		}},
		"spent": {unsafe.Sizeof(*p.spent), func(at unsafe.Pointer) { p.spent = (*[bpf.LedgerLimitMAX_POINTS]uint64)(at) }},
		"calls": {unsafe.Sizeof(*p.calls), func(at unsafe.Pointer) {
			p.calls = (*[2][bpf.LedgerLimitMAX_CALLS]uint32)(at)
		}},
		"span_points": {unsafe.Sizeof(*p.spanPoints), func(at unsafe.Pointer) {
			p.spanPoints = (*[bpf.LedgerLimitMAX_POINTS]bpf.LedgerSpanPoint)(at)
		}},
		"span_ends": {unsafe.Sizeof(*p.spanEnds), func(at unsafe.Pointer) {
			p.spanEnds = (*[bpf.LedgerLimitMAX_SPANS]bpf.LedgerSpanEnds)(at)
		}},
		"span_samples": {unsafe.Sizeof(*p.spanSamples), func(at unsafe.Pointer) {
			p.spanSamples = (*[2][bpf.LedgerLimitMAX_SPANS][bpf.LedgerLimitMAX_BINS]uint32)(at)
		}},
		"point_sets": {unsafe.Sizeof(*p.pointSets), func(at unsafe.Pointer) { p.pointSets = (*[bpf.LedgerLimitMAX_SETS]uint32)(at) }},
		"span_bins": {unsafe.Sizeof(*p.spanBins), func(at unsafe.Pointer) {
			p.spanBins = (*[2][bpf.LedgerLimitMAX_SPANS][bpf.LedgerLimitSPAN_BINS]uint32)(at)
		}},
		"span_counts": {unsafe.Sizeof(*p.spanCounts), func(at unsafe.Pointer) {
			p.spanCounts = (*[2][bpf.LedgerLimitMAX_SPANS]bpf.LedgerSpanCounts)(at)
		}},
		"span_unbegun": {unsafe.Sizeof(*p.unbegun), func(at unsafe.Pointer) { p.unbegun = (*[bpf.LedgerLimitMAX_SPANS]uint64)(at) }},
		"rules":        {unsafe.Sizeof(*p.rules), func(at unsafe.Pointer) { p.rules = (*[bpf.LedgerLimitMAX_RULES]bpf.LedgerRule)(at) }},
		"rows":         {unsafe.Sizeof(*p.rows), func(at unsafe.Pointer) { p.rows = (*[bpf.LedgerLimitMAX_ROWS]bpf.LedgerRow)(at) }},
		"visits":       {unsafe.Sizeof(*p.visits), func(at unsafe.Pointer) { p.visits = (*[bpf.LedgerLimitMAX_POINTS]uint64)(at) }},
	} {
		v := at[name]
		if uintptr(v.Size) != to.size || int(v.Offset)+int(to.size) > len(memory) {
			return nil, errors.Join(fmt.Errorf("mapping the shared variable %s: the kernel object has another layout: generate it anew", name), p.unmap())
		}
		to.set(unsafe.Pointer(&memory[v.Offset]))
	}
	return p, nil
}

func (p *page) unmap() error {
	if err := unix.Munmap(p.memory); err != nil {
		return fmt.Errorf("unmapping the shared page: %w", err)
	}
	return nil
}

func load(p *uint64) uint64     { return atomic.LoadUint64(p) }
func store(p *uint64, v uint64) { atomic.StoreUint64(p, v) }
