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
	Func   string // demangled
	Symbol string // as in the symbol table
}

// Resolve finds the sites of a func: point. The binaries are those of one
// program in the order in which the dynamic linker searches them, the main
// program first: the first that has the function is the one whose function is
// called. To count in another, the user names it: func:PATH:NAME.
//
// A function that is nowhere is a *symbol.NotFound with the nearest names.
func Resolve[B Binary](spec Spec, binaries []B) ([]Site, error) {
	if spec.Kind != Func {
		return nil, &UnsupportedError{spec.Kind, spec.Text}
	}
	doing := "resolving progress point " + spec.Text
	candidates := binaries
	if spec.Binary != "" {
		candidates = nil
		for _, b := range binaries {
			if symbol.MatchFile(spec.Binary, b.Path()) {
				candidates = append(candidates, b)
			}
		}
		if len(candidates) == 0 {
			return nil, fmt.Errorf("%s: %w", doing, &symbol.NotFound{What: "binary", Name: spec.Binary, Where: "the program", Near: paths(binaries)})
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
				return nil, fmt.Errorf("%s: %w", doing, err)
			}
			return sites, nil
		}
	}
	if len(failures) == 0 {
		failures = append(failures, notFound(spec.Func, candidates))
	}
	return nil, fmt.Errorf("%s: %w", doing, errors.Join(failures...))
}

// sitesOf refuses functions without a size: labels in assembly, where an
// instruction may begin anywhere and be anything.
func sitesOf(path string, funcs []symbol.Func) ([]Site, error) {
	var sites []Site
	for _, f := range funcs {
		if f.Size > 0 {
			sites = append(sites, Site{path, f.FileOffset, f.Name, f.Symbol})
		}
	}
	if len(sites) == 0 {
		return nil, fmt.Errorf("%s in %s is a label without a size, not a function", funcs[0].Symbol, path)
	}
	return sites, nil
}

// notFound says what is known of a function that no binary defines.
func notFound[B Binary](name string, binaries []B) error {
	e := &symbol.NotFound{What: "function", Name: name, Where: strings.Join(paths(binaries), ", ")}
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
