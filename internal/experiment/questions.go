package experiment

import (
	"errors"
	"fmt"
	"os"

	"whatif/internal/code/symbol"
	"whatif/internal/experiment/probes"
	"whatif/internal/ledger"
	"whatif/internal/target"
)

// serve answers events until the ledger is closed, and hands those to the probes that are about points.
func (t *unitTable) serve(p *probes.Probes) {
	for {
		e, err := t.ledger.NextEvent()
		if errors.Is(err, os.ErrClosed) {
			return
		}
		if err != nil {
			t.log.Warn("reading an event of the kernel side", "error", err)
			return
		}
		if e.Exec {
			p.Execed(e)
			continue
		}
		answer := t.answer
		switch {
		case e.Table:
			answer = t.answerTable
		case e.Mapped:
			answer = p.Mapped
		case e.Named:
			answer = func(ledger.Event) error { return p.Named() }
		}
		if err := answer(e); err != nil {
			address := fmt.Sprintf("%#x", e.Address)
			if e.OfKernel() {
				address = "in the kernel" // not everybody may know where exactly
			}
			t.log.Debug("resolving a place", "table", e.Table, "process", e.Process, "address", address, "error", err)
		}
	}
}

// answer resolves a place. If the process is gone before its binary could be opened, the kernel side asks again.
func (t *unitTable) answer(e ledger.Event) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.OfKernel() {
		return t.answerKernel(e)
	}
	if e.Generated() {
		return t.made.answer(e)
	}
	if e.Bytecode() {
		return t.made.answerBytecode(e)
	}
	b, err := t.binary(e)
	if err != nil {
		return errors.Join(err, t.ledger.ForgetPlace(e.Place))
	}
	if b == nil { // no ELF file: all that can be code in it is what the process has made
		return t.made.answer(e)
	}
	spins, err := b.SpinWaits(e.Place.Offset)
	if err != nil {
		t.log.Debug("looking for a busy-waiting loop",
			"binary", b.Path(), "offset", e.Place.Offset, "error", err)
	}
	if !t.made.named {
		t.made.places[b] = append(t.made.places[b], e.Place)
	}
	if t.isUnitless(b) {
		return t.ledger.SetPlace(e.Place, ledger.Code{Spins: spins})
	}
	frames, err := b.Frames(e.Place.Offset)
	if err != nil {
		return errors.Join(err, t.ledger.SetPlace(e.Place, ledger.Code{Spins: spins}))
	}
	code := ledger.Code{Spins: spins}
	code.Point, code.Line = pointOf(t.lines, frames)
	if len(frames) == 0 { // nothing names it, but it is in a binary
		frames = []symbol.Frame{{}}
	}
	origin := t.originOf(b)
	if part := t.made.runtimes[b].Part(frames); part != "" {
		frames = []symbol.Frame{{Func: part, Short: part}}
		origin.Part = true
	}
	return t.setPlace(e.Place, code, module{origin, b.Name(), b}, frames)
}

// A module is what code is in: a binary, or the kernel, or a module of it.
type module struct {
	origin symbol.Origin
	name   string
	binary *symbol.Binary // nil: it is the kernel's
}

// setPlace tells the kernel side what the code at a place belongs to, besides what code says of it already.
func (t *unitTable) setPlace(p ledger.Place, code ledger.Code, m module, frames []symbol.Frame) (err error) {
	if t.stacks {
		code.Unit, err = t.chainOf(m, frames)
	} else {
		code.Unit = t.unitOf(m, frames)
	}
	return errors.Join(err, t.ledger.SetPlace(p, code))
}

// binary opens the binary that an event is about, once. A file that is mapped but is no ELF file is remembered as nil.
func (t *unitTable) binary(e ledger.Event) (*symbol.Binary, error) {
	id := e.File()
	if b, known := t.binaries[id]; known {
		return b, nil
	}
	if len(t.binaries) >= mostBinaries() {
		t.isFull(fmt.Errorf("%d files with code are open, as many as whatif keeps", len(t.binaries)))
		return nil, nil
	}
	path, err := target.MappedFile(e.Process, e.Address)
	if err != nil {
		return nil, err
	}
	b, err := symbol.OpenAs(path, target.Inside(e.Process, path))
	if errors.Is(err, os.ErrNotExist) {
		return nil, err // the process is gone meanwhile, and the file can only be reached through a process
	}
	if err != nil {
		t.log.Debug("opening a binary", "path", path, "error", err)
		b = nil
	} else if err := probes.SameFile(t.ledger, b.Image(), id); err != nil {
		b.Close()
		return nil, err
	}
	t.binaries[id] = b
	if b != nil {
		t.noteBuild(b)
		if t.made.named {
			t.nameRuntime(b)
		}
		if t.any && target.Runs(e.Process, b.Name()) {
			t.mains[b.Name()] = true
		}
		t.opened(b, id)
	}
	return b, nil
}
