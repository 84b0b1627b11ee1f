package point

import (
	"errors"
	"fmt"
	"strings"

	"whatif/internal/symbol"
)

// Binary is what Resolve asks of a *symbol.Binary.
type Binary interface {
	Path() string
	Functions(match string) ([]symbol.Func, error)
	Nearest(name string, n int) []string
	Imports(symbol string) bool
	HasFunc(name string) (bool, error)
}

// Site is one instruction to count.
type Site struct {
	Binary string // path
	Offset uint64 // in the file
	Size   uint64 // of the function, from there
	Func   string // demangled
	Symbol string // as in the symbol table
}

// errNone is what find gives when no binary has the function.
var errNone = errors.New("not found")

// Find is Resolve for binaries that need not have the function, such as each
// library that is met: if none has it there are no sites, and no error that
// would cost a search for what else was meant.
func Find[B Binary](spec Spec, binaries []B) ([]Site, error) {
	sites, _, err := find(spec, binaries)
	if errors.Is(err, errNone) {
		return nil, nil
	}
	return sites, err
}

// Resolve finds the sites of a func: point. The binaries are those of one
// program in the order in which the dynamic linker searches them, the main
// program first: the first that has the function is the one whose function is
// called. To count in another, the user names it: func:PATH:NAME.
//
// A function that is nowhere is a *symbol.NotFound with the nearest names, or
// with a note why; to tell, all debug information is read.
func Resolve[B Binary](spec Spec, binaries []B) ([]Site, error) {
	sites, candidates, err := find(spec, binaries)
	if !errors.Is(err, errNone) {
		return sites, err
	}
	if spec.Binary != "" && len(candidates) == 0 {
		err = &symbol.NotFound{What: "binary", Name: spec.Binary, Where: "the program", Near: paths(binaries)}
	} else {
		err = notFound(spec.Func, candidates)
	}
	return nil, fmt.Errorf("%s: %w", doing(spec), err)
}

func doing(spec Spec) string { return "resolving progress point " + spec.Text }

// find also gives the binaries that the spec allows.
func find[B Binary](spec Spec, binaries []B) (sites []Site, candidates []B, err error) {
	if spec.Kind != Func {
		return nil, nil, &UnsupportedError{spec.Kind, spec.Text}
	}
	for _, b := range binaries {
		if spec.Binary == "" || symbol.MatchFile(spec.Binary, b.Path()) {
			candidates = append(candidates, b)
		}
	}
	var failures []error
	for _, b := range candidates {
		funcs, err := b.Functions(spec.Func)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		if len(funcs) > 0 {
			sites, err := sitesOf(b.Path(), funcs)
			if err != nil {
				return nil, candidates, fmt.Errorf("%s: %w", doing(spec), err)
			}
			return sites, candidates, nil
		}
	}
	if len(failures) > 0 {
		return nil, candidates, fmt.Errorf("%s: %w", doing(spec), errors.Join(failures...))
	}
	return nil, candidates, errNone
}

// sitesOf refuses functions without a size: labels in assembly, where an
// instruction may begin anywhere and be anything.
func sitesOf(path string, funcs []symbol.Func) ([]Site, error) {
	var sites []Site
	for _, f := range funcs {
		if f.Size > 0 {
			sites = append(sites, Site{path, f.FileOffset, f.Size, f.Name, f.Symbol})
		}
	}
	if len(sites) == 0 {
		return nil, fmt.Errorf("%s in %s is a label without a size, not a function", funcs[0].Symbol, path)
	}
	return sites, nil
}

// notFound says what is known of a function that no binary defines.
func notFound[B Binary](name string, binaries []B) error {
	e := &symbol.NotFound{What: "function", Name: name, Where: where(paths(binaries))}
	for _, b := range binaries {
		if e.Note == "" && b.Imports(name) {
			e.Note = "only called there: name the library that defines it, func:PATH:" + name
		} else if ok, _ := b.HasFunc(name); ok {
			e.Note = "it was inlined wherever it is called, so it has no entry: compile it with __attribute__((noinline))"
			e.Near = nil
			return e
		}
		for _, near := range b.Nearest(name, nearCount) {
			if len(e.Near) < nearCount {
				e.Near = append(e.Near, near)
			}
		}
	}
	return e
}

// nearCount is how many names an error offers.
const nearCount = 3

func paths[B Binary](binaries []B) []string {
	var p []string
	for _, b := range binaries {
		p = append(p, b.Path())
	}
	return p
}

// where names the binaries that were searched, not all of a program's many
// libraries.
func where(paths []string) string {
	if len(paths) > 3 {
		return fmt.Sprintf("%s and %d libraries", paths[0], len(paths)-1)
	}
	return strings.Join(paths, ", ")
}
