// Package plan decides which experiment comes next: a baseline, or a unit and its speed-up. It is
// pure: a plan depends on its seed and on what it is given.
//
// The normal sequence is New (Race for a run that ends when the leaders are known), then Next for
// each experiment, and Learn whenever the data so far have been analysed. Without Learn, units are
// drawn by their samples and levels evenly.
//
// Experiments are drawn at random, with a probability that is recorded (Trial.Chance). Each unit
// that runs keeps a part of the probability that its samples give it (floor), even if it seems to
// be worth little. So no unit is given up after bad luck.
//
// # What adapting does to estimates
//
// A unit's gain compares its experiments with baselines beside them in time. How often the unit is
// drawn changes the number of such comparisons, but not the expectation of a single one. So nothing
// needs to be weighted by one over the probability. That would only add noise, because rarely drawn
// units would have large weights.
//
// There is one bias. The number of comparisons depends on the results of the earlier ones: a unit
// with good luck is tried again, and one with bad luck less often. When a unit is no longer tried,
// its bad luck stays. So estimates are too low, the more so the earlier that happens (Nie et al.,
// AISTATS 2018). Three things keep this bias far below the intervals' width: the floor, the
// baselines' half, and that the upper end of a unit's interval is compared with the leader's.
// TestAdaptive in package analyze simulates it.
//
// Levels do not depend on gains, except on where a curve bends.
package plan

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Candidate is a unit that could be tried, and how many samples it had lately.
type Candidate struct {
	Unit    uint32
	Samples int64
}

// Trial is one experiment to be made. Unit 0 is a baseline.
type Trial struct {
	Unit    uint32
	Watch   uint32 // the unit of the pair, which the baseline observes too
	Speedup int    // percent
	Pair    int    // number of the pair, from 1: a baseline, and the speed-up drawn with it
	// Chance is the probability with which the pair's unit was drawn from the candidates; 0 if
	// there was none.
	Chance float64
	// Placebo says that nothing is sped up (see package profile). The caller then fills in Unit,
	// Watch and Speedup.
	Placebo bool
}

// Plan draws experiments at random, because a systematic order could beat with periodic work of the
// program.
//
// Trials come in pairs, a baseline and a virtual speed-up in random order. So half of all trials
// are baselines (as in the COZ paper, where 0% is drawn half of the time), and each speed-up has a
// baseline next to it in time to be compared with. Half is also about the best. The variance of a
// gain is proportional to 1/(q·(1-f)) + 1/f, where f is the baselines' share and q the leading
// unit's share of the rest. The best f is 1/(1 + 1/√q), which is a half if most of the rest is one
// unit's.
//
// A plan depends only on its seed, on the candidates, and on what Learn tells it.
type Plan struct {
	rng    *rand.Rand
	levels []int
	known  map[uint32]Known
	queues map[uint32]*queue // of levels, by unit
	coming []Trial           // the rest of the pair that has begun
	pairs  int
	even   bool
	race   bool  // only the leading units count
	common queue // levels of an even plan

	placebos bool
	placebo  int  // number of the pair that is a placebo
	due      bool // the next pair is a placebo
}

// New makes a plan that draws from levels, in percent. A level 0 is dropped, because every pair has
// a baseline. Without other levels there are only baselines.
func New(seed uint64, levels []int) *Plan {
	levels = slices.DeleteFunc(slices.Clone(levels), func(l int) bool { return l == 0 })
	slices.Sort(levels)
	return &Plan{rng: rand.New(rand.NewPCG(seed, 0x77686174)), levels: slices.Compact(levels),
		queues: make(map[uint32]*queue)}
}

// Race makes a plan for a run that ends as soon as the units that may lead are known well. It tries
// the others only until it is clear that they do not lead.
func Race(seed uint64, levels []int) *Plan {
	p := New(seed, levels)
	p.race = true
	return p
}

// Even makes the plan of the COZ paper, for comparison: it learns nothing, and draws all levels
// alike.
func Even(seed uint64, levels []int) *Plan {
	p := New(seed, levels)
	p.even = true
	return p
}

// TryPlacebos makes one of every ten pairs a placebo, but none of the first three, unless
// PlaceboNext asks for one. A single placebo says nothing. A run of ten seconds, which should show
// whether its points are paced, has two.
func (p *Plan) TryPlacebos() { p.placebos = true }

const (
	placeboEvery = 10 // pairs
	placeboFirst = 4
)

// PlaceboNext makes the next pair a placebo. It returns false if the plan tries none.
func (p *Plan) PlaceboNext() bool {
	p.due = p.placebos
	return p.due
}

// isPlacebo says whether the current pair is a placebo. It is called once for each pair.
func (p *Plan) isPlacebo() bool {
	if !p.placebos {
		return false
	}
	is := p.due
	p.due = false
	if p.pairs%placeboEvery == 1 {
		from, to := max(p.pairs, placeboFirst), p.pairs+placeboEvery
		p.placebo = from + p.rng.IntN(to-from)
	}
	return is || p.pairs == p.placebo
}

// Next draws a trial. It asks for the candidates at the beginning of a pair. If the unit were drawn
// just before its own trial, the baseline beside it would more often be outside of the phase in
// which the unit runs.
func (p *Plan) Next(candidates func() []Candidate) Trial {
	if len(p.coming) == 0 {
		p.pairs++
		t := p.speedup(candidates)
		p.coming = []Trial{{Pair: p.pairs, Watch: t.Watch, Chance: t.Chance}, t}
		if p.rng.IntN(2) == 0 {
			slices.Reverse(p.coming)
		}
	}
	t := p.coming[0]
	p.coming = p.coming[1:]
	return t
}

// speedup draws the trial of a pair that is no baseline, unless nothing can be tried.
func (p *Plan) speedup(candidates func() []Candidate) Trial {
	t := Trial{Pair: p.pairs}
	if len(p.levels) == 0 {
		return t
	}
	if p.isPlacebo() {
		t.Placebo = true
		return t
	}
	if unit, chance, ok := p.choose(candidates()); ok {
		t.Unit, t.Watch, t.Chance = unit, unit, chance
		t.Speedup = p.level(unit)
	}
	return t
}

// floor is the part of each draw that depends on samples alone.
const floor = 0.2

// choose draws a unit.
func (p *Plan) choose(from []Candidate) (unit uint32, chance float64, ok bool) {
	weights := p.weights(from)
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	if !(sum > 0) {
		return 0, 0, false
	}
	x := p.rng.Float64() * sum
	last := 0
	for i, w := range weights {
		if w <= 0 {
			continue
		}
		last = i
		if x -= w; x < 0 {
			break
		}
	}
	return from[last].Unit, weights[last] / sum, true
}

// weights are the relative probabilities of the candidates.
func (p *Plan) weights(from []Candidate) []float64 {
	weights := make([]float64, len(from))
	var samples, worth float64
	for _, c := range from {
		samples += float64(max(0, c.Samples))
	}
	if samples == 0 {
		return weights
	}
	worths := p.worths(from, samples)
	for _, w := range worths {
		worth += w
	}
	for i, c := range from {
		share := float64(max(0, c.Samples)) / samples
		weights[i] = share
		if worth > 0 {
			weights[i] = floor*share + (1-floor)*worths[i]/worth
		}
	}
	return weights
}

// level draws a unit's level.
func (p *Plan) level(unit uint32) int {
	if p.even {
		return p.common.draw(p.rng, p.levels)
	}
	q := p.queues[unit]
	if q == nil {
		q = &queue{}
		p.queues[unit] = q
	}
	return q.next(p.rng, p.levels, p.known[unit].Bend)
}

// Known is what the data so far say about a unit, as far as planning needs it.
type Known struct {
	// Most is the most that the unit can gain, in percent: the part of the time in which it runs.
	Most float64
	// Gain is the unit's largest gain over the speed-ups, and Half half the width of its interval,
	// without the part that more data do not reduce. Bounded says that both are known.
	Gain, Half float64
	Bounded    bool
	Bend       int // speed-up at which its curve bends, in percent; 0 if none is known
}

// upper is the most that the unit may gain, by the data so far.
func (k Known) upper() float64 {
	if !k.Bounded {
		return k.Most
	}
	return min(k.Most, max(k.Gain, 0)+k.Half)
}

// Learn tells the plan what is known by now. Of other units only the samples are known.
func (p *Plan) Learn(known map[uint32]Known) {
	if !p.even {
		p.known = known
	}
}

// worth is what an experiment of a unit is worth. lead is the unit's possible gain as a part of the
// best unit's, and uncertain the half width of its interval.
//
// An interval's width falls with the square root of the number of experiments, so one more
// experiment reduces it in proportion to its third power. The square of the width is between that
// and the width itself. With the square of lead, a unit that may gain 80% of the leader's gain is
// worth 64% as much, and one that may gain half of it a quarter.
//
// In a race the width itself counts, and units behind the leader count less: 41% and 6%. So the
// race ends sooner. But a leader known to a point takes most of the experiments while ten others
// have no interval at all, so it is not the usual plan. TestRunnersUp and TestUntil of package
// analyze simulate both.
func (p *Plan) worth(lead, uncertain float64) float64 {
	if p.race {
		return math.Pow(lead, 4) * uncertain
	}
	return lead * lead * uncertain * uncertain
}

// worths are what an experiment of each candidate is worth: how much narrower it makes an interval,
// and more for units that may lead. A unit without an interval is as uncertain as its largest
// possible gain. It returns nil if nothing is known.
func (p *Plan) worths(from []Candidate, samples float64) []float64 {
	if p.known == nil {
		return nil
	}
	worths := make([]float64, len(from))
	best := 0.0
	all := make([]Known, len(from))
	for i, c := range from {
		k, ok := p.known[c.Unit]
		if !ok {
			k.Most = 100 * float64(max(0, c.Samples)) / samples
		}
		all[i] = k
		if c.Samples > 0 {
			best = max(best, k.upper())
		}
	}
	if best == 0 {
		return nil
	}
	for i, k := range all {
		if from[i].Samples <= 0 {
			continue
		}
		uncertain := k.Most
		if k.Bounded {
			uncertain = min(k.Half, k.Most)
		}
		worths[i] = p.worth(k.upper()/best, uncertain)
	}
	return worths
}
