package analyze

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"whatif/internal/profile"
)

// biased is the apparent gain of code that takes a share of the time, in a program where placebos
// gain a part (nothing) of what they delay. soon says that this code itself comes too often in
// virtual time.
func biased(share, nothing float64, soon bool, gain func(s float64) float64) func(s float64) float64 {
	return func(s float64) float64 {
		delay := share * s
		if soon {
			delay *= 1 - s
		}
		return 1 - (1-gain(s))*(1-nothing*delay)
	}
}

// fewPlacebos leaves the first n placebos and removes the pairs of the others: one pair in ten is a
// placebo, and a world draws more.
func fewPlacebos(d *profile.Data, n int) {
	dropped := make(map[int]bool)
	for i := range d.Experiments {
		if e := &d.Experiments[i]; e.Unit == placeboUnit {
			n--
			dropped[e.Pair] = n < 0
		}
	}
	d.Experiments = slices.DeleteFunc(d.Experiments, func(e profile.Experiment) bool { return dropped[e.Pair] })
}

// TestDelayBiasOfFewPlacebos: with as few placebos as runs have, intervals hold the truth whichever
// way placebos err: if all code loses what they lose, if code gains what they gain and nothing
// else, and if it gains nothing of that.
func TestDelayBiasOfFewPlacebos(t *testing.T) {
	truth := linear(0.3)
	sims := max(60, simulations(200))
	for _, placebos := range []int{3, 5, 10} {
		for _, test := range []struct {
			name    string
			nothing float64 // gain of placebos, as a part of their delays
			part    float64 // of that in the gain of code
			least   float64 // percent of intervals that hold the truth
			most    float64 // points of half width on average
		}{
			{"nothing", 0, 0, 97, 3},
			{"loses a tenth", -0.1, 1, 50, 6},
			{"loses a third", -0.3, 1, 85, 12},
			{"loses most", -0.6, 1, 93, 14},
			{"gains a fifth", 0.2, 1, 40, 9},
			{"gains half", 0.5, 1, 85, 22},
			{"gains half, code does not", 0.5, 0, 97, 22},
		} {
			t.Run(fmt.Sprintf("%d, %s", placebos, test.name), func(t *testing.T) {
				var held, of int
				var off, half float64
				for seed := range uint64(sims) {
					w := world{pairs: 100, levels: []int{25, 50, 75, 100}, noise: 0.03, units: []code{
						{share: 0.5, gain: biased(0.5, test.nothing*test.part, false, truth)},
						{share: 0.4, gain: linear(0.4 * test.nothing)}}}
					d := w.run(seed)
					becomePlacebo(d)
					fewPlacebos(d, placebos)
					for _, m := range Analyze([]*profile.Data{d}, Options{Simulated: true}).Targets[0].Effects[0].Marks {
						want := 100 * truth(float64(m.Speedup)/100)
						of++
						off += math.Abs(m.Gain.Value - want)
						half += m.Gain.Half()
						if m.Gain.Low <= want && want <= m.Gain.High {
							held++
						}
					}
				}
				n := float64(of)
				t.Logf("%3.0f%% hold the truth, error %4.1f, half width %4.1f", 100*float64(held)/n, off/n, half/n)
				slack := 100 / math.Sqrt(float64(sims)) // at most twice the standard deviation: the intervals of a run err together
				if x := 100 * float64(held) / n; x < test.least-slack {
					t.Errorf("%.0f%% of the intervals hold the truth, want %.0f", x, test.least-slack)
				}
				if half/n > test.most {
					t.Errorf("the half width is %.1f points, want %v at most", half/n, test.most)
				}
			})
		}
	}
}

// TestDelayBiasIsContinuous: no result jumps when it becomes certain that placebos lose more than
// the margin.
func TestDelayBiasIsContinuous(t *testing.T) {
	w := world{pairs: 60, levels: []int{25, 50, 75, 100}, noise: 0.02, units: []code{
		{share: 0.5, gain: linear(0.3)}, {share: 0.4, gain: linear(-0.2)}}}
	d := w.run(1)
	becomePlacebo(d)
	sure, doubtful := Analyze([]*profile.Data{d}, Options{Margin: 0.1}), Analyze([]*profile.Data{d}, Options{Margin: 20})
	if !sure.Points[0].DelayBiased || doubtful.Points[0].DelayBiased {
		t.Fatalf("dragged beyond a margin of 0.1: %v, of 20: %v", sure.Points[0].DelayBiased, doubtful.Points[0].DelayBiased)
	}
	for i, m := range sure.Targets[0].Effects[0].Marks {
		if other := doubtful.Targets[0].Effects[0].Marks[i].Gain; m.Gain != other {
			t.Errorf("at %d%%: %v where that is sure, and %v where it is not", m.Speedup, m.Gain, other)
		}
	}
}

// TestDelayBias: if placebos certainly show what delays do by themselves, this is subtracted from
// gains, and the truth remains.
func TestDelayBias(t *testing.T) {
	const share = 0.5
	truth := linear(0.3)
	for _, test := range []struct {
		name    string
		nothing float64
		soon    bool
		own     float64 // part of the time that whatif's own cost takes, in baselines too
	}{
		{"delays cost something", -0.6, false, 0},
		{"delays cost less the faster the code is", -0.6, true, 0},
		{"whatif's own cost is part of what placebos delay", -0.6, false, 0.25},
	} {
		t.Run(test.name, func(t *testing.T) {
			sims := simulations(200)
			held, of, told := 0, 0, 0
			for seed := range uint64(sims) {
				w := world{pairs: 60, levels: []int{25, 50, 75, 100}, noise: 0.02, units: []code{
					{share: share, gain: biased(share, test.nothing, test.soon, truth)},
					{share: 0.4, gain: linear(0.4 * test.nothing)}}}
				d := w.run(seed)
				becomePlacebo(d)
				for i := range d.Experiments {
					if e := &d.Experiments[i]; e.Unit == 1 && test.soon {
						e.TooSoon = e.UnitSamples[1]
					}
				}
				costs(d, test.own)
				r := Analyze([]*profile.Data{d}, Options{Simulated: true})
				if !r.Points[0].DelayBiased {
					continue
				}
				told++
				for _, m := range r.Targets[0].Effects[0].Marks {
					of++
					if want := 100 * truth(float64(m.Speedup)/100); m.Gain.Bounded && m.Gain.Low <= want && want <= m.Gain.High {
						held++
					}
				}
			}
			t.Logf("told in %d of %d runs; %d of %d intervals hold the truth", told, sims, held, of)
			if 20*told < 19*sims {
				t.Error("told in less than 19 of 20")
			}
			slack := 1 / math.Sqrt(float64(sims)) // as in TestDelayBiasOfFewPlacebos
			if float64(held) < (0.95-slack)*float64(of) {
				t.Errorf("%d of %d intervals hold the truth, want %.0f%%", held, of, 100*(0.95-slack))
			}
		})
	}
}

// costs has whatif itself take a part of the time of each experiment, for which all are delayed. The speed-up of a
// placebo is what it delays in all.
func costs(d *profile.Data, part float64) {
	for i := range d.Experiments {
		e := &d.Experiments[i]
		real := float64(e.RealNS) / (1 - part)
		e.DelayNS += int64(part * real)
		e.RealNS = int64(real)
		if e.Unit == placeboUnit && part > 0 {
			e.Speedup = int(100 * float64(e.DelayNS) / real)
		}
	}
}

// TestPlaceboDelays: placebos that were asked for the same have what they delayed in all, and those that delayed no
// more than baselines count as the least. Where no delays were recorded, what was asked for stays.
func TestPlaceboDelays(t *testing.T) {
	placebos := func(delays ...float64) (all []trial) {
		for i, speedup := range []int{20, 20, 50, 50} {
			all = append(all, trial{exp: i, speedup: speedup, real: 100, delay: delays[i]})
		}
		byDelay(all)
		return all
	}
	for _, c := range []struct{ delays, want []float64 }{
		{[]float64{0, 0, 30, 20}, []float64{1, 1, 25, 25}},
		{[]float64{40, 40, 30, 20}, []float64{25, 25, 40, 40}},
		{[]float64{10, 10, 1e9, 1e9}, []float64{10, 10, 100, 100}},
		{[]float64{0, 0, 0, 0}, []float64{20, 20, 50, 50}},
	} {
		for i, tr := range placebos(c.delays...) {
			if float64(tr.speedup) != c.want[i] {
				t.Errorf("%v: the speed-up of number %d is %d, want %v", c.delays, i, tr.speedup, c.want)
			}
		}
	}
}

// TestNoDelayBias: without a delay bias, or with too few placebos to show one, nothing is
// corrected.
func TestNoDelayBias(t *testing.T) {
	sims := simulations(200)
	wrong := 0
	for seed := range uint64(sims) {
		w := world{pairs: 60, levels: []int{25, 50, 75, 100}, noise: 0.02,
			units: []code{{share: 0.5, gain: linear(0.3)}, {share: 0.4, gain: linear(0)}}}
		d := w.run(seed)
		becomePlacebo(d)
		if Analyze([]*profile.Data{d}, Options{}).Points[0].DelayBiased {
			wrong++
		}
		w.units[1].gain = linear(-0.3)
		d = w.run(seed)
		becomePlacebo(d)
		few := 0
		d.Experiments = slices.DeleteFunc(d.Experiments, func(e profile.Experiment) bool {
			if e.Unit == placeboUnit {
				few++
			}
			return e.Unit == placeboUnit && few >= leastTrials
		})
		if Analyze([]*profile.Data{d}, Options{}).Points[0].DelayBiased {
			t.Fatalf("seed %d: corrected by less than %d placebos", seed, leastTrials)
		}
	}
	t.Logf("corrected for nothing in %d of %d runs", wrong, sims)
	if 20*wrong > sims {
		t.Error("more than one of twenty")
	}
}
