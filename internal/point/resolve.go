package point

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"whatif/internal/code/symbol"
)

// Binary is the part of *symbol.Binary that Resolve needs.
type Binary interface {
	Path() string // to open it
	Name() string // the path that the processes use
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
	Binary string // its Path
	File   string // of a line: the source file
	Offset uint64 // in the file
	// Size is the size of the code from Offset in which the probe may be. Of a function that is
	// all of it, of a line the code that runs exactly as often. 0: the probe must be at Offset.
	Size   uint64
	Func   string // demangled; "" if that does not matter
	Symbol string // as in the symbol table
	// Entry is set if Offset is a function's first instruction. Go runs that again after it has
	// given the function more stack.
	Entry     bool
	Return    bool   // counted when the function that begins there returns
	Semaphore uint64 // offset of the counter that switches the probe on; 0: none
}

// MaxSites bounds the sites of one point. Each is an instruction that the kernel changes in every
// process; a pattern that matches more is a mistake.
const MaxSites = 4096

// errNone is the error of binaries without the point.
var errNone = errors.New("not found")

// Find is Resolve for binaries that need not have the point, such as each library that is loaded
// later. If no binary has it, Find returns no sites and no error, because the search for similar
// names would take long. before leaves out binaries and source files: see Before.
func Find[B Binary](spec Spec, binaries []B, before *Before) ([]Site, error) {
	binaries = worthSearching(spec, binaries, before)
	if before.file != "" {
		spec.File = before.file
	}
	sites, _, err := find(spec, binaries)
	var missing *symbol.NotFound
	if errors.Is(err, errNone) || errors.As(err, &missing) {
		return nil, nil
	}
	return sites, err
}

// worthSearching leaves out the binaries that before leaves out.
func worthSearching[B Binary](spec Spec, binaries []B, before *Before) (rest []B) {
	for _, b := range binaries {
		if !before.leavesOut(spec, b.Name()) {
			rest = append(rest, b)
		}
	}
	return rest
}

// Resolve finds the sites of a point in code: func:, usdt: or FILE:LINE. The binaries are those of
// one program, in the order in which the dynamic linker searches them: the main program first.
// before says where the point was found in other programs.
//
//   - A plain function name means the function in the first binary that has it, because calls go
//     there. With func:PATH:NAME the user names another binary.
//   - A pattern, func:handle_*, means every function that it matches, in the program and its own
//     libraries. The system's libraries count if no other binary has a match.
//   - A line means all code that it was compiled to, in the same binaries as a pattern.
//   - A USDT probe means all its sites in all binaries.
//
// If no binary has the point, the error is a *symbol.NotFound with the nearest names, or with a
// note why. To find those, Resolve reads all debug information.
func Resolve[B Binary](spec Spec, binaries []B, before *Before) ([]Site, error) {
	if spec.severalBinaries() {
		binaries = worthSearching(spec, binaries, before)
	}
	sites, candidates, err := find(spec, binaries)
	if err == nil && before.file != "" {
		err = oneFile(spec, append(slices.Clone(sites), Site{File: before.file}), "what is profiled")
	}
	if !errors.Is(err, errNone) {
		return sites, err
	}
	switch {
	case spec.Kind == USDT:
		err = noProbe(spec, binaries)
	case spec.Binary != "" && len(candidates) == 0:
		err = &symbol.NotFound{What: "binary", Name: spec.Binary, Where: "the program", Near: namesOf(binaries)}
	default:
		err = notFound(spec.Func, candidates)
	}
	return nil, fmt.Errorf("%s: %w", doing(spec), err)
}

func doing(spec Spec) string { return "resolving progress point " + spec.Text }

// find returns the sites, and the binaries that the spec allows.
func find[B Binary](spec Spec, binaries []B) (sites []Site, candidates []B, err error) {
	for _, b := range binaries {
		if spec.Binary == "" || symbol.MatchFile(spec.Binary, b.Name()) || symbol.MatchFile(spec.Binary, b.Path()) {
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
	}
	if err == nil && len(sites) == 0 {
		err = errNone
	}
	if err == nil && len(sites) > MaxSites {
		err = fmt.Errorf("%d places, at most %d are possible: name them more closely", len(sites), MaxSites)
	}
	if err != nil && !errors.Is(err, errNone) {
		err = fmt.Errorf("%s: %w", doing(spec), err)
	}
	if err != nil {
		sites = nil
	}
	return sites, candidates, err
}

// functions finds the entries of a function, or of all functions that match a pattern.
func functions[B Binary](spec Spec, binaries []B) (sites []Site, err error) {
	pattern := spec.severalBinaries()
	var failures []error
	for _, b := range binaries {
		if pattern && len(sites) > 0 && isSystem(b.Name()) {
			continue // the program's own have a match
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
		// A name with * may match exactly, as operator* does: so the first system library ends the search.
		if !pattern || isSystem(b.Name()) {
			break
		}
	}
	if len(sites) == 0 {
		return nil, errors.Join(failures...)
	}
	return sites, nil
}

// sitesOf makes sites of functions. It refuses functions without a size, which are labels in
// assembly: an instruction may begin anywhere. It also refuses resolvers, which the dynamic linker
// runs once.
func sitesOf[B Binary](b B, funcs []symbol.Func, atReturn bool) ([]Site, error) {
	var sites []Site
	// Symbols with a resolver. Another function of such a name is of an old version.
	chosen := make(map[string]bool)
	for _, f := range funcs {
		if f.Resolver {
			chosen[f.Symbol] = true
		}
	}
	for _, f := range funcs {
		if f.Size == 0 || chosen[f.Symbol] {
			continue
		}
		if atReturn && b.IsGoCode(f.FileOffset) {
			return nil, goReturn(b, f)
		}
		sites = append(sites, Site{
			Binary: b.Path(), Offset: f.FileOffset, Size: f.Size, Func: f.Name, Symbol: f.Symbol, Entry: true, Return: atReturn,
		})
	}
	switch {
	case len(sites) > 0:
		return sites, nil
	case len(chosen) > 0:
		return nil, resolverOnly(b, funcs[0])
	}
	return nil, fmt.Errorf("%s in %s is a label without a size, not a function", funcs[0].Symbol, b.Name())
}

// resolverOnly returns the error for a function with several implementations, of which the library
// chooses one for the processor: its calls cannot be counted. The error names what can.
func resolverOnly[B Binary](b B, f symbol.Func) error {
	instead := "count a function or a line that calls it"
	var found []string
	all, _ := b.Functions("__" + f.Symbol + "_*") // glibc's names; an error leaves the list empty
	for _, one := range all {
		if one.Size > 0 && !one.Resolver && len(found) < nearCount {
			found = append(found, one.Symbol)
		}
	}
	if len(found) > 0 {
		instead = "count the one that this processor runs, func:" + strings.Join(found, ", func:") +
			" or another func:__" + f.Symbol + "_*; or " + instead
	}
	return fmt.Errorf("%s in %s chooses an implementation for the processor, once in each process, "+
		"and calls of it do not pass there: %s", f.Symbol, b.Name(), instead)
}

// goReturn returns the error for the return of a Go function, which cannot be counted. The error
// names what can.
func goReturn[B Binary](b B, f symbol.Func) error {
	instead := "count the lines that it returns on, or one that it passes before"
	if lines := b.ReturnLines(f); len(lines) > 0 {
		instead = "count where it returns, -p " + strings.Join(lines, " -p ")
	}
	return fmt.Errorf("%s is a Go function, and a probe on its return would break it: "+
		"it replaces return addresses, which Go moves with its stacks and looks up; %s", f.Name, instead)
}

// notFound returns the error for a function without an entry in any binary.
func notFound[B Binary](name string, binaries []B) error {
	e := &symbol.NotFound{What: "function", Name: name, Where: where(namesOf(binaries))}
	for _, b := range binaries {
		if e.Note == "" && b.Imports(name) {
			e.Note = "only called there: name the library that defines it, func:PATH:" + name
		} else if ok, _ := b.HasFunc(name); ok {
			e.Note = "it was inlined wherever it is called, so it has no entry: " +
				"count a line of it, FILE:LINE, or compile it with __attribute__((noinline))"
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

// nearCount bounds the names that an error offers.
const nearCount = 3

func namesOf[B Binary](binaries []B) []string {
	var names []string
	for _, b := range binaries {
		names = append(names, b.Name())
	}
	return names
}

// where names the binaries that were searched; if there are many, the first and their number.
func where(names []string) string {
	if len(names) > 3 {
		return fmt.Sprintf("%s and %d libraries", names[0], len(names)-1)
	}
	return strings.Join(names, ", ")
}
