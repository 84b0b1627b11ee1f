package ledger

import (
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"

	"whatif/bpf"
)

// page is the memory that the kernel side shares with this process: the mapped variables of the BPF programs.
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

// sharedSection is the section of the kernel object that has the shared variables.
const sharedSection = ".bss"

// Variables gives where in their section the shared variables are, and takes them out of the spec: else the library
// would copy them, which are 10 MiB of zeros. The larger ones are hidden from the library anyway (LARGE).
func Variables(spec *ebpf.CollectionSpec) (map[string]btf.VarSecinfo, error) {
	m := spec.Maps[sharedSection]
	if m == nil {
		return nil, errors.New("reading the kernel programs: the kernel object has no variables: generate it anew")
	}
	layout, ok := m.Value.(*btf.Datasec)
	if !ok {
		return nil, errors.New("reading the kernel programs: the kernel object does not say where its variables are: " +
			"generate it anew")
	}
	m.Contents = nil // a new map of the kernel has zeros
	for name, v := range spec.Variables {
		if v.SectionName == sharedSection {
			delete(spec.Variables, name)
		}
	}
	at := make(map[string]btf.VarSecinfo, len(layout.Vars))
	for _, v := range layout.Vars {
		at[v.Type.TypeName()] = v
	}
	return at, nil
}

// mapPage maps the variables, of which m is the map.
func mapPage(m *ebpf.Map, at map[string]btf.VarSecinfo) (*page, error) {
	memory, err := unix.Mmap(m.FD(), 0, int(m.ValueSize()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping the page shared with the kernel: %w", err)
	}
	p := &page{memory: memory}
	for name, mapped := range map[string]mappedVariable{
		"control":      into(&p.control),
		"membership":   into(&p.membership),
		"cores":        into(&p.cores),
		"unit_samples": into(&p.unitSamples),
		"unit_waits":   into(&p.unitWaits),
		"bins":         into(&p.bins),
		"visits":       into(&p.visits),
		"spent":        into(&p.spent),
		"calls":        into(&p.calls),
		"span_points":  into(&p.spanPoints),
		"span_bins":    into(&p.spanBins),
		"span_ends":    into(&p.spanEnds),
		"span_samples": into(&p.spanSamples),
		"span_counts":  into(&p.spanCounts),
		"span_unbegun": into(&p.unbegun),
		"point_sets":   into(&p.pointSets),
		"rules":        into(&p.rules),
		"rows":         into(&p.rows),
	} {
		v := at[name]
		if uintptr(v.Size) != mapped.size || int(v.Offset)+int(mapped.size) > len(memory) {
			return nil, errors.Join(fmt.Errorf("mapping the shared variable %s: the kernel object has another layout: "+
				"generate it anew", name), p.unmap())
		}
		mapped.set(unsafe.Pointer(&memory[v.Offset]))
	}
	return p, nil
}

// mappedVariable is a pointer of page that is to point to a variable of the kernel programs.
type mappedVariable struct {
	size uintptr // of the variable
	set  func(at unsafe.Pointer)
}

func into[T any](pointer **T) mappedVariable {
	return mappedVariable{reflect.TypeFor[T]().Size(), func(at unsafe.Pointer) { *pointer = (*T)(at) }}
}

func (p *page) unmap() error {
	if err := unix.Munmap(p.memory); err != nil {
		return fmt.Errorf("unmapping the shared page: %w", err)
	}
	return nil
}

func load(p *uint64) uint64     { return atomic.LoadUint64(p) }
func store(p *uint64, v uint64) { atomic.StoreUint64(p, v) }
