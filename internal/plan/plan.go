// Package plan decides which experiment comes next: a baseline, or which unit, sped up
// by how much. It is pure: chance from a seed, and what it is told.
//
// The normal sequence: New (Race for a run that ends when the leaders are known), then Next for each experiment, and Learn when the data so
// far have been looked at. Without Learn units are drawn by their samples and levels
// evenly.
//
// What is drawn is drawn at random, with a probability that is recorded (Trial.Chance).
// Each unit that runs keeps a part of the chance that its samples would give it (floor),
// however little it seems to be worth, so none is given up for being unlucky once.
//
// # What adapting does to estimates
//
// A unit's gain compares its experiments with baselines beside them in time. How often
// the unit is drawn changes how many such comparisons there are, and not what one of
// them is expected to say. So nothing needs to be weighted by one over the chance, and
// to do so would only add noise: the weights of what is rarely drawn are large. What
// remains is that the number depends on what the earlier ones said: a unit that was lucky is
// looked at again, and one that was not, less. Where it stops being looked at, its bad
// luck stays: so estimates are biased towards less, the more the sooner that is (Nie et
// al., AISTATS 2018). The floor, the baselines' half, and that it is the upper end
// of a unit's interval that is compared with the leader's keep that far below the intervals' width: see
// TestAdaptive in package analyze, which simulates it.
//
// Levels do not depend on gains, but for where a curve bends.
package plan

import (
	"math"
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
	// Chance is the probability with which the pair's unit was drawn among those that
	// could be; 0 if there was none.
	Chance float64
	// Placebo: nothing is sped up (see package profile). Who makes the trial fills in Unit, Watch and Speedup.
	Placebo bool
}

// Plan draws experiments at random: a systematic order would beat with whatever
// the program does periodically. Trials come in pairs, a baseline and a virtual
// speed-up in random order, so that half of all are baselines (as in the COZ
// paper, where 0% is drawn half of the time) and each speed-up has a baseline
// next to it in time, against which it is judged. Half is also about the best: with the
// variance of a gain being in proportion to 1/(q·(1-f)) + 1/f, where f is the baselines'
// share and q the leading unit's of the rest, the best f is 1/(1 + 1/√q), which is a half where
// most of the rest is one unit's.
//
// A plan depends on its seed, on the candidates it is shown and on what it is told of
// the units, and on nothing else.
type Plan struct {
	rng    *rand.Rand
	levels []int
	known  map[uint32]Known
	queues map[uint32]*queue // of levels, by unit
	coming []Trial           // of the pair that has begun
	pairs  int
	even   bool
	race   bool  // only who leads counts
	common queue // of levels, of an even plan

	placebos bool
	placebo  int  // which of these pairs is one
	due      bool // the next one is
}

// New makes a plan that draws from levels, in percent. A level 0 is dropped:
// baselines come by themselves. With no other level there are only baselines.
func New(seed uint64, levels []int) *Plan {
	levels = slices.DeleteFunc(slices.Clone(levels), func(l int) bool { return l == 0 })
	slices.Sort(levels)
	return &Plan{rng: rand.New(rand.NewPCG(seed, 0x77686174)), levels: slices.Compact(levels), queues: make(map[uint32]*queue)}
}

// Race makes a plan for a run that ends as soon as those who may lead are known well: the
// others are worth no more than it takes to see that they do not lead.
func Race(seed uint64, levels []int) *Plan {
	p := New(seed, levels)
	p.race = true
	return p
}

// Even makes the plan of the COZ paper, for comparison: it learns nothing, and draws
// all levels alike.
func Even(seed uint64, levels []int) *Plan {
	p := New(seed, levels)
	p.even = true
	return p
}

// TryPlacebos makes one of each so many pairs a placebo, but none of the first few unless it is asked for (PlaceboNext): one alone
// says nothing, and a run of ten seconds, which should say whether its points keep a pace of their own, has two.
func (p *Plan) TryPlacebos() { p.placebos = true }

const (
	placeboEvery = 10 // pairs
	placeboFirst = 4
)

// PlaceboNext makes the next pair a placebo, and says whether it is: where none are tried it is not.
func (p *Plan) PlaceboNext() bool {
	p.due = p.placebos
	return p.due
}

// isPlacebo says of each pair in turn whether it is one.
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

// Next draws a trial. Candidates are asked for at the beginning of a pair: were
// the unit drawn just before its own trial, the baseline beside it would more
// often lie outside of the phase in which the unit runs.
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

// speedup draws the pair's trial that is no baseline, unless nothing can be tried.
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

// floor is the part of each draw that goes by samples alone.
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

// weights are what the candidates are drawn in proportion to.
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

// Known is what the data so far say about a unit: what planning needs of it.
type Known struct {
	// Most is what the unit can gain at most, in percent: the part of the time in which
	// it runs.
	Most float64
	// Gain is what it gains at the speed-up at which that is most, and Half half the width of the
	// interval, without what more data do not change; not Bounded: neither is known yet.
	Gain, Half float64
	Bounded    bool
	Bend       int // where its curve bends, in percent; 0 if nowhere known
}

// upper is what the unit may gain at the best.
func (k Known) upper() float64 {
	if !k.Bounded {
		return k.Most
	}
	return min(k.Most, max(k.Gain, 0)+k.Half)
}

// Learn tells the plan what is known by now. Units that are not in it are known by their
// samples alone.
func (p *Plan) Learn(known map[uint32]Known) {
	if !p.even {
		p.known = known
	}
}

// worth is what an experiment of a unit is worth that may gain the part lead of what the best
// may, and is as uncertain as that.
//
// An interval's width falls with the root of the experiments, so what one more takes off is in
// proportion to its third power. Its square is between that and the width itself. With the square of
// lead, who may gain 80% of what the leader may is worth 64% as much, and who may gain half a quarter.
//
// In a race the width itself counts, and who is behind counts less: 41% and 6%. So it ends sooner; but a
// leader known to a point takes most of the experiments while ten others have no interval at all, which is
// why it is not the usual plan. TestRunnersUp and TestUntil of package analyze simulate both.
func (p *Plan) worth(lead, uncertain float64) float64 {
	if p.race {
		return math.Pow(lead, 4) * uncertain
	}
	return lead * lead * uncertain * uncertain
}

// worths are what an experiment of each candidate is worth: how much narrower it makes
// an interval, the more so for those that may lead. A unit without an interval is as uncertain as
// it may be good. nil: nothing is known.
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
