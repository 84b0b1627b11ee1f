package probes

import (
	"errors"
	"log/slog"
	"path/filepath"
	"slices"

	"whatif/internal/code/symbol"
	"whatif/internal/ledger"
)

// Program is a program's own binary, which is first, and the libraries that it loads.
type Program []*symbol.Binary

// Close closes all of them.
func (p Program) Close() {
	for _, b := range p {
		b.Close()
	}
}

// Paths are the paths of all of them.
func (p Program) Paths() []string {
	var all []string
	for _, b := range p {
		all = append(all, b.Path())
	}
	return all
}

// HaveSymbols tells whether it can be known that programs do not have something: all have symbols. A program without
// symbols, such as a shell or a launcher, may start another one that has it.
func HaveSymbols(programs []Program) bool {
	return len(programs) > 0 && !slices.ContainsFunc(programs, func(p Program) bool { return !p[0].HasSymbols() })
}

// MayComeLater warns of something that no program has, if they may load it while they run.
func MayComeLater(log *slog.Logger, missing error, programs []Program) bool {
	if !loadCode(programs) {
		return false
	}
	log.Warn(missing.Error() + ": looked for in the libraries that it loads while it runs")
	return true
}

// loadCode tells whether some of the programs load code while they run, as interpreters do, and servers with modules.
// Libraries of the system do not count: those for names and for encryption can load code in any program.
func loadCode(programs []Program) bool {
	return slices.ContainsFunc(programs, func(p Program) bool {
		return slices.ContainsFunc(p, func(b *symbol.Binary) bool {
			return b.Imports("dlopen") && !b.Origin(b == p[0]).System()
		})
	})
}

// IsJavaVM tells whether a program is a Java virtual machine, or starts one in itself.
func IsJavaVM(p Program) bool {
	return slices.ContainsFunc(p, func(b *symbol.Binary) bool {
		name := filepath.Base(b.Name())
		return name == "libjli.so" || name == "libjvm.so"
	})
}

// InAny tries something on each program until it succeeds, and gives the first failure if it never does.
func InAny(programs []Program, try func(Program) error) (failure error) {
	for _, p := range programs {
		err := try(p)
		if err == nil {
			return nil
		}
		if failure == nil {
			failure = err
		}
	}
	return failure
}

// ErrOtherFile is the error for a file that was replaced while it was looked for: the process that asked about it runs
// another program by now, or is gone, and its number is another process's.
var ErrOtherFile = errors.New("the process has another file there by now")

// SameFile refuses a file that is not the one which was asked about.
func SameFile(l *ledger.Ledger, image []byte, id ledger.File) error {
	is, err := l.Identify(image)
	if err == nil && is != id {
		err = ErrOtherFile
	}
	return err
}
