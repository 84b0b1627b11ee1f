package jvm

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"whatif/internal/code/jvm/classfile"
	"whatif/internal/target"
)

// Where the moment of each visit matters, the call in a class is one of a native method, at which the kernel side has a
// probe: see agent/points.h.

// TimedArgument is the number, from 1, of the argument that has the key there.
const TimedArgument = 3

// timedStride is the distance of two such places: TIMED_STRIDE in agent/points.h.
const timedStride = 16

// TimedCall is a call at a place for the counter of that number, which is not counted. The key is in an argument of the
// method; 0: there is none.
func (p *Points) TimedCall(at classfile.Place, counter, argument int) classfile.Call {
	return classfile.Call{Place: at, Class: p.helper, Name: classfile.TimedMethod(p.retired + counter), Long: true,
		Argument: argument}
}

// BindTimed has the VM know the native methods. It comes before the first class with a TimedCall.
func (p *Points) BindTimed() error {
	class := classfile.Binder(fmt.Sprintf("whatif/Bind$%x", p.address))
	if err := p.ask(append([]byte{'B'}, class...), 0, nil); err != nil {
		return fmt.Errorf("preparing to time visits: %w", err)
	}
	return nil
}

// Each has all visits that are counted come by TimedPlace, too, or not any more. BindTimed comes before.
func (p *Points) Each(on bool) error {
	command := []byte{'E', 0}
	if on {
		command[1] = 1
	}
	if err := p.ask(command, 0, nil); err != nil {
		return fmt.Errorf("having each visit seen: %w", err)
	}
	return nil
}

// TimedPlace is where calls for a counter come by: an offset in the agent's file.
func (p *Points) TimedPlace(counter int) (offset uint64, err error) {
	first, err := timed()
	return first + timedStride*uint64(p.retired+counter), err
}

// timed is where the first of these places is in the library.
var timed = sync.OnceValues(func() (uint64, error) {
	f, err := elf.NewFile(bytes.NewReader(library))
	if err != nil {
		return 0, fmt.Errorf("reading the agent's file: %w", err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	for _, s := range symbols {
		for _, p := range f.Progs {
			if s.Name == "whatif_timed" && p.Type == elf.PT_LOAD && s.Value-p.Vaddr < p.Filesz {
				return s.Value - p.Vaddr + p.Off, nil
			}
		}
	}
	return 0, errors.Join(err, errors.New("reading the agent's file: it has no places to be timed"))
})

// OpenLibrary opens the file that the VM has loaded the agent from.
func (p *Points) OpenLibrary() (*os.File, error) {
	f, err := p.openLibrary()
	if err != nil {
		return nil, fmt.Errorf("finding the agent's file in process %d: %w", p.process, err)
	}
	return f, nil
}

func (p *Points) openLibrary() (*os.File, error) {
	maps, err := target.Maps(p.process)
	if err != nil {
		return nil, err
	}
	// The VM may have several agents. The counters are behind the code of theirs.
	var nearest *target.Mapping
	for i, m := range maps {
		if strings.HasPrefix(filepath.Base(m.Path), strings.TrimSuffix(agentFile, ".so")) && m.Start < p.address {
			nearest = &maps[i]
		}
	}
	if nearest == nil {
		return nil, os.ErrNotExist
	}
	f, err := target.OpenMapped(p.process, *nearest)
	if err != nil {
		return nil, err
	}
	// Where another file has the middle of an instruction a probe would end the program.
	text, err := io.ReadAll(io.LimitReader(f, int64(len(library))+1))
	if err != nil || !bytes.Equal(text, library) {
		f.Close()
		return nil, errors.Join(err, errors.New("it is not the one that whatif has"))
	}
	return f, nil
}
