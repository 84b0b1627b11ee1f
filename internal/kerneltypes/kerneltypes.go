// Package kerneltypes reads the types of the running kernel, once for all who load
// programs into it: that takes some 20 ms each time.
//
//	go kerneltypes.Get()           // where they will be needed soon
//	types, err := kerneltypes.Get() // where they are
package kerneltypes

import (
	"fmt"
	"sync"

	"github.com/cilium/ebpf/btf"
)

// Types are what the library that loads programs is to be given.
type Types struct {
	Cache *btf.Cache
	// Kernel is what structures are looked for in. None that whatif reads is a
	// module's, and the types of all modules are read where this is not said.
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

// Get gives the types; the first call reads them.
func Get() (Types, error) { return read() }

// HasTracepoint tells whether the kernel has a tracepoint that programs with types
// can be attached to.
func (t Types) HasTracepoint(name string) bool {
	var tracepoint *btf.Typedef
	return t.Kernel.TypeByName("btf_trace_"+name, &tracepoint) == nil
}

// ListsMappings tells whether programs can go through what a process has mapped, which
// those need that count points in the source. Since Linux 6.7.
func (t Types) ListsMappings() bool {
	var function *btf.Func
	return t.Kernel.TypeByName("bpf_iter_task_vma_new", &function) == nil
}
