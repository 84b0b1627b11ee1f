package synthetic

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"whatif/internal/recording"
	"whatif/internal/simulate"
)

// Program is a program, with what it runs on and when it is recorded.
type Program struct {
	Family   string
	Text     string // its parameters
	Seed     uint64
	Hardware Hardware
	Kinds    int    // of code
	Waits    Waits  // what kinds of waiting it has that a change can shorten
	Fixed    bool   // it has threads that are pinned to cores: the number of cores cannot change
	Windows  []Span // in which it is recorded
	Build    func(*Machine)

	same []simulate.WindowOutcome
}

// Waits are kinds of waiting.
type Waits struct{ Sleeps, Disks, Nets bool }

// Span is a stretch of the machine's time, in ns.
type Span struct{ Begin, End int64 }

// Truth is what a program did in the windows of its recording, and what the changed program does.
type Truth struct {
	Same, Changed simulate.Outcome
}

func (p *Program) String() string {
	return fmt.Sprintf("seed %d: %s (%s; %d cores)", p.Seed, p.Family, p.Text, p.Hardware.Cores)
}

// Record runs the program and records its windows.
func (p *Program) Record() *recording.Recording {
	m := newMachine(p.Hardware, p.Seed, p.Build)
	defer m.close()
	r := &recorder{m: m, began: p.Windows[0].Begin, numbers: map[*Task]int32{}}
	p.same = nil
	for _, w := range p.Windows {
		m.until(w.Begin)
		m.begin(Change{}, nil)
		r.open()
		m.until(w.End)
		r.shut(w.Begin)
		p.same = append(p.same, m.end())
	}
	return r.finish(p.Windows[len(p.Windows)-1].End - p.Windows[0].Begin)
}

// longest is how many times as long as recorded a changed program may take for the recorded visits.
const longest = 12

// Truth runs the changed program: unchanged until a window begins, then changed, until it has made as many visits as
// were recorded in the window.
func (p *Program) Truth(c Change) Truth {
	if p.same == nil {
		p.Record()
	}
	t := Truth{Same: simulate.Outcome{Windows: p.same}}
	for i, w := range p.Windows {
		var wanted []int
		for _, visits := range p.same[i].Visits {
			wanted = append(wanted, len(visits))
		}
		t.Changed.Windows = append(t.Changed.Windows, p.changed(c, i, wanted, longest*(w.End-w.Begin)))
	}
	return t
}

func (p *Program) changed(c Change, window int, wanted []int, most int64) simulate.WindowOutcome {
	m := newMachine(p.Hardware, p.Seed, p.Build)
	defer m.close()
	// Earlier windows are gone through as the recorded run did, so that both runs are the same up to here.
	for _, w := range p.Windows[:window] {
		m.until(w.Begin)
		m.begin(Change{}, nil)
		m.until(w.End)
		m.end()
	}
	begin := p.Windows[window].Begin
	m.until(begin)
	m.begin(c, wanted)
	m.until(begin + most)
	return m.end()
}

// Asked is a change in the words of the engine.
func (p *Program) Asked(r *recording.Recording, c Change) simulate.Change {
	asked := simulate.Change{Cores: c.Cores}
	for kind, by := range c.Kinds {
		if by == 0 {
			continue
		}
		u := simulate.Unit{Stacks: make([]bool, len(r.Stacks)), Places: make([]bool, len(r.Places))}
		for i, s := range r.Stacks {
			u.Stacks[i] = slices.ContainsFunc(s, func(f int32) bool { return r.Frames[f].Function == kindName(kind) })
		}
		asked.Faster = append(asked.Faster, simulate.Faster{Unit: u, By: by})
	}
	waits := []float64{c.Sleeps, c.Disks, c.Nets}
	for i, class := range []recording.Class{recording.Sleep, recording.Disk, recording.Net} {
		if waits[i] == 0 {
			continue
		}
		u := simulate.Unit{Stacks: make([]bool, len(r.Stacks)), Places: make([]bool, len(r.Places))}
		for place := range u.Places {
			u.Places[place] = true
		}
		u.Classes[class] = true
		asked.Faster = append(asked.Faster, simulate.Faster{Unit: u, By: waits[i]})
	}
	return asked
}

// Changes draws some changes that make sense for the program: mostly one kind of code that is faster.
func (p *Program) Changes(n int) []Change {
	r := rand.New(rand.NewPCG(p.Seed, 1))
	var changes []Change
	for len(changes) < n {
		c := Change{Kinds: make([]float64, p.Kinds)}
		levels := []float64{0.25, 0.5, 0.75, 1}
		level := levels[r.IntN(len(levels))]
		switch what := r.IntN(20); {
		case what < 2 && !p.Fixed:
			c.Cores = 1 + r.IntN(2*p.Hardware.Cores)
			if c.Cores == p.Hardware.Cores {
				continue
			}
		case what < 4 && p.Waits.Sleeps:
			c.Sleeps = level
		case what < 6 && p.Waits.Disks:
			c.Disks = level
		case what < 8 && p.Waits.Nets:
			c.Nets = level
		case what < 11 && p.Kinds > 1:
			// Not by 100%: a loop in which nothing is left takes no time.
			for kind := range c.Kinds {
				c.Kinds[kind] = levels[r.IntN(3)] * float64(r.IntN(2))
			}
		case what == 11:
			c.Kinds[r.IntN(p.Kinds)] = -0.3
		default:
			c.Kinds[r.IntN(p.Kinds)] = level
		}
		if c.String() != "nothing" {
			changes = append(changes, c)
		}
	}
	return changes
}
