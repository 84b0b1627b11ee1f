package point

import (
	"errors"
	"fmt"
	"strings"

	"whatif/internal/symbol"
)

// Target is a unit that the user wants to be sped up, and nothing else.
type Target struct {
	Text string // as written
	File string // for a line; else ""
	Line int
	Func string // for a function; else ""

	match symbol.FuncMatcher
}

// ParseTarget reads FILE:LINE or func:NAME.
func ParseTarget(s string) (Target, error) {
	t := Target{Text: strings.TrimSpace(s)}
	name, isFunc := strings.CutPrefix(t.Text, "func:")
	if isFunc {
		t.Func = strings.TrimSpace(name)
		if t.Func == "" {
			return Target{}, fmt.Errorf("parsing target %q: expected func:NAME, NAME a function", s)
		}
		t.match = symbol.MatchFunc(t.Func)
		return t, nil
	}
	var err error
	if t.File, t.Line, err = splitLine(t.Text); err != nil {
		return Target{}, fmt.Errorf("parsing target %q: expected FILE:LINE or func:NAME: %w", s, err)
	}
	return t, nil
}

// Match gives the index of the innermost frame of an inline chain that is the
// target's, -1 if none is. Frames further out count: the user asked for this
// line or function by name, and what was inlined there is its work.
func (t *Target) Match(chain []symbol.Frame) int {
	for i, f := range chain {
		if t.Func != "" && t.match.Frame(f) || t.File != "" && f.Line == t.Line && symbol.MatchFile(t.File, f.File) {
			return i
		}
	}
	return -1
}

// Code is what Check asks of a *symbol.Binary.
type Code interface {
	Binary
	CheckLine(file string, line int) error
}

// Check reports whether a target can be met in some of the binaries: nil, or
// a *symbol.NotFound that says what is near. For a function that is inlined
// everywhere it reads all debug information.
func Check[C Code](t Target, binaries []C) error {
	doing := "looking for target " + t.Text
	if t.Func != "" {
		if err := checkFunc(t.Func, binaries); err != nil {
			return fmt.Errorf("%s: %w", doing, err)
		}
		return nil
	}
	var best error
	for _, b := range binaries {
		err := b.CheckLine(t.File, t.Line)
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
	return fmt.Errorf("%s: %w", doing, best)
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

// closer reports whether a failure says more than another: a binary that has
// the file but not the line, over one that has neither.
func closer(a, b error) bool {
	var x, y *symbol.NotFound
	if !errors.As(a, &x) || !errors.As(b, &y) {
		return false
	}
	hasFile := func(e *symbol.NotFound) bool { return strings.HasPrefix(e.What, "line") }
	return hasFile(x) && !hasFile(y) || hasFile(x) == hasFile(y) && len(x.Near) > len(y.Near)
}
