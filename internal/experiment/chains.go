package experiment

import (
	"errors"
	"fmt"

	"whatif/internal/code/symbol"
	"whatif/internal/ledger"
	"whatif/internal/point"
	"whatif/internal/profile"
)

// A target's code has to fit into the states that the kernel side has for it.
var _ = [1]struct{}{}[point.LongestPath-ledger.LongestPath]

// wholeStacks says how the kernel side is to look at stacks; nil: only the first unit up the stack matters.
func wholeStacks(cfg *Config) *ledger.Stacks {
	functions := cfg.Kind == "func"
	needed, inclusive := functions, false
	s := &ledger.Stacks{Enough: len(cfg.Targets), BlamedOnly: !functions}
	for i := range cfg.Targets {
		t := &cfg.Targets[i]
		needed = needed || t.NeedsStack()
		// A name may be that of several functions, each a unit.
		inclusive = inclusive || t.Inclusive() && len(t.Callers) == 0
		s.BlamedOnly = s.BlamedOnly && !t.Inclusive()
	}
	if functions || inclusive {
		s.Enough = 0
	}
	if !needed || cfg.List {
		return nil
	}
	return s
}

// chainOf gives the number of a place's chain: what its code means for units that depend on whole stacks. 0: nothing.
func (t *unitTable) chainOf(m module, frames []symbol.Frame) (uint32, error) {
	blamed := t.scope.First(m.origin, frames)
	c := ledger.Chain{Blamed: blamed >= 0}
	if blamed >= 0 {
		t.noteMissing(m)
	}
	for i := range t.targets {
		if t.join(&c, i, m, frames, blamed) {
			c.Blamed = true
		}
	}
	if t.kind == "func" {
		for _, f := range frames {
			if t.scope.WhyOutside(m.origin, f) == "" {
				t.joinFunction(&c, f, m, -1)
			}
		}
	} else if blamed >= 0 {
		if u, ok := t.unitFrom(frames[blamed], t.kind, m.name); ok {
			c.Own = t.number(u, false, "")
		}
	}
	if !c.Blamed && len(c.Members) == 0 {
		return 0, nil
	}
	return t.chainNumber(c)
}

// chainNumber gives a chain its number, the same whenever it is met.
func (t *unitTable) chainNumber(c ledger.Chain) (uint32, error) {
	key := fmt.Sprint(c)
	if n, known := t.chains[key]; known {
		return n, nil
	}
	n, err := t.ledger.AddChain(c)
	if err != nil {
		if errors.Is(err, ledger.ErrChainsFull) {
			t.isFull(err)
		}
		return 0, err
	}
	t.chains[key] = n
	return n, nil
}

// join makes the units of a target members of a place's chain, as far as the place matters to them. It reports whether
// a sample is blamed on the place because of the target: because a line, or a function's own code, was named.
func (t *unitTable) join(c *ledger.Chain, i int, m module, frames []symbol.Frame, blamed int) bool {
	target := &t.targets[i]
	at := -1 // where the target's own code is, if it is the one that is blamed
	if !target.Inclusive() {
		at = ownCode(target, frames, blamed)
	}
	switch {
	case len(target.Callers) > 0:
		t.joinPath(c, i, frames, at)
	case target.Inclusive():
		for _, f := range frames {
			if target.Is(f) {
				t.joinFunction(c, f, m, i)
			}
		}
	case at >= 0:
		if u, ok := t.unitFrom(frames[at], target.UnitKind(), m.name); ok {
			addMember(c, ledger.Member{Unit: t.ofTarget(u, i), Functions: 1, Steps: [ledger.LongestPath]int{1}})
		}
	}
	return at >= 0
}

// ownCode gives the index of the frame that is a target's own code; -1: none is. To a line belongs the code that was
// inlined there, as everywhere; to a function's own code only such code that is not in scope itself.
func ownCode(target *point.Target, frames []symbol.Frame, blamed int) int {
	at := target.Match(frames)
	if target.Self && blamed >= 0 && at > blamed {
		return -1
	}
	return at
}

// joinFunction makes a function, with all that it calls, a member. target is the index of the target that names it; -1:
// none does.
func (t *unitTable) joinFunction(c *ledger.Chain, f symbol.Frame, m module, target int) {
	if u, ok := t.unitFrom(f, "func", m.name); ok {
		var id uint32
		if target >= 0 {
			id = t.ofTarget(u, target)
		} else {
			id = t.number(u, false, "")
		}
		member := ledger.Member{Unit: id, Functions: 1, Steps: [ledger.LongestPath]int{1}}
		member.Later = member.Steps
		addMember(c, member)
	}
}

// joinPath makes a target with callers a member, if the place has any of its code. at is where its first code is, if
// only blamed code counts.
func (t *unitTable) joinPath(c *ledger.Chain, i int, frames []symbol.Frame, at int) {
	target := &t.targets[i]
	m := ledger.Member{Functions: target.Length()}
	matters := false
	for met := range m.Steps {
		m.Steps[met] = target.Step(met, frames, func(k int) bool { return target.Inclusive() || k == at })
		m.Later[met] = target.Step(met, frames, func(int) bool { return target.Inclusive() })
		matters = matters || m.Steps[met] != met || m.Later[met] != met
	}
	if !matters {
		return
	}
	m.Unit = t.ofTarget(profile.Unit{Kind: "path", Name: target.PathName(), Func: target.Func, Self: target.Self}, i)
	addMember(c, m)
}

// addMember adds a unit once. A unit without a number did not fit.
func addMember(c *ledger.Chain, m ledger.Member) {
	for i := range c.Members {
		if c.Members[i].Unit == m.Unit {
			return
		}
	}
	if m.Unit != 0 {
		c.Members = append(c.Members, m)
	}
}
