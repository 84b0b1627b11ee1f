package experiment

import (
	"fmt"
	"testing"

	"whatif/internal/analyze"
	"whatif/internal/demo"
	"whatif/internal/profile"
	"whatif/internal/realkernel"
)

// Predictions are not nonsense: of the demo's program line B is worth nothing and line
// C something. How good they are is for accuracy/ to say, on a quiet machine.
func TestDemoIsPredicted(t *testing.T) {
	realkernel.Need(t)
	lines := demo.Truth()
	b, c := lines[1], lines[2]
	if b.Gain(100) != 0 {
		t.Skip("a single CPU: line B is worth something")
	}
	program := append([]string{realkernel.Whatif(t)}, demo.Command()[1:]...)
	const terminated = 128 + 15
	data, _ := profiled(t, []string{"-p", "round=" + demo.Point(), "-t", b.Name, "-t", c.Name, "-s", "50,100", "-d", "8s"}, program, terminated)
	if share := foreignShare(data); share > 0.1 {
		t.Skipf("others used %.0f%% of the machine: what the demo gains then is not what it gains alone", 100*share)
	}
	result := analyze.Analyze([]*profile.Data{data}, analyze.Options{})
	gain := func(line demo.Line) analyze.Estimate {
		for _, target := range result.Targets {
			if target.Unit.Name == line.Name && len(target.Effects) == 1 {
				if g, ok := target.Effects[0].At(100); ok {
					return g
				}
			}
		}
		t.Fatalf("nothing was found of %s in %d targets, %d experiments", line.Name, len(result.Targets), result.Experiments)
		return analyze.Estimate{}
	}
	say := func(g analyze.Estimate) string { return fmt.Sprintf("%.1f [%.1f, %.1f]", g.Value, g.Low, g.High) }
	gainB, gainC := gain(b), gain(c)
	t.Logf("B at 100%%: %s, truth 0; C at 100%%: %s, truth %.0f; losses %v", say(gainB), say(gainC), c.Gain(100), data.End.Losses)
	// Where the machine is so busy that nothing can be said, the interval says so.
	if (gainB.Value < -12 || gainB.Value > 12) && (gainB.Low > 2 || gainB.High < -2) {
		t.Errorf("line B at 100%%: a gain of %s, the truth is 0", say(gainB))
	}
	if gainC.Value <= 0 && gainC.High < c.Gain(100) {
		t.Errorf("line C at 100%%: a gain of %s, the truth is %.0f", say(gainC), c.Gain(100))
	}
}

// foreignShare is the part of the machine that tasks outside the target used.
func foreignShare(data *profile.Data) float64 {
	var foreign, all int64
	for _, e := range data.Experiments {
		foreign += e.ForeignNS
		all += e.RealNS * int64(data.Run.CPUs)
	}
	return float64(foreign) / float64(max(all, 1))
}

// delays is for how long all was delayed, and how long that took in all: in baselines, by ticks and visits, and where something was sped up.
func delays(data *profile.Data) (delay, took [2]float64) {
	for i := range data.Experiments {
		e := &data.Experiments[i]
		which := 1
		if e.IsBaseline() {
			which = 0
		} else if data.IsPlacebo(e) {
			continue
		}
		delay[which] += float64(e.DelayNS)
		took[which] += float64(e.RealNS)
	}
	return delay, took
}
