package experiment

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"whatif/internal/code/symbol"
	"whatif/internal/ledger"
	"whatif/internal/point"
)

func targets(t *testing.T, texts ...string) []point.Target {
	t.Helper()
	var all []point.Target
	for _, text := range texts {
		target, err := point.ParseTarget(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, target)
	}
	return all
}

// Whole stacks are looked at only where they have to be, and only as far as they have to be.
func TestWhatNeedsWholeStacks(t *testing.T) {
	for _, c := range []struct {
		kind    string
		targets []string
		list    bool
		want    string
	}{
		{"line", nil, false, "<nil>"},
		{"file", nil, false, "<nil>"},
		{"func-self", []string{"func-self:f", "parse.c:3"}, false, "<nil>"},
		{"func", nil, false, "&{0 false}"},
		{"func", nil, true, "<nil>"},
		{"func", []string{"parse.c:3"}, false, "&{0 false}"},
		{"line", []string{"func:f"}, false, "&{0 false}"},
		{"line", []string{"f<g"}, false, "&{1 false}"},
		{"line", []string{"parse.c:3<g", "func-self:f", "parse.c:4"}, false, "&{3 true}"},
		{"line", []string{"parse.c:3<g", "f<g"}, false, "&{2 false}"},
		{"line", []string{"f<g", "func:f"}, false, "&{0 false}"},
	} {
		cfg := &Config{Kind: c.kind, Targets: targets(t, c.targets...), List: c.list}
		got := "<nil>"
		if s := wholeStacks(cfg); s != nil {
			got = fmt.Sprint(s)
		}
		if got != c.want {
			t.Errorf("%s %v: %s, want %s", c.kind, c.targets, got, c.want)
		}
	}
}

// What user space says of places makes the kernel side find the same as looking at all of a stack would. Functions a to
// c are in scope, d is not; line 1 is in function a, and so on.
func TestPathsThroughChains(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		text := []string{"a<b", "a<b<a", "d<a", "func-self:a<b", "x.c:1<b", "x.c:4<b", "func-self:d<x.c:1"}[rng.IntN(7)]
		table := &unitTable{targets: targets(t, text), ids: make(map[unitID]uint32)}
		target := &table.targets[0]
		var places [][]symbol.Frame
		for range rng.IntN(5) {
			var frames []symbol.Frame
			for range 1 + rng.IntN(3) {
				k := rng.IntN(4)
				name := string(rune('a' + k))
				frames = append(frames, symbol.Frame{Func: name, Short: name, File: "/x.c", Line: k + 1})
			}
			places = append(places, frames)
		}
		met, blamed, want := 0, false, false
		for i, frames := range places {
			first := symbol.FirstInScope(frames, func(f symbol.Frame) bool { return f.Func != "d" })
			at := -1
			if !target.Inclusive() {
				at = ownCode(target, frames, first)
			}
			if !blamed && at >= 0 || target.Inclusive() {
				want = want || found(target, places[i:], at)
			}
			c := ledger.Chain{}
			table.joinPath(&c, 0, frames, at)
			if met < target.Length() && len(c.Members) > 0 {
				if blamed {
					met = c.Members[0].Later[met]
				} else {
					met = c.Members[0].Steps[met]
				}
			}
			blamed = blamed || first >= 0 || at >= 0
		}
		if got := met == target.Length(); got != want {
			t.Fatalf("%s on %v: %v", text, places, got)
		}
	}
}

// found looks for a target whose own code is in the first place, at a frame or at any (-1).
func found(target *point.Target, places [][]symbol.Frame, at int) bool {
	var all []symbol.Frame
	for _, frames := range places {
		all = append(all, frames...)
	}
	for i := range places[0] {
		if !target.Is(all[i]) || at >= 0 && i != at {
			continue
		}
		if called(target.Callers, all[i+1:]) {
			return true
		}
	}
	return false
}

// called looks for all callers in their order, with anything between them.
func called(callers []point.Caller, by []symbol.Frame) bool {
	if len(callers) == 0 {
		return true
	}
	for i, f := range by {
		if callers[0].Is(f) && called(callers[1:], by[i+1:]) {
			return true
		}
	}
	return false
}
