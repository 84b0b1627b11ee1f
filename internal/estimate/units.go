package estimate

import (
	"cmp"
	"path"
	"slices"
	"strconv"

	"whatif/internal/point"
	"whatif/internal/profile"
	"whatif/internal/recording"
	"whatif/internal/simulate"
)

// Unit is code, or a class of waiting, with its part of the recorded time.
type Unit struct {
	profile.Unit                    // as package experiment would name it; ID is 0
	Share        float64            // percent of the target's CPU time
	Samples      int64              //
	Waiting      map[string]float64 // percent of the time that threads waited in it, by class, added up over the threads
	Waited       float64            // the part of it that counts as the unit's time; at most 100
	Calls        float64            // percent of a function's time that other functions in scope have that it calls

	running float64 // percent of the time that threads ran in it, added up over the cores
	refused string  // why it cannot be simulated
	small   bool    // it has too little of the time, but so have many others: see smallest
	sim     simulate.Unit
}

// smallUnit is the part of the time, in percent, below which a unit cannot gain much.
const smallUnit = 2

// most is the most that a unit can gain, in percent, unless it is in the way of others.
func (u *Unit) most() float64 { return min(100, u.running+u.Waited) }

// members is what belongs to a unit.
type members struct {
	unit   profile.Unit
	stacks []int32
	places []int32
	inner  []int32 // those of stacks in which the unit calls no other one
}

// Units lists the units of the kind that have enough of the time, smaller ones where those have little of it, the
// classes of waiting that count, and those that were named, the largest first.
func (e *Estimator) Units() []Unit {
	var all []Unit
	index := map[profile.UnitKey]bool{}
	for i := range e.opt.Targets {
		u := e.named(&e.opt.Targets[i])
		matters := u.most() >= e.opt.Least
		if e.also != nil && !matters {
			same := e.also.named(&e.opt.Targets[i])
			matters = same.most() >= e.opt.Least
		}
		if !index[u.Key()] && matters {
			index[u.Key()] = true
			all = append(all, u)
		}
	}
	units := e.members(e.opt.Kind)
	sized, shares := make([]Unit, len(units)), make([]float64, len(units))
	for i, m := range units {
		sized[i] = e.unit(m)
		sized[i].Calls = e.calls(m, sized[i].Samples)
		shares[i] = sized[i].Share
	}
	least := e.smallest(shares, e.work())
	for i, m := range units {
		u := &sized[i]
		matters := e.matters(u) || e.also != nil && e.also.mattersToo(m)
		if u.small = !matters; !index[m.unit.Key()] && (matters || u.Share >= least) {
			e.give(u, m)
			all = append(all, *u)
		}
	}
	for c, counts := range e.counted() {
		if !counts {
			continue
		}
		u := e.class(recording.Class(c))
		also := e.also != nil && e.also.percentOf(recording.Class(c)) >= e.opt.Least
		if !index[u.Key()] && (u.Waited >= e.opt.Least || also) {
			all = append(all, u)
		}
	}
	slices.SortFunc(all, func(a, b Unit) int {
		return cmp.Or(cmp.Compare(b.most(), a.most()), cmp.Compare(a.Name, b.Name), cmp.Compare(a.File, b.File))
	})
	return all
}

// matters says whether a unit has enough of the time, on a core or waiting.
func (e *Estimator) matters(u *Unit) bool { return u.Share >= e.opt.Least || u.Waited >= e.opt.Least }

// mattersToo says whether a unit of another estimator for the same recording has enough of the time of this one.
func (e *Estimator) mattersToo(m *members) bool {
	u := e.unit(m)
	return e.matters(&u)
}

// percentOf is how much of the time threads wait for a class.
func (e *Estimator) percentOf(c recording.Class) float64 { return e.time.percent(e.time.all[c]) }

// members collects the stacks and places of each unit of a kind.
func (e *Estimator) members(kind string) []*members {
	byKey := map[profile.UnitKey]*members{}
	var all []*members
	of := func(u profile.Unit) *members {
		m := byKey[u.Key()]
		if m == nil {
			m = &members{unit: u}
			byKey[u.Key()] = m
			all = append(all, m)
		}
		return m
	}
	units := make([][]*members, len(e.code.stacks))
	for i := range e.code.stacks {
		for k, u := range e.code.unitsOf(&e.code.stacks[i], kind) {
			m := of(u)
			units[i] = append(units[i], m)
			m.stacks = append(m.stacks, int32(i))
			if k == 0 {
				m.inner = append(m.inner, int32(i))
			}
		}
	}
	for p, s := range e.code.place {
		if s < 0 {
			continue
		}
		for _, m := range units[s] {
			m.places = append(m.places, int32(p))
		}
	}
	return all
}

// unitsOf gives the units of a kind that a stack is in: every function in scope on it, once each, or the one that its
// time belongs to; the innermost first.
func (c *code) unitsOf(s *stack, kind string) (units []profile.Unit) {
	if kind != "func" {
		if s.blamed >= 0 {
			if u, ok := c.unitFrom(s.frames[s.blamed], kind); ok {
				units = append(units, u)
			}
		}
		return units
	}
	seen := map[profile.UnitKey]bool{}
	for _, f := range s.frames {
		if u, ok := c.unitFrom(f, kind); ok && c.inScope[f] && !seen[u.Key()] {
			seen[u.Key()] = true
			units = append(units, u)
		}
	}
	return units
}

// unitFrom makes the unit of a frame, as package experiment does. Code without lines or a file is told apart by
// function. All instances of a line are one unit.
func (c *code) unitFrom(number int32, kind string) (profile.Unit, bool) {
	f := c.frames[number]
	u := profile.Unit{Kind: kind, File: f.File, Binary: c.binary[number]}
	switch {
	case kind == "binary":
		u.Name, u.File = path.Base(u.Binary), ""
	case kind == "file" && f.File != "":
		u.Name = path.Base(f.File)
	case kind == "func" || kind == "func-self" || f.Line == 0 || f.File == "":
		u.Kind, u.Name, u.Func, u.Self = "func", f.Short, f.Func, kind != "func"
	default:
		u.Line, u.Func = f.Line, f.Short
		u.Name = path.Base(f.File) + ":" + strconv.Itoa(f.Line)
	}
	return u, u.Name != ""
}

// unit adds up the time of a unit. give makes it one that can be simulated.
func (e *Estimator) unit(m *members) Unit {
	u := Unit{Unit: m.unit}
	for _, s := range m.stacks {
		u.Samples += e.time.samples[s]
	}
	var sum waited
	for _, p := range m.places {
		for c, ns := range e.time.waits[p] {
			sum[c] += ns
		}
	}
	e.addTimes(&u, sum, e.counted())
	return u
}

// calls is the percentage of all samples of a unit in which it calls another one.
func (e *Estimator) calls(m *members, all int64) float64 {
	own := int64(0)
	for _, s := range m.inner {
		own += e.time.samples[s]
	}
	return 100 * float64(all-own) / float64(max(all, 1))
}

// addTimes sets the shares of a unit.
func (e *Estimator) addTimes(u *Unit, sum waited, counted [recording.Classes]bool) {
	if e.time.total > 0 {
		u.Share = 100 * float64(u.Samples) / float64(e.time.total)
	}
	u.running = e.time.percent(u.Samples * e.time.period)
	for c, ns := range sum {
		if ns == 0 {
			continue
		}
		if u.Waiting == nil {
			u.Waiting = map[string]float64{}
		}
		u.Waiting[classNames[c]] = e.time.percent(ns)
		if counted[c] {
			u.Waited += e.time.percent(ns)
		}
	}
	u.Waited = min(100, u.Waited)
}

// give tells a unit which stacks and places are in it.
func (e *Estimator) give(u *Unit, m *members) {
	u.sim = simulate.Unit{Stacks: make([]bool, len(e.code.stacks)), Places: make([]bool, len(e.code.place)),
		Classes: e.counted()}
	for _, s := range m.stacks {
		u.sim.Stacks[s] = true
	}
	for _, p := range m.places {
		u.sim.Places[p] = true
	}
}

// class is a class of waiting in all code, as a unit.
func (e *Estimator) class(c recording.Class) Unit {
	u := Unit{Unit: profile.Unit{Kind: "wait", Name: "wait:" + classNames[c]}}
	var sum waited
	sum[c] = e.time.all[c]
	u.sim = simulate.Unit{Stacks: make([]bool, len(e.code.stacks)), Places: make([]bool, len(e.code.place))}
	u.sim.Classes[c] = true
	e.addTimes(&u, sum, u.sim.Classes)
	for p := range u.sim.Places {
		u.sim.Places[p] = true
	}
	if c == recording.CPU {
		u.refused = "waiting for a core follows from what else runs; ask with --cores what more cores would bring"
	}
	return u
}

// named is the unit that a target is.
func (e *Estimator) named(t *point.Target) Unit {
	if c := slices.Index(classNames[:], t.Wait); t.Wait != "" && c >= 0 {
		return e.class(recording.Class(c))
	}
	m := &members{unit: profile.Unit{Kind: "path", Name: t.PathName(), Func: t.Func, Self: t.Self}}
	found := false
	for i := range e.code.stacks {
		s := &e.code.stacks[i]
		own, in := s.in(e.code, t)
		if !in {
			continue
		}
		m.stacks = append(m.stacks, int32(i))
		if u, ok := e.code.unitFrom(s.frames[own], t.UnitKind()); ok && len(t.Callers) == 0 && !found {
			m.unit, found = u, true
		}
	}
	in := make([]bool, len(e.code.stacks))
	for _, s := range m.stacks {
		in[s] = true
	}
	for p, s := range e.code.place {
		if s >= 0 && in[s] {
			m.places = append(m.places, int32(p))
		}
	}
	u := e.unit(m)
	e.give(&u, m)
	return u
}
