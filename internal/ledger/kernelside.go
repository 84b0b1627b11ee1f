package ledger

import (
	"errors"
	"sync/atomic"

	"github.com/cilium/ebpf"

	"whatif/bpf"
)

// kernelSide is what all parts of a Ledger share: the programs and maps of the kernel side, and the memory that it
// shares with this process.
type kernelSide struct {
	programs *programs
	maps     bpf.LedgerMaps
	shared   *ebpf.Map // has the variables that page maps
	page     *page     // nil: unmapped
	links    links     // of all that stays attached until Detach
	detached atomic.Bool
}

// newKernelSide makes the maps, and maps the shared memory. The programs are loaded later.
func newKernelSide(spec *ebpf.CollectionSpec) (*kernelSide, error) {
	layout, err := Variables(spec)
	if err != nil {
		return nil, err
	}
	var made struct {
		bpf.LedgerMaps
		Variables *ebpf.Map `ebpf:".bss"`
	}
	k := &kernelSide{}
	if k.programs, err = newPrograms(spec, &made); err != nil {
		return nil, err
	}
	k.maps, k.shared = made.LedgerMaps, made.Variables
	k.programs.share(k.sharedMaps())
	if k.page, err = mapPage(k.shared, layout); err != nil {
		k.close()
		return nil, err
	}
	return k, nil
}

// sharedMaps are the maps that all programs have in common, by name. Of the others, which are deferred_samples,
// families and trails, each program has its own.
func (k *kernelSide) sharedMaps() map[string]*ebpf.Map {
	return map[string]*ebpf.Map{
		sharedSection: k.shared,

		"addresses": k.maps.Addresses, "begun_by_key": k.maps.BegunByKey, "chains": k.maps.Chains,
		"chosen": k.maps.Chosen, "counters": k.maps.Counters, "events": k.maps.Events, "files": k.maps.Files,
		"goroutines": k.maps.Goroutines, "kernel_function": k.maps.KernelFunction,
		"kernel_stacks": k.maps.KernelStacks, "members": k.maps.Members, "names": k.maps.Names,
		"outsiders": k.maps.Outsiders, "parked": k.maps.Parked, "pieces": k.maps.Pieces, "places": k.maps.Places,
		"processes": k.maps.Processes, "progress": k.maps.Progress, "sources": k.maps.Sources,
		"tables": k.maps.Tables, "threads": k.maps.Threads, "timers": k.maps.Timers,
	}
}

// attach attaches programs to the tracepoints that they are written for, until Detach.
func (k *kernelSide) attach(names ...string) error {
	if err := k.programs.loadAll(names); err != nil {
		return err
	}
	for _, name := range names {
		attached, err := k.programs.attach(name)
		if err != nil {
			return err
		}
		k.links.add(attached)
	}
	return nil
}

// Missed is how many events did not reach the kernel side, because they came while it dealt with another of the same
// kind on that core. None are expected. The kernel counts them.
func (k *kernelSide) Missed() int64 { return k.programs.missed() }

// close frees all memory. No program may be in the middle of being loaded.
func (k *kernelSide) close() error {
	var errs []error
	if k.page != nil {
		errs = append(errs, k.page.unmap())
		k.page = nil
	}
	return errors.Join(append(errs, k.programs.close(), k.maps.Close(), k.shared.Close())...)
}
