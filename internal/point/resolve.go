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
	IsGoCode(fileOffset uint64) bool
	ReturnLines(f symbol.Func) []string
	LineEntries(file string, line int) ([]symbol.LineEntry, error)
	USDTProbes() ([]symbol.USDTProbe, error)
}

// Site is one instruction to count.
type Site struct {
	Binary string // path
	Offset uint64 // in the file
	// Size is how far the code goes on that is run whenever the instruction is: of a
	// function all of it, up to its first jump. 0: the probe has to be at Offset.
	Size   uint64
	Func   string // demangled; "" if that does not matter
	Symbol string // as in the symbol table
	// Entry is set where Offset is a function's first instruction: Go runs it again
	// after it has given the function more stack.
	Entry     bool
	Return    bool   // counted when the function that begins there returns
	Semaphore uint64 // offset of the counter that switches the probe on; 0: none
}

// MaxSites is how many places one point may be in. Each is an instruction that the
// kernel changes in every process; a pattern that matches more is a mistake.
const MaxSites = 4096

// errNone is what a binary without the point gives.
var errNone = errors.New("not found")

// Find is Resolve for binaries that need not have the point, such as each
// library that is met: if none has it there are no sites, and no error that
// would cost a search for what else was meant.
func Find[B Binary](spec Spec, binaries []B) ([]Site, error) {
	sites, _, err := find(spec, binaries)
	var missing *symbol.NotFound
	if errors.Is(err, errNone) || errors.As(err, &missing) {
		return nil, nil
	}
	return sites, err
}

// Resolve finds the sites of a point in code: func:, usdt: or FILE:LINE. The binaries are
// those of one program in the order in which the dynamic linker searches them, the main
// program first.
//
// Of a plain function name, the first binary that has it is the one whose function is
// called; to count in another, the user names it: func:PATH:NAME. A pattern, func:handle_*, stands for
// every function that it matches, in the program and in its own libraries; a line for all that it was compiled
// to, there too; a USDT probe for all its sites anywhere.
//
// What is nowhere is a *symbol.NotFound with the nearest names, or
// with a note why; to tell, all debug information is read.
func Resolve[B Binary](spec Spec, binaries []B) ([]Site, error) {
	sites, candidates, err := find(spec, binaries)
	if !errors.Is(err, errNone) {
		return sites, err
	}
	switch {
	case spec.Kind == USDT:
		err = noProbe(spec, binaries)
	case spec.Binary != "" && len(candidates) == 0:
		err = &symbol.NotFound{What: "binary", Name: spec.Binary, Where: "the program", Near: paths(binaries)}
	default:
		err = notFound(spec.Func, candidates)
	}
	return nil, fmt.Errorf("%s: %w", doing(spec), err)
}

func doing(spec Spec) string { return "resolving progress point " + spec.Text }

// find also gives the binaries that the spec allows.
func find[B Binary](spec Spec, binaries []B) (sites []Site, candidates []B, err error) {
	for _, b := range binaries {
		if spec.Binary == "" || symbol.MatchFile(spec.Binary, b.Path()) {
			candidates = append(candidates, b)
		}
	}
	switch spec.Kind {
	case Func:
		sites, err = functions(spec, candidates)
	case Line:
		sites, err = lines(spec, candidates)
	case USDT:
		sites, err = probes(spec, candidates)
	default:
		err = &UnsupportedError{spec.Kind, spec.Text}
	}
	if err == nil && len(sites) == 0 {
		err = errNone
	}
	if err == nil && len(sites) > MaxSites {
		err = fmt.Errorf("%d places, at most %d are possible: name them more closely", len(sites), MaxSites)
	}
	var unsupported *UnsupportedError
	if err != nil && !errors.Is(err, errNone) && !errors.As(err, &unsupported) {
		err = fmt.Errorf("%s: %w", doing(spec), err)
	}
	if err != nil {
		sites = nil
	}
	return sites, candidates, err
}

// functions finds the entries of a function, or of those that match a pattern.
func functions[B Binary](spec Spec, binaries []B) (sites []Site, err error) {
	pattern := strings.Contains(spec.Func, "*")
	var failures []error
	for _, b := range binaries {
		if pattern && len(sites) > 0 && isSystem(b) {
			continue // in the first place the program's own are meant
		}
		funcs, err := b.Functions(spec.Func)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		if len(funcs) == 0 {
			continue
		}
		found, err := sitesOf(b, funcs, spec.Return)
		if err != nil {
			return nil, err
		}
		sites = append(sites, found...)
		// func:operator* is not a pattern only: who has exactly that is found first.
		if !pattern || isSystem(b) {
			break
		}
	}
	if len(sites) == 0 {
		return nil, errors.Join(failures...)
	}
	return sites, nil
}

func isSystem[B Binary](b B) bool { return symbol.Origin{Path: b.Path()}.System() }

// sitesOf refuses functions without a size: labels in assembly, where an
// instruction may begin anywhere and be anything.
func sitesOf[B Binary](b B, funcs []symbol.Func, atReturn bool) ([]Site, error) {
	var sites []Site
	for _, f := range funcs {
		if f.Size == 0 {
			continue
		}
		if atReturn && b.IsGoCode(f.FileOffset) {
			return nil, goReturn(b, f)
		}
		sites = append(sites, Site{Binary: b.Path(), Offset: f.FileOffset, Size: f.Size, Func: f.Name, Symbol: f.Symbol, Entry: true, Return: atReturn})
	}
	if len(sites) == 0 {
		return nil, fmt.Errorf("%s in %s is a label without a size, not a function", funcs[0].Symbol, b.Path())
	}
	return sites, nil
}

// goReturn says why the return of a Go function cannot be counted, and what can.
func goReturn[B Binary](b B, f symbol.Func) error {
	instead := "count the lines that it returns on, or one that it passes before"
	if lines := b.ReturnLines(f); len(lines) > 0 {
		instead = "count where it returns, -p " + strings.Join(lines, " -p ")
	}
	return fmt.Errorf("%s is a Go function, and a probe on its return would break it: it replaces return addresses, which Go moves with its stacks and looks up; %s", f.Name, instead)
}

// notFound says what is known of a function that no binary defines.
func notFound[B Binary](name string, binaries []B) error {
	e := &symbol.NotFound{What: "function", Name: name, Where: where(paths(binaries))}
	for _, b := range binaries {
		if e.Note == "" && b.Imports(name) {
			e.Note = "only called there: name the library that defines it, func:PATH:" + name
		} else if ok, _ := b.HasFunc(name); ok {
			e.Note = "it was inlined wherever it is called, so it has no entry: count a line of it, FILE:LINE, or compile it with __attribute__((noinline))"
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
