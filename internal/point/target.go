package point

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"whatif/internal/symbol"
)

// Target is a unit that the user wants to be sped up, and nothing else: a line, a
// function, or either as far as it is called from others.
type Target struct {
	Text string // as written, without what does not matter
	File string // for a line; else ""
	Line int
	Func string // for a function; else ""
	Self bool   // of the function its own code only, not what it calls
	Wait string // for a class of waiting, whatever the code; else ""

	// Callers have to be on the stack, further out, in this order: each calls, by
	// however many steps, what comes before it.
	Callers []Caller

	match symbol.FuncMatcher
}

// Caller is code that has to be further out on the stack.
type Caller struct {
	File string // for the line of a call; else ""
	Line int
	Func string // for a function; else ""

	match symbol.FuncMatcher
}

// LongestPath is how much code a target can name: itself and its callers.
const LongestPath = 7

const targetForms = "FILE:LINE, func:NAME, func-self:NAME, wait:CLASS, or CODE<CALLER, both a FILE:LINE or the name of a function"

// WaitClasses are the classes of waiting that can be a target.
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

// withoutModule is a name without what reports show behind those of the kernel's functions: [kernel],
// or a module.
func withoutModule(name string) string {
	if at := strings.LastIndex(name, " ["); at > 0 && strings.HasSuffix(name, "]") && len(name) > at+len(" []") {
		return name[:at]
	}
	return name
}

// Inclusive reports whether what the target's code calls is sped up, too.
func (t *Target) Inclusive() bool { return t.Func != "" && !t.Self }

// NeedsStack reports whether a sample's whole stack has to be looked at to tell
// whether it belongs to the target.
func (t *Target) NeedsStack() bool { return t.Inclusive() || len(t.Callers) > 0 }

// Functions are the names of functions that the target gives, its callers' among them.
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

// Lines are the source lines that the target gives, its callers' among them.
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

// Unfile replaces the names of files, for instance by those that the compiler saw.
func (t *Target) Unfile(recorded func(file string) string) {
	t.File = recorded(t.File)
	for i := range t.Callers {
		t.Callers[i].File = recorded(t.Callers[i].File)
	}
}

// Match gives the index of the innermost frame of an inline chain that is the
// target's, whoever calls it; -1 if none is. Frames further out count: the user asked for this
// line or function by name, and what was inlined there is its work.
func (t *Target) Match(chain []symbol.Frame) int {
	for i := range chain {
		if t.Is(chain[i]) {
			return i
		}
	}
	return -1
}

// Is reports whether a frame is in the target's own code, whoever calls it.
func (t *Target) Is(f symbol.Frame) bool { return isCode(t.File, t.Line, t.Func, &t.match, f) }

// Is reports whether a frame is in the caller's own code.
func (c *Caller) Is(f symbol.Frame) bool { return isCode(c.File, c.Line, c.Func, &c.match, f) }

func isCode(file string, line int, function string, match *symbol.FuncMatcher, f symbol.Frame) bool {
	if function != "" {
		return match.Frame(f)
	}
	return file != "" && f.Line == line && symbol.MatchFile(file, f.File)
}

// Length is how much code the target names: itself and its callers.
func (t *Target) Length() int { return 1 + len(t.Callers) }

// Step follows a stack, from the inside out, past the frames of one more place: met is
// how much of what the target names has been met further in, and the result how much
// has after the place. A frame is met once: a function that is its own caller
// has to be on the stack twice. The target's own code may be met in the frames that
// own tells.
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

// Code is what Check asks of a *symbol.Binary.
type Code interface {
	Binary
	CheckLine(file string, line int) error
}

// Check reports whether a target can be met in some of the binaries: nil, or
// a *symbol.NotFound that says what is near; its callers likewise. For a function that is inlined
// everywhere it reads all debug information.
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
		if best == nil || closer(err, best) {
			best = err
		}
	}
	if best == nil {
		best = errors.New("no binaries to look in")
	}
	return best
}

func checkFunc[C Code](name string, binaries []C) error {
	// Symbol tables first: nearly always that is enough.
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

// closer reports whether a failure says more than another, of a binary before
// it: a binary that has the file but not the line, over one that has neither; one
// that has anything like it, over one that has not. But what is like it in libc, whose debug
// information may be installed, is not what was meant.
func closer(a, b error) bool {
	var x, y *symbol.NotFound
	if !errors.As(a, &x) || !errors.As(b, &y) {
		return false
	}
	hasFile := func(e *symbol.NotFound) bool { return strings.HasPrefix(e.What, "line") }
	return hasFile(x) && !hasFile(y) || hasFile(x) == hasFile(y) && !isSystem(x.Where) && len(x.Near) > 0 && len(y.Near) == 0
}
