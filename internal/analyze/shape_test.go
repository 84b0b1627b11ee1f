package analyze

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"whatif/internal/plan"
	"whatif/internal/profile"
)

// shapes tallies the names that a shape was given.
type shapes struct {
	named map[Shape]int
	runs  int
	place tally // of ShapeAt, as an interval of ±15
}

func (s *shapes) percent(names ...Shape) float64 {
	n := 0
	for _, name := range names {
		n += s.named[name]
	}
	return 100 * float64(n) / float64(s.runs)
}

// TestShapes counts the names that curves of known shapes are given, and prints the table (go test
// -v). Good data should give the right name, and even bad data hardly ever a wrong one.
func TestShapes(t *testing.T) {
	sims := 40
	if !testing.Short() {
		sims = 300
	}
	if n, err := strconv.Atoi(os.Getenv("WHATIF_SIMS")); err == nil {
		sims = n
	}
	quarters := []int{25, 50, 75, 100}
	var table strings.Builder
	fmt.Fprintf(&table, "%-22s %-34s %7s %7s %8s %6s %9s   %s\n",
		"named, percent", "", "linear", "plateau", "peak", "down", "none", "at")
	for _, truth := range []struct {
		name string
		is   Shape
		at   float64
		gain func(float64) float64
	}{
		{"linear", Linear, 0, linear(0.5)},
		{"flat from 40%", Plateau, 40, plateau(0.6, 0.24)},
		{"flat from 65%", Plateau, 65, plateau(0.4, 0.26)},
		{"peak at 40%", Peak, 40, peak(0.2)},
		{"downward", Downward, 0, linear(-0.2)},
		{"none", "", 0, linear(0)},
		{"bent, but not flat", "", 0, func(s float64) float64 { return math.Min(0.6*s, 0.12+0.3*s) }},
	} {
		for _, data := range []struct {
			name  string
			clear bool // enough to name every shape
			world world
		}{
			{"100 pairs, noise 1%", true, world{pairs: 100, levels: quarters, noise: 0.01, targets: true}},
			{"100 pairs, noise 3%", true, world{pairs: 100, levels: quarters, noise: 0.03, targets: true}},
			{"100 pairs, 3%, all levels", false, world{pairs: 100, noise: 0.03, targets: true}},
			{"100 pairs, 10%, as planned",
				false, world{pairs: 100, noise: 0.10, tails: 4, outliers: 0.03, targets: true, plan: plan.New, deaf: true}},
			{"400 pairs, 10%, as planned",
				false, world{pairs: 400, noise: 0.10, tails: 4, outliers: 0.03, targets: true, plan: plan.New, deaf: true}},
			{"20 pairs, 3%", false, world{pairs: 20, levels: quarters, noise: 0.03, targets: true}},
		} {
			w := data.world
			w.units = []code{{share: 0.6, gain: truth.gain}}
			s := shapes{named: map[Shape]int{}}
			for i := range sims {
				res := Analyze([]*profile.Data{w.run(uint64(i))}, Options{Simulated: true})
				e := &res.Targets[0].Effects[0]
				s.runs++
				s.named[e.Shape]++
				if e.Shape == truth.is && truth.at > 0 {
					s.place.add(Estimate{Value: float64(e.ShapeAt), Low: float64(e.ShapeAt) - 15, High: float64(e.ShapeAt) + 15,
						Bounded: true}, truth.at)
				}
			}
			right, wrong := s.percent(truth.is), 100-s.percent(truth.is, "")
			if truth.is == "" {
				right, wrong = 100, wrong-s.percent(Downward) // "downward" is here a wrong verdict, not a wrong shape
			}
			if data.clear && right < 90 {
				t.Errorf("%s, %s: named so in %.1f%%, want 90 or more", truth.name, data.name, right)
			}
			if wrong > 5 {
				t.Errorf("%s, %s: wrongly named in %.1f%%, want 5 or less", truth.name, data.name, wrong)
			}
			at := ""
			if s.place.n > 0 {
				at = s.place.String()
				if x := s.place.coverage(); s.place.n >= 20 && x < 80 {
					t.Errorf("%s, %s: within 15 of where it is in %.1f%%", truth.name, data.name, x)
				}
			}
			fmt.Fprintf(&table, "%-22s %-34s %7.1f %7.1f %8.1f %6.1f %9.1f   %s\n", truth.name, data.name, s.percent(Linear),
				s.percent(Plateau), s.percent(Peak), s.percent(Downward), s.percent(""), at)
		}
	}
	t.Logf("%d simulations of each; at: within 15, mean error, root mean square error\n%s", sims, table.String())
}
