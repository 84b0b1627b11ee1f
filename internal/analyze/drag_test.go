package analyze

import (
	"slices"
	"testing"

	"whatif/internal/profile"
)

// dragging is what code seems to gain that takes such a share of the time, where delays for nothing seem to gain so much of what they
// take; soon says that what is dragged is this code itself, by the clock.
func dragging(share, nothing float64, soon bool, gain func(s float64) float64) func(s float64) float64 {
	return func(s float64) float64 {
		delay := share * s
		if soon {
			delay *= 1 - s
		}
		return 1 - (1-gain(s))*(1-nothing*delay)
	}
}

// What delays do by themselves is taken off from gains, if placebos tell it surely, and what remains is the truth.
func TestDrag(t *testing.T) {
	const share = 0.5
	truth := linear(0.3)
	for _, test := range []struct {
		name    string
		nothing float64
		soon    bool
	}{
		{"delays cost something", -0.6, false},
		{"delays cost less the faster the code is", -0.6, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			sims := simulations(200)
			held, of, told := 0, 0, 0
			for seed := range uint64(sims) {
				w := world{pairs: 60, levels: []int{25, 50, 75, 100}, noise: 0.02, units: []code{
					{share: share, gain: dragging(share, test.nothing, test.soon, truth)}, {share: 0.4, gain: linear(0.4 * test.nothing)}}}
				d := w.run(seed)
				becomePlacebo(d)
				for i := range d.Experiments {
					if e := &d.Experiments[i]; e.Unit == 1 && test.soon {
						e.TooSoon = e.UnitSamples[1]
					}
				}
				r := Analyze([]*profile.Data{d}, Options{Simulated: true})
				if !r.Points[0].Dragged {
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
			if 10*held < 9*of {
				t.Error("less than 9 of 10 intervals hold the truth")
			}
		})
	}
}

// Without a drag, or with too few placebos to tell one, nothing is corrected.
func TestNoDrag(t *testing.T) {
	sims := simulations(200)
	wrong := 0
	for seed := range uint64(sims) {
		w := world{pairs: 60, levels: []int{25, 50, 75, 100}, noise: 0.02,
			units: []code{{share: 0.5, gain: linear(0.3)}, {share: 0.4, gain: linear(0)}}}
		d := w.run(seed)
		becomePlacebo(d)
		if Analyze([]*profile.Data{d}, Options{}).Points[0].Dragged {
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
		if Analyze([]*profile.Data{d}, Options{}).Points[0].Dragged {
			t.Fatalf("seed %d: corrected by less than %d placebos", seed, leastTrials)
		}
	}
	t.Logf("corrected for nothing in %d of %d runs", wrong, sims)
	if 20*wrong > sims {
		t.Error("more than one of twenty")
	}
}
