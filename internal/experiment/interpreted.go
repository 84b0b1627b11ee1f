package experiment

import (
	"errors"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"whatif/internal/code/jit"
	"whatif/internal/code/jvm/hotspot"
	"whatif/internal/code/symbol"
	"whatif/internal/ledger"
	"whatif/internal/target"
)

// answerBytecode resolves a bytecode that a Java VM interprets. The method is read once more for each bytecode: where
// its class is gone another one may be by now.
func (g *generated) answerBytecode(e ledger.Event) error {
	m := g.makerOf(e)
	if m == nil || m.java == nil {
		return g.set(m, e.Place, madeAnswer{})
	}
	method, err := m.java.interpreted(m.process, e.Address, e.Place.Offset)
	if err != nil {
		return errors.Join(err, g.set(m, e.Place, madeAnswer{}))
	}
	if m.table.AddBytecodes(method) {
		g.correct(m)
	}
	a := madeAnswer{address: e.Place.Offset, body: m.table.Find(e.Place.Offset)}
	g.remember(m, e.Place, a)
	return g.set(m, e.Place, a)
}

var errNoMethods = errors.New("finding the methods of a Java VM: libjvm.so cannot be read")

// interpreted is the method at an address, which has to have a bytecode.
func (j *javaVM) interpreted(process int, method, bytecode uint64) (*jit.Bytecodes, error) {
	if !j.read {
		j.read = true
		var err error
		if j.methods, err = methodsOf(process); err != nil {
			return nil, err
		}
	}
	if j.methods == nil {
		return nil, errNoMethods
	}
	found, err := j.methods.Method(method, bytecode)
	if err != nil {
		return nil, err
	}
	b := &jit.Bytecodes{Class: found.Class, Name: found.Name, Signature: found.Signature, File: found.File,
		Start: found.Start, Size: found.Size}
	if !j.noAgent { // else compiled code has no lines, and a unit must not change when it is compiled
		for _, l := range found.Lines {
			b.Lines = append(b.Lines, jit.BytecodeLine(l))
		}
	}
	return b, nil
}

// methodsOf finds out where a VM describes its methods.
func methodsOf(process int) (*hotspot.Layout, error) {
	all, err := target.Maps(process)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(m target.Mapping) bool { return filepath.Base(m.Path) == "libjvm.so" })
	if i < 0 {
		return nil, errNoMethods
	}
	b, err := symbol.OpenAs(all[i].Path, target.Inside(process, all[i].Path))
	if err != nil {
		return nil, err
	}
	defer b.Close()
	variables, err := b.Variables("gHotSpotVM")
	if err != nil {
		return nil, err
	}
	from, ok := b.AddressOf(all[i].Offset)
	if !ok {
		return nil, errNoMethods
	}
	memory := func(address uint64, into []byte) error {
		n, err := target.ReadMemory(process, address, into)
		if err == nil && n < len(into) {
			err = unix.EFAULT
		}
		return err
	}
	return hotspot.ReadLayout(memory, func(name string) (uint64, bool) {
		address, ok := variables[name]
		return address - from + all[i].Start, ok
	})
}
