package experiment

import (
	"math/rand/v2"
	"slices"
)

// Candidate is a unit that could be tried, with the reason for it: how many
// samples it had lately.
type Candidate struct {
	Unit    uint32
	Samples int64
}

// Trial is one experiment to be made; Unit 0 is a baseline.
type Trial struct {
	Unit    uint32
	Watch   uint32 // the unit of the pair: what it does can be learned in the baseline too
	Speedup int    // percent
	Pair    int    // the same for a baseline and the speed-up drawn with it, from 1
}

// Plan draws experiments at random: a systematic order would beat with whatever
// the program does periodically. Trials come in pairs, a baseline and a virtual
// speed-up in random order, so that half of all are baselines (as in the COZ
// paper, where 0% is drawn half of the time) and each speed-up has a baseline
// next to it in time, against which it is judged.
//
// A plan depends on its seed and on the candidates it is shown, and on nothing
// else.
type Plan struct {
	rng    *rand.Rand
	levels []int
	queue  []int   // levels not used yet: see draw
	coming []Trial // of the pair that has begun
	pairs  int
}

// NewPlan makes a plan that draws from levels, in percent. A level 0 is dropped:
// baselines come by themselves. With no other level there are only baselines.
func NewPlan(seed uint64, levels []int) *Plan {
	levels = slices.DeleteFunc(slices.Clone(levels), func(l int) bool { return l == 0 })
	return &Plan{rng: rand.New(rand.NewPCG(seed, 0x77686174)), levels: levels}
}

// Next draws a trial. Candidates are asked for at the beginning of a pair: were
// the unit drawn just before its own trial, the baseline beside it would more
// often lie outside of the phase in which the unit runs.
func (p *Plan) Next(candidates func() []Candidate) Trial {
	if len(p.coming) == 0 {
		p.pairs++
		t := p.speedup(candidates)
		p.coming = []Trial{{Pair: p.pairs, Watch: t.Watch}, t}
		if p.rng.IntN(2) == 0 {
			slices.Reverse(p.coming)
		}
	}
	t := p.coming[0]
	p.coming = p.coming[1:]
	return t
}

// speedup draws the pair's trial that is no baseline, unless nothing can be tried.
func (p *Plan) speedup(candidates func() []Candidate) Trial {
	t := Trial{Pair: p.pairs}
	if len(p.levels) == 0 {
		return t
	}
	if unit, ok := p.choose(candidates()); ok {
		t.Unit, t.Watch, t.Speedup = unit, unit, p.draw()
	}
	return t
}

// choose picks a unit with a probability in proportion to its samples.
func (p *Plan) choose(from []Candidate) (uint32, bool) {
	var sum int64
	for _, c := range from {
		sum += c.Samples
	}
	if sum <= 0 {
		return 0, false
	}
	n := p.rng.Int64N(sum)
	for _, c := range from {
		if n -= c.Samples; n < 0 {
			return c.Unit, true
		}
	}
	panic("unreachable: the draw is below the sum")
}

// draw picks a level: each once, in random order, before any comes again. So no
// level is starved in a short run, as independent draws would do.
func (p *Plan) draw() int {
	if len(p.queue) == 0 {
		p.queue = slices.Clone(p.levels)
		p.rng.Shuffle(len(p.queue), func(i, j int) { p.queue[i], p.queue[j] = p.queue[j], p.queue[i] })
	}
	l := p.queue[0]
	p.queue = p.queue[1:]
	return l
}
