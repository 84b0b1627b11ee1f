package analyze

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestCoverageGrid crosses the conditions that TestCoverage looks at one by one: noise of a window,
// drift of the machine's speed, phases, and few visits. It prints the grid (go test -v), and
// asserts that the 95% intervals of slopes and of single levels hold the truth in 93 to 97% of the
// cases, as TestCoverage does.
func TestCoverageGrid(t *testing.T) {
	if testing.Short() {
		t.Skip("half a minute of simulation")
	}
	sims := orAsked(400)
	var table strings.Builder
	fmt.Fprintf(&table, "%-24s %-10s %-10s %-16s %-24s %s\n",
		"phases", "noise", "drift a s", "visits a window", "slope x 100", "gain from one level")
	for _, phases := range []struct {
		name string
		on   func(float64) bool
	}{{"none", nil}, {"2 s of 6 s", cycle(6, 2)}, {"random, 2 s of 6 s", telegraph(2, 4)}, {"random, 0.1 s of 0.3 s",
		telegraph(0.1, 0.2)}} {
		t.Run(phases.name, func(t *testing.T) {
			for _, noise := range []float64{0.005, 0.03, 0.1} {
				for _, drift := range []float64{0, 0.05, 0.2} {
					for _, rate := range []float64{1000, 50} {
						w := world{pairs: 50, levels: []int{25, 50, 75, 100}, units: []code{{share: 0.6, gain: linear(0.6)}},
							noise: noise, drift: drift, targets: true}
						visits := "200"
						if rate < 100 {
							w.rate, w.chance = rate, true
							visits = "10, Poisson"
						}
						if phases.on != nil {
							w.pairs, w.targets = 150, false
							w.units[0].on = phases.on
							for range 4 {
								w.units = append(w.units, code{share: 0.05, gain: linear(0)})
							}
						}
						c := simulate(w, sims)
						name := fmt.Sprintf("%-24s %-10s %-10s %-16s",
							phases.name, fmt.Sprintf("%.1f%%", 100*noise), fmt.Sprintf("%.0f%%", 100*drift), visits)
						fmt.Fprintf(&table, "%s %-24v %v\n", name, &c.slope, &c.raw)
						// Regular phases with little noise are known better than random ones.
						wide := phases.name == "2 s of 6 s" && noise < 0.01
						c.slope.within(t, name+": the slope", sims, wide)
						c.raw.within(t, name+": the level", sims, wide)
					}
				}
			}
		})
	}
	t.Logf("%d simulations of each, known to ±%.1f; mean error, root mean square error and half width in points\n%s",
		sims, 100*math.Sqrt(0.05*0.95/float64(sims)), table.String())
}
