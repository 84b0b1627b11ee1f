package ledger

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"whatif/internal/kerneltypes"
	"whatif/internal/privilege"
)

// programs are those of the kernel side, each loaded when it is first needed: the
// kernel takes up to 0.1 s to check one, and need not be able to run what no one uses.
type programs struct {
	spec    *ebpf.CollectionSpec
	options ebpf.CollectionOptions // with the maps, which all share
	types   kerneltypes.Types

	mu     sync.Mutex
	loaded map[string]*ebpf.Program
}

// following are the programs that follow who belongs to the target, whatever is measured.
var following = []string{"on_fork", "on_exec", "on_exit"}

// scheduling are those that follow who runs, who waits, and for what.
var scheduling = []string{
	"on_hrtimer_entry", "on_hrtimer_exit",
	"on_irq_entry", "on_irq_exit",
	"on_softirq_entry", "on_softirq_exit", "on_netif_rx",
	"on_switch", "on_waking",
}

// irqWork are those that tell the interrupts in which a core does work that was put off. On arm64, which has no such
// tracepoints, the ones for all interrupts do.
var irqWork = []string{"on_irq_work_exit", "on_irq_work_entry"}

// attachable are those of the named programs whose tracepoint the kernel has.
func (p *programs) attachable(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !p.types.HasTracepoint(p.spec.Programs[name].AttachTo)
	})
}

// setVariable sets one of the kernel programs, before they are loaded.
func setVariable(spec *ebpf.CollectionSpec, name string, value any) error {
	if err := spec.Variables[name].Set(value); err != nil {
		return fmt.Errorf("setting %s of the kernel programs: %w", name, err)
	}
	return nil
}

// newPrograms makes the maps, into which to puts those that it names.
func newPrograms(spec *ebpf.CollectionSpec, to any) (*programs, error) {
	types, err := kerneltypes.Get()
	if err != nil {
		return nil, err
	}
	for _, program := range spec.Programs {
		program.KernelVersion = privilege.KernelVersion
	}
	p := &programs{
		spec:    spec,
		types:   types,
		options: ebpf.CollectionOptions{Cache: types.Cache, Programs: ebpf.ProgramOptions{KernelTypes: types.Kernel}},
		loaded:  make(map[string]*ebpf.Program),
	}
	if err := spec.LoadAndAssign(to, &p.options); err != nil {
		return nil, fmt.Errorf("making the kernel side's maps: %w", err)
	}
	return p, nil
}

// share makes the programs to come use these maps.
func (p *programs) share(maps map[string]*ebpf.Map) { p.options.MapReplacements = maps }

// get gives a program, which is loaded if it is not yet.
func (p *programs) get(name string) (*ebpf.Program, error) {
	p.mu.Lock()
	program := p.loaded[name]
	p.mu.Unlock()
	if program != nil {
		return program, nil
	}
	program, err := p.load(name)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if first := p.loaded[name]; first != nil { // by another who needed it at the same time
		return first, program.Close()
	}
	p.loaded[name] = program
	return program, nil
}

// load gives a program of the caller's own.
func (p *programs) load(name string) (*ebpf.Program, error) {
	// A struct with the program tells the library to load nothing else.
	only := reflect.New(reflect.StructOf([]reflect.StructField{{
		Name: "Program", Type: reflect.TypeFor[*ebpf.Program](), Tag: reflect.StructTag(fmt.Sprintf("ebpf:%q", name)),
	}}))
	spec := *p.spec
	spec.Programs = map[string]*ebpf.ProgramSpec{name: p.spec.Programs[name]} // the library goes through all that there are
	if err := spec.LoadAndAssign(only.Interface(), &p.options); err != nil {
		return nil, fmt.Errorf("loading %s into the kernel: %w", name, err)
	}
	return only.Elem().Field(0).Interface().(*ebpf.Program), nil
}

// attach loads a program and attaches it to the tracepoint that it is written for.
func (p *programs) attach(name string) (link.Link, error) {
	program, err := p.get(name)
	if err != nil {
		return nil, err
	}
	k, err := link.AttachTracing(link.TracingOptions{Program: program})
	if err != nil {
		return nil, fmt.Errorf("attaching %s: %w", program, err)
	}
	return k, nil
}

// missed is how often the kernel left a program out because it ran on that core already.
func (p *programs) missed() (n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, program := range p.loaded {
		if stats, err := program.Stats(); err == nil {
			n += int64(stats.RecursionMisses)
		}
	}
	return n
}

// close gives them back; who is loading another one has to be through.
func (p *programs) close() error {
	var errs []error
	for _, program := range p.loaded {
		errs = append(errs, program.Close())
	}
	return errors.Join(errs...)
}
