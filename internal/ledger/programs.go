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

// programs are those of the kernel side. Each is loaded when it is first needed: the kernel takes up to 0.1 s to check
// one, and need not be able to run an unused one.
type programs struct {
	spec    *ebpf.CollectionSpec
	options ebpf.CollectionOptions // with the shared maps
	types   kerneltypes.Types

	mu     sync.Mutex
	loaded map[string]*ebpf.Program
}

// memberPrograms follow which processes belong to the target. They are needed whatever is measured.
var memberPrograms = []string{"on_fork", "on_exec", "on_exit"}

// schedulerPrograms follow which threads run, which wait, and for what.
var schedulerPrograms = []string{
	"on_hrtimer_entry", "on_hrtimer_exit",
	"on_irq_entry", "on_irq_exit",
	"on_softirq_raise", "on_softirq_entry", "on_softirq_exit", "on_netif_rx",
	"on_switch", "on_waking",
}

// irqWorkPrograms tell in which interrupts a core does work that was put off. arm64 has no such tracepoints: there the
// programs for all interrupts do it.
var irqWorkPrograms = []string{"on_irq_work_exit", "on_irq_work_entry"}

// sourcePrograms are needed to count the points in the program's source, where the kernel has their tracepoints.
// Without the first, a child can lose what other threads of its parent count during the fork. Without the second, what
// a process counts in the last millisecond before it runs another program is lost.
var sourcePrograms = []string{"on_fault", "on_prepare_exec"}

// attachable are the programs of these names whose tracepoint the kernel has.
func (p *programs) attachable(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !p.types.HasTracepoint(p.spec.Programs[name].AttachTo)
	})
}

// setVariable sets a variable of the kernel programs, before they are loaded.
func setVariable(spec *ebpf.CollectionSpec, name string, value any) error {
	if err := spec.Variables[name].Set(value); err != nil {
		return fmt.Errorf("setting %s of the kernel programs: %w", name, err)
	}
	return nil
}

// newPrograms makes the maps that the fields of to name, and puts them there.
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

// share makes the programs that are loaded from now on use these maps.
func (p *programs) share(maps map[string]*ebpf.Map) { p.options.MapReplacements = maps }

// get gives a program. It loads the program if that has not happened yet.
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
	if first := p.loaded[name]; first != nil { // another goroutine has loaded it meanwhile
		return first, program.Close()
	}
	p.loaded[name] = program
	return program, nil
}

// loadAll loads programs beside each other, as the kernel checks each of them on one core.
func (p *programs) loadAll(names []string) error {
	errs := make(chan error, len(names))
	for _, name := range names {
		go func() {
			_, err := p.get(name)
			errs <- err
		}()
	}
	var all []error
	for range names {
		all = append(all, <-errs)
	}
	return errors.Join(all...)
}

// load loads a program for the caller alone, which has to close it.
func (p *programs) load(name string) (*ebpf.Program, error) {
	// A struct with one field for the program makes the library load nothing else.
	only := reflect.New(reflect.StructOf([]reflect.StructField{{
		Name: "Program", Type: reflect.TypeFor[*ebpf.Program](), Tag: reflect.StructTag(fmt.Sprintf("ebpf:%q", name)),
	}}))
	spec := *p.spec
	spec.Programs = map[string]*ebpf.ProgramSpec{name: p.spec.Programs[name]} // the library looks at all of them
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

// missed is how often the kernel did not run a program because the same one was already running on that core.
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

// close frees the loaded programs. No other one may be in the middle of being loaded.
func (p *programs) close() error {
	var errs []error
	for _, program := range p.loaded {
		errs = append(errs, program.Close())
	}
	return errors.Join(errs...)
}
