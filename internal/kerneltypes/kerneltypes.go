// Package kerneltypes reads the types of the running kernel (BTF), which loading BPF programs
// needs. Reading takes some 20 ms, so it is done once for all callers. Start it early:
//
//	go kerneltypes.Get()            // soon needed
//	types, err := kerneltypes.Get() // needed now
package kerneltypes

import (
	"fmt"
	"sync"

	"github.com/cilium/ebpf/btf"
)

// Types has the kernel's types as package ebpf takes them.
type Types struct {
	Cache *btf.Cache
	// Kernel has the types of the kernel proper, without modules. whatif reads no structure
	// of a module; without Kernel, package ebpf would read the types of all modules.
	Kernel *btf.Spec
}

var read = sync.OnceValues(func() (Types, error) {
	t := Types{Cache: btf.NewCache()}
	var err error
	if t.Kernel, err = t.Cache.Kernel(); err != nil {
		return Types{}, fmt.Errorf("reading the kernel's types: %w", err)
	}
	return t, nil
})

// Get returns the types. The first call reads them; the others wait for it.
func Get() (Types, error) { return read() }

// HasTracepoint reports whether the kernel has a tracepoint to which typed programs (tp_btf) can
// be attached.
func (t Types) HasTracepoint(name string) bool {
	var tracepoint *btf.Typedef
	return t.Kernel.TypeByName("btf_trace_"+name, &tracepoint) == nil
}

// ListsMappings reports whether programs can iterate over a process's mappings. The programs that
// count points in the source need that; Linux has it since 6.7.
func (t Types) ListsMappings() bool {
	var function *btf.Func
	return t.Kernel.TypeByName("bpf_iter_task_vma_new", &function) == nil
}
