package plan

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func twoUnits() []Candidate { return []Candidate{{Unit: 3, Samples: 30}, {Unit: 8, Samples: 10}} }

func draw(p *Plan, n int, candidates func() []Candidate) []Trial {
	var trials []Trial
	for range n {
		trials = append(trials, p.Next(candidates))
	}
	return trials
}

// TestPlanSeed: the seed determines the plan.
func TestPlanSeed(t *testing.T) {
	levels := []int{0, 25, 50, 75, 100}
	first := draw(New(7, levels), 400, twoUnits)
	if again := draw(New(7, levels), 400, twoUnits); !slices.Equal(first, again) {
		t.Error("the same seed gave two plans")
	}
	if other := draw(New(8, levels), 400, twoUnits); slices.Equal(first, other) {
		t.Error("another seed gave the same plan")
	}
}

// TestPlanPairs: trials come in pairs of a baseline and a speed-up, so half of all are baselines.
func TestPlanPairs(t *testing.T) {
	trials := draw(New(1, []int{0, 50, 100}), 2000, twoUnits)
	for i := 0; i < len(trials); i += 2 {
		a, b := trials[i], trials[i+1]
		if a.Pair != i/2+1 || b.Pair != a.Pair {
			t.Fatalf("trials %d and %d have pairs %d and %d", i, i+1, a.Pair, b.Pair)
		}
		if a.Unit != 0 {
			a, b = b, a
		}
		if a.Unit != 0 || a.Speedup != 0 || b.Unit == 0 || b.Speedup == 0 {
			t.Fatalf("pair %d is %+v and %+v", i/2+1, a, b)
		}
	}
}

// TestPlacebos: one of every ten pairs is a placebo, but none of the first three, and which one is
// random.
func TestPlacebos(t *testing.T) {
	const pairs = 5000
	p := New(3, []int{0, 50, 100})
	p.TryPlacebos()
	at := make(map[int]int)
	last := -10
	for i, x := range draw(p, 2*pairs, twoUnits) {
		if !x.Placebo {
			continue
		}
		pair := x.Pair - 1
		if x.Unit != 0 || x.Speedup != 0 {
			t.Fatalf("%+v", x)
		}
		if next := (last/10 + 1) * 10; pair != i/2 || pair < max(next, placeboFirst-1) || pair >= next+10 {
			t.Fatalf("trial %d is of pair %d, one of %d to %d was due", i, x.Pair, next+1, next+10)
		}
		last = pair
		at[pair%10]++
	}
	for i := range 10 {
		within(t, "placebos at a place among ten", at[i], pairs/10, 0.1)
	}
	for _, x := range append(draw(New(3, []int{50}), 400, twoUnits), draw(New(3, []int{0}), 400, twoUnits)...) {
		if x.Placebo {
			t.Fatalf("a placebo that nobody asked for: %+v", x)
		}
	}
	none := New(3, []int{0})
	none.TryPlacebos()
	for _, x := range draw(none, 400, twoUnits) {
		if x.Placebo {
			t.Fatalf("a placebo without levels: %+v", x)
		}
	}
}

// TestPlaceboNext: a run that wants to end before placebos said anything gets one at once.
func TestPlaceboNext(t *testing.T) {
	p := New(3, []int{0, 50, 100})
	p.TryPlacebos()
	draw(p, 5, twoUnits)
	if !p.PlaceboNext() {
		t.Fatal("there is none")
	}
	if draw(p, 1, twoUnits)[0].Placebo {
		t.Error("in the middle of a pair")
	}
	if pair := draw(p, 2, twoUnits); pair[0].Placebo == pair[1].Placebo {
		t.Errorf("%+v: one of a placebo and a baseline was due", pair)
	}
	for _, x := range draw(p, 4, twoUnits) {
		if x.Placebo {
			t.Errorf("%+v: nobody asked for it", x)
		}
	}
	if New(3, []int{50}).PlaceboNext() {
		t.Error("they were not to be tried")
	}
}

// within fails if n of total draws differs from the expected share by more than five standard
// deviations.
func within(t *testing.T, what string, n, total int, share float64) {
	t.Helper()
	sd := math.Sqrt(float64(total) * share * (1 - share))
	if d := math.Abs(float64(n) - share*float64(total)); d > 5*sd {
		t.Errorf("%s: %d of %d, want about %.0f ± %.0f", what, n, total, share*float64(total), sd)
	}
}

// TestPlanProbabilities: units are drawn by their samples and levels evenly, and neither depends on
// the other nor on the order within the pair.
func TestPlanProbabilities(t *testing.T) {
	levels := []int{5, 25, 50, 100}
	const pairs = 20000
	heavy, first, together, heavyFirst := 0, 0, map[int]int{}, 0
	trials := draw(New(2, levels), 2*pairs, twoUnits)
	for i, x := range trials {
		if x.Unit == 0 {
			continue
		}
		leads := i%2 == 0
		if leads {
			first++
		}
		if x.Unit == 3 {
			heavy++
			together[x.Speedup]++
			if leads {
				heavyFirst++
			}
		}
	}
	within(t, "unit with 3/4 of the samples", heavy, pairs, 0.75)
	within(t, "speed-up before its baseline", first, pairs, 0.5)
	within(t, "that unit before its baseline", heavyFirst, heavy, 0.5)
	for _, l := range levels {
		within(t, "that unit at a level", together[l], pairs, 0.75/float64(len(levels)))
	}
}

// TestPlanLevels: each level comes once before any comes again, in no fixed order.
func TestPlanLevels(t *testing.T) {
	levels := []int{100, 25, 50, 75}
	rng := rand.New(rand.NewPCG(3, 3))
	var q queue
	orders := map[[4]int]int{}
	for range 2400 {
		var round [4]int
		for i := range round {
			round[i] = q.next(rng, levels, 0)
		}
		sorted := round
		slices.Sort(sorted[:])
		if sorted != [4]int{25, 50, 75, 100} {
			t.Fatalf("a round of %v", round)
		}
		orders[round]++
	}
	if len(orders) != 24 {
		t.Errorf("%d of 24 orders of the levels", len(orders))
	}
	for order, n := range orders {
		within(t, "an order of levels", n, 2400, 1./24)
		_ = order
	}
}

// TestPlanHasNoRhythm: a trial says nothing about trials some places later, except its own partner.
func TestPlanHasNoRhythm(t *testing.T) {
	trials := draw(New(4, []int{50, 100}), 40000, twoUnits)
	for lag := 2; lag <= 64; lag += 2 {
		same, total := 0, 0
		for i := 0; i+lag < len(trials); i += 2 {
			total++
			if (trials[i].Unit == 0) == (trials[i+lag].Unit == 0) {
				same++
			}
		}
		within(t, "baseline again after a while", same, total, 0.5)
	}
}

// TestPlanNothingToTry: if nothing can be tried there are baselines, still in pairs.
func TestPlanNothingToTry(t *testing.T) {
	none := func() []Candidate { return nil }
	idle := func() []Candidate { return []Candidate{{Unit: 1}, {Unit: 2}} }
	for name, trials := range map[string][]Trial{
		"no candidates":      draw(New(5, []int{50}), 20, none),
		"without samples":    draw(New(5, []int{50}), 20, idle),
		"baselines only":     draw(New(5, []int{0}), 20, twoUnits),
		"no levels whatever": draw(New(5, nil), 20, twoUnits),
	} {
		for i, x := range trials {
			if x.Unit != 0 || x.Speedup != 0 || x.Pair != i/2+1 {
				t.Errorf("%s: trial %d is %+v", name, i, x)
			}
		}
	}
}

// TestPlanAsksOnceAPair: the unit is chosen when the pair begins, the candidates are asked for once
// in a pair, and the caller's levels stay as they are.
func TestPlanAsksOnceAPair(t *testing.T) {
	levels := []int{0, 100, 50}
	asked := 0
	p := New(6, levels)
	for i := range 50 {
		p.Next(func() []Candidate { asked++; return twoUnits() })
		if asked != i/2+1 {
			t.Fatalf("asked %d times by trial %d", asked, i)
		}
	}
	if !slices.Equal(levels, []int{0, 100, 50}) {
		t.Errorf("levels changed to %v", levels)
	}
}

// TestPlanLearns: the data so far decide, but each unit keeps its floor, and the recorded chance is
// the probability of the draw.
func TestPlanLearns(t *testing.T) {
	// The units may gain 1, 25 and 20 at most.
	for name, of := range map[string]struct {
		make  func(uint64, []int) *Plan
		worth map[uint32]float64
	}{
		"new":  {New, map[uint32]float64{1: math.Pow(1./25, 2) * 1, 2: 25, 3: math.Pow(20./25, 2) * 400}},
		"race": {Race, map[uint32]float64{1: math.Pow(1./25, 4) * 1, 2: 5, 3: math.Pow(20./25, 4) * 20}},
	} {
		t.Run(name, func(t *testing.T) { learns(t, of.make(7, []int{25, 50, 100}), of.worth) })
	}
}

func learns(t *testing.T, p *Plan, worth map[uint32]float64) {
	from := func() []Candidate { return []Candidate{{1, 50}, {2, 30}, {3, 20}, {4, 0}} }
	p.Learn(map[uint32]Known{
		1: {Most: 50, Gain: 0, Half: 1, Bounded: true},
		2: {Most: 30, Gain: 20, Half: 5, Bounded: true},
		3: {Most: 20},
		4: {Most: 100},
	})
	const pairs = 20000
	drawn, chance := map[uint32]int{}, map[uint32]float64{}
	for _, x := range draw(p, 2*pairs, from) {
		if x.Unit != 0 {
			drawn[x.Unit]++
			if chance[x.Unit] != 0 && chance[x.Unit] != x.Chance {
				t.Fatalf("unit %d has the chances %v and %v", x.Unit, chance[x.Unit], x.Chance)
			}
			chance[x.Unit] = x.Chance
		} else if x.Chance == 0 {
			t.Fatal("a pair's baseline has no chance")
		}
	}
	for unit, n := range drawn {
		within(t, "unit by its chance", n, pairs, chance[unit])
	}
	if drawn[4] != 0 {
		t.Errorf("unit 4 does not run, and was drawn %d times", drawn[4])
	}
	share := map[uint32]float64{1: 0.5, 2: 0.3, 3: 0.2}
	for unit, w := range worth {
		want := floor*share[unit] + (1-floor)*w/(worth[1]+worth[2]+worth[3])
		if math.Abs(chance[unit]-want) > 1e-9 {
			t.Errorf("unit %d has a chance of %v, want %v", unit, chance[unit], want)
		}
		if chance[unit] < floor*share[unit] {
			t.Errorf("unit %d has lost its floor", unit)
		}
	}
}

// TestLevelsOfManyHaveAnchors: of many levels the anchors come in every round, the others in turn,
// and one of those near the bend.
func TestLevelsOfManyHaveAnchors(t *testing.T) {
	var levels []int
	for l := 5; l <= 100; l += 5 {
		levels = append(levels, l)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	var q queue
	count := map[int]int{}
	for range 170 {
		for range 5 {
			count[q.next(rng, levels, 0)]++
		}
	}
	for _, l := range levels {
		want := 20
		if slices.Contains(anchors, l) {
			want = 170
		}
		if count[l] != want {
			t.Errorf("level %d came %d times of 850, want %d", l, count[l], want)
		}
	}
	near := 0
	for range 100 {
		for range 5 {
			if l := q.next(rng, levels, 70); l == 75 || l >= 55 && l <= 85 {
				near++
			}
		}
	}
	if near < 100 {
		t.Errorf("%d of 500 near the bend, want one in each round at least", near)
	}
	// Without 100, 50 and 25, the anchors are the levels nearest to them.
	if got := nearest([]int{10, 20, 30, 60, 90}, anchors); !slices.Equal(got, []int{90, 60, 30}) {
		t.Errorf("anchors %v", got)
	}
}

// TestEvenPlan: the paper's plan learns nothing.
func TestEvenPlan(t *testing.T) {
	p := Even(1, []int{0, 25, 50, 75, 100})
	first := draw(p, 100, twoUnits)
	q := Even(1, []int{0, 25, 50, 75, 100})
	q.Learn(map[uint32]Known{8: {Most: 100}})
	if !slices.Equal(first, draw(q, 100, twoUnits)) {
		t.Error("what it was told changed the plan")
	}
}
