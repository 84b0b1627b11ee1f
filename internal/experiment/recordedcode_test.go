package experiment

import (
	"log/slog"
	"testing"
	"time"

	"whatif/internal/code/jit"
	"whatif/internal/code/unwind"
	"whatif/internal/ledger"
)

// told is a kernel side that remembers of which places it was told how callers are found.
type told map[ledger.Place]bool

func (k told) SetRule(p ledger.Place, _ unwind.Rule) error { k[p] = true; return nil }
func (k told) ForgetTable(p ledger.Place) error            { k[p] = true; return nil }
func (told) ForgetPlace(ledger.Place) error                { return nil }
func (told) ForgetAddress(ledger.Place) error              { return nil }

// TestRecordedCode: what was at a place is known at the end of a recording, also if the code is gone by then.
func TestRecordedCode(t *testing.T) {
	kernel := make(told)
	c := newRecordedCode()
	c.made = newGenerated(kernel, &Config{Log: slog.New(slog.DiscardHandler)}, &c.mu)
	c.made.set = c.set
	m := &maker{program: "/usr/bin/made"}
	known, unknown := ledger.Place{Inode: 1, Offset: 2}, ledger.Place{Inode: 1, Offset: 3}
	body := &jit.Body{Function: jit.Function{Name: "f", Full: "f(int)"}}
	for _, a := range []madeAnswer{{body: body}, {}} {
		if err := c.set(m, known, a); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.set(nil, unknown, madeAnswer{}); err != nil {
		t.Fatal(err)
	}
	if origin, program, frames := c.Frames(known); len(frames) != 1 || frames[0].Func != "f(int)" ||
		program != "/usr/bin/made" || !origin.Generated {
		t.Errorf("%+v of %s, %+v", frames, program, origin)
	}
	if _, _, frames := c.Frames(unknown); len(frames) != 0 {
		t.Errorf("%+v", frames)
	}
	if !kernel[known] || !kernel[unknown] {
		t.Errorf("stacks end at %v", kernel)
	}
}

// TestUntold: while a Java VM is about to tell of its code nothing is said of code without a name. Then all of it is.
func TestUntold(t *testing.T) {
	kernel := make(told)
	c := newRecordedCode()
	c.made = newGenerated(kernel, &Config{Log: slog.New(slog.DiscardHandler)}, &c.mu)
	c.made.set = func(_ *maker, p ledger.Place, _ madeAnswer) error { return kernel.ForgetTable(p) }
	for name, end := range map[string]func(j *javaVM){
		"it refuses":        func(j *javaVM) { j.refused = true },
		"methods only":      func(j *javaVM) { j.noAgent = true },
		"the agent is done": func(j *javaVM) { j.agent = &javaAgent{toldAll: true} },
		"it is silent":      func(j *javaVM) { j.first = time.Now().Add(-2 * startsWithin) },
	} {
		j := &javaVM{asksFirst: true}
		m := &maker{java: j, answers: make(map[ledger.Place]madeAnswer)}
		p := ledger.Place{Inode: 1, Offset: 2}
		if !j.isAwaited() {
			t.Errorf("%s: it is not awaited", name)
		}
		c.made.remember(m, p, madeAnswer{untold: true})
		end(j)
		if j.isAwaited() {
			t.Errorf("%s: it is still awaited", name)
		}
		clear(kernel)
		c.made.tellUntold(m)
		if !kernel[p] || m.answers[p].untold {
			t.Errorf("%s: nothing was told", name)
		}
		clear(kernel)
		if c.made.tellUntold(m); len(kernel) > 0 {
			t.Errorf("%s: told twice", name)
		}
	}
}
