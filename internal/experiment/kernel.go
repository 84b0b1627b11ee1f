package experiment

import (
	"errors"
	"slices"

	"whatif/internal/code/symbol"
	"whatif/internal/code/symbol/kernel"
	"whatif/internal/experiment/probes"
	"whatif/internal/hint"
	"whatif/internal/ledger"
	"whatif/internal/point"
)

// openKernel reads the running kernel's symbols, where its code may be sped up, and gives what the kernel side has to
// know of them.
func (r *run) openKernel() (*ledger.KernelCode, error) {
	if !r.cfg.Kernel {
		return nil, nil
	}
	k := kernel.New(r.cfg.Vmlinux)
	r.kernel = k
	if err := k.Load(); err != nil {
		return nil, err
	}
	code := &ledger.KernelCode{}
	for _, of := range []struct {
		text       *ledger.Text
		begin, end string
	}{
		{&code.Entry, "__entry_text_start", "__entry_text_end"},
		{&code.Sleep, "__sched_text_start", "__sched_text_end"},
	} {
		var err error
		if of.text.Begin, of.text.End, err = k.Between(of.begin, of.end); err != nil {
			return nil, hint.New(err, "without --kernel, its time counts for the code that calls it")
		}
	}
	var err error
	code.Functions, err = k.Starts()
	return code, err
}

// answerKernel resolves a place in the kernel.
func (t *unitTable) answerKernel(e ledger.Event) error {
	frames, err := t.kernel.Frames(e.Address)
	if err != nil || len(frames) == 0 {
		return errors.Join(err, t.ledger.SetPlace(e.Place, ledger.Code{}))
	}
	m := module{name: kernel.Name}
	if of := kernel.Module(frames); of != "" {
		m.name = of
		frames = []symbol.Frame{{Func: frames[0].Func, Short: frames[0].Short}}
	}
	m.origin = symbol.Origin{Path: m.name, Kernel: true}
	return t.setPlace(e.Place, ledger.Code{}, m, frames)
}

// inKernel tells whether a target is code of the kernel, and its callers are code of the kernel or of a program.
func inKernel(k *kernel.Kernel, t *point.Target, programs []probes.Program) bool {
	if k == nil || !kernelHas(k, t.File, t.Line, t.Func) {
		return false
	}
	for _, c := range t.Callers {
		if !kernelHas(k, c.File, c.Line, c.Func) && !programHas(programs, c.Func) {
			return false
		}
	}
	return true
}

func kernelHas(k *kernel.Kernel, file string, line int, function string) bool {
	if function == "" {
		return k.CheckLine(file, line) == nil
	}
	found, err := k.HasFunc(function)
	return err == nil && found
}

func programHas(programs []probes.Program, function string) bool {
	return slices.ContainsFunc(programs, func(p probes.Program) bool {
		return slices.ContainsFunc(p, func(b *symbol.Binary) bool { return function != "" && hasEntry(b, function) })
	})
}

// perhapsInKernel adds a remedy to the error for a target that no program has, if the kernel has it.
func perhapsInKernel(err error, t *point.Target, programs []probes.Program) error {
	k := kernel.New("")
	defer k.Close()
	if t.Func == "" || !inKernel(k, t, programs) {
		return err
	}
	return hint.New(err, "the kernel has a function of that name: --kernel")
}
