package point

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"whatif/internal/code/symbol"
)

// Target is the only unit that is to be sped up: a line, a function, or either as far as it is
// called from other code (a path).
type Target struct {
	Text string // as written, without blanks
	File string // for a line; else ""
	Line int
	Func string // for a function; else ""
	Self bool   // only the function's own code, without what it calls
	Wait string // for a class of waiting in any code; else ""

	// Callers must be further out on the stack, in this order. Other code may be in between.
	Callers []Caller

	match symbol.FuncMatcher
}

// UnitKind is the kind of units, as -u of the command line has it, to which code that is meant belongs.
func (t *Target) UnitKind() string {
	switch {
	case t.Self:
		return "func-self"
	case t.Func != "":
		return "func"
	}
	return "line"
}

// PathName is the name of a target with callers as a unit.
func (t *Target) PathName() string {
	return strings.ReplaceAll(strings.TrimPrefix(t.Text, "func:"), "<func:", "<")
}

// Caller is code that must be further out on the stack.
type Caller struct {
	File string // for the line of a call; else ""
	Line int
	Func string // for a function; else ""

	match symbol.FuncMatcher
}

// LongestPath is the most code that a target can name: itself and its callers.
const LongestPath = 7

const targetForms = "FILE:LINE, func:NAME, func-self:NAME, wait:CLASS, or CODE<CALLER, " +
	"both a FILE:LINE or the name of a function"

// WaitClasses are the classes of waiting that wait:CLASS takes.
var WaitClasses = []string{"disk", "net", "sleep", "lock", "child", "cpu", "other"}

// ParseTarget reads FILE:LINE, func:NAME, func-self:NAME, wait:CLASS, or CODE<CALLER<CALLER….
func ParseTarget(s string) (Target, error) {
	parts := splitPath(s)
	t := Target{Text: strings.Join(parts, "<")}
	wrong := func(err error) (Target, error) {
		return Target{}, fmt.Errorf("parsing target %q: expected %s: %w", s, targetForms, err)
	}
	if len(parts) > LongestPath {
		return wrong(fmt.Errorf("there are %d functions, %d are possible", len(parts), LongestPath))
	}
	first := parts[0]
	if class, ok := strings.CutPrefix(first, "wait:"); ok {
		if !slices.Contains(WaitClasses, class) || len(parts) > 1 {
			return wrong(fmt.Errorf("the classes of waiting are %s", strings.Join(WaitClasses, ", ")))
		}
		t.Wait = class
		return t, nil
	}
	name, isFunc := strings.CutPrefix(first, "func:")
	if !isFunc {
		name, isFunc = strings.CutPrefix(first, "func-self:")
		t.Self = isFunc
	}
	if strings.HasPrefix(first, "jvm:") { // a part of a Java VM, to which all belongs that it calls
		isFunc, t.Self = true, true
	}
	if !isFunc && len(parts) > 1 {
		isFunc = !lineNumber.MatchString(first)
	}
	var err error
	if t.File, t.Line, t.Func, err = parseCode(name, isFunc); err != nil {
		return wrong(err)
	}
	t.match = symbol.MatchFunc(t.Func)
	for _, part := range parts[1:] {
		name, isFunc := strings.CutPrefix(part, "func:")
		c := Caller{}
		if c.File, c.Line, c.Func, err = parseCode(name, isFunc || !lineNumber.MatchString(part)); err != nil {
			return wrong(err)
		}
		c.match = symbol.MatchFunc(c.Func)
		t.Callers = append(t.Callers, c)
	}
	return t, nil
}

// parseCode reads a line or the name of a function.
func parseCode(text string, isFunc bool) (file string, line int, function string, err error) {
	if !isFunc {
		file, line, err = splitLine(text)
		return file, line, "", err
	}
	if function = withoutModule(strings.TrimSpace(text)); function == "" {
		err = errors.New("the name of a function is missing")
	}
	return "", 0, function, err
}

// withoutModule removes the [kernel] or [MODULE] that reports show behind the kernel's functions.
func withoutModule(name string) string {
	if at := strings.LastIndex(name, " ["); at > 0 && strings.HasSuffix(name, "]") && len(name) > at+len(" []") {
		return name[:at]
	}
	return name
}

// Inclusive reports whether the code that the target calls is sped up, too.
func (t *Target) Inclusive() bool { return t.Func != "" && !t.Self }

// NeedsStack reports whether only a sample's whole stack tells if it belongs to the target.
func (t *Target) NeedsStack() bool { return t.Inclusive() || len(t.Callers) > 0 }

// Functions returns the function names in the target and its callers.
func (t *Target) Functions() []string {
	var names []string
	if t.Func != "" {
		names = append(names, t.Func)
	}
	for i := range t.Callers {
		if t.Callers[i].Func != "" {
			names = append(names, t.Callers[i].Func)
		}
	}
	return names
}

// Lines returns the source lines in the target and its callers.
func (t *Target) Lines() iter.Seq2[string, int] {
	return func(yield func(file string, line int) bool) {
		if t.Func == "" && t.File != "" && !yield(t.File, t.Line) {
			return
		}
		for i := range t.Callers {
			if c := &t.Callers[i]; c.Func == "" && c.File != "" && !yield(c.File, c.Line) {
				return
			}
		}
	}
}

// MapFiles replaces the file names of the target and its callers, for instance by the paths that
// the compiler recorded.
func (t *Target) MapFiles(mapped func(file string) string) {
	t.File = mapped(t.File)
	for i := range t.Callers {
		t.Callers[i].File = mapped(t.Callers[i].File)
	}
}

// Match returns the index of the innermost frame of an inline chain that is the target's own code,
// -1 if there is none. It does not look at the callers. Any frame counts: code that was inlined
// into the target's line or function is the target's work.
func (t *Target) Match(chain []symbol.Frame) int {
	for i := range chain {
		if t.Is(chain[i]) {
			return i
		}
	}
	return -1
}

// Is reports whether a frame is in the target's own code. It does not look at the callers.
func (t *Target) Is(f symbol.Frame) bool { return isCode(t.File, t.Line, t.Func, &t.match, f) }

// Is reports whether a frame is in the caller's own code.
func (c *Caller) Is(f symbol.Frame) bool { return isCode(c.File, c.Line, c.Func, &c.match, f) }

func isCode(file string, line int, function string, match *symbol.FuncMatcher, f symbol.Frame) bool {
	if function != "" {
		return match.Frame(f)
	}
	return file != "" && f.Line == line && (symbol.MatchFile(file, f.File) || symbol.MatchJava(file, f))
}

// Length returns the number of codes that the target names: itself and its callers.
func (t *Target) Length() int { return 1 + len(t.Callers) }

// Step follows a stack from the inside out, past the frames of one more place. met is how many of
// the target's Length codes were met further in; the result is how many are met after the place. A
// frame counts once: a function that is its own caller must be on the stack twice. The target's
// own code counts only in frames for which own is true.
func (t *Target) Step(met int, frames []symbol.Frame, own func(i int) bool) int {
	for i, f := range frames {
		switch {
		case met >= t.Length():
			return met
		case met == 0:
			if own(i) && t.Is(f) {
				met++
			}
		case t.Callers[met-1].Is(f):
			met++
		}
	}
	return met
}

// Code is the part of *symbol.Binary that Check needs.
type Code interface {
	Binary
	CheckLine(file string, line int) error
}

// Check returns nil if the binaries have the code of a target and its callers, else a
// *symbol.NotFound with the nearest names. To find a function that is inlined everywhere, it reads
// all debug information.
func Check[C Code](t Target, binaries []C) error {
	if t.Wait != "" {
		return nil
	}
	errs := []error{checkCode(t.File, t.Line, t.Func, binaries)}
	for _, c := range t.Callers {
		errs = append(errs, checkCode(c.File, c.Line, c.Func, binaries))
	}
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("looking for target %s: %w", t.Text, err)
		}
	}
	return nil
}

func checkCode[C Code](file string, line int, function string, binaries []C) error {
	if function != "" {
		return checkFunc(function, binaries)
	}
	var best error
	for _, b := range binaries {
		err := b.CheckLine(file, line)
		if err == nil {
			return nil
		}
		if best == nil || moreSpecific(err, best) {
			best = err
		}
	}
	if best == nil {
		best = errors.New("no binaries to look in")
	}
	return best
}

func checkFunc[C Code](name string, binaries []C) error {
	// Symbol tables first: they are nearly always enough.
	for _, b := range binaries {
		if funcs, err := b.Functions(name); err == nil && len(funcs) > 0 {
			return nil
		}
	}
	for _, b := range binaries {
		if ok, err := b.HasFunc(name); err != nil || ok {
			return err
		}
	}
	return notFound(name, binaries)
}

// moreSpecific reports whether error a says more than error b, which is of an earlier binary. A
// binary that has the file without the line says more than one without the file. A binary with
// similar names says more than one without; but the system's libraries do not, although their
// debug information may be installed, because the user hardly means them.
func moreSpecific(a, b error) bool {
	var x, y *symbol.NotFound
	if !errors.As(a, &x) || !errors.As(b, &y) {
		return false
	}
	hasFile := func(e *symbol.NotFound) bool { return strings.HasPrefix(e.What, "line") }
	if hasFile(x) != hasFile(y) {
		return hasFile(x)
	}
	return !isSystem(x.Where) && len(x.Near) > 0 && len(y.Near) == 0
}
