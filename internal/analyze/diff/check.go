package diff

import (
	"fmt"

	"whatif/internal/analyze"
)

// CheckLeast says whether the program gained at least limit percent at some point. An empty name
// stands for all points.
func (c *Comparison) CheckLeast(limit float64, point string) analyze.Finding {
	what, other := fmt.Sprintf("gained %.4g%%", limit), fmt.Sprintf("gained less than %.4g%%", limit)
	return c.check(point, what, other, false,
		func(e analyze.Estimate) bool { return e.Low >= limit }, func(e analyze.Estimate) bool { return e.High < limit })
}

// CheckLoss says whether the program lost more than limit percent at any point. An empty name stands
// for all points.
func (c *Comparison) CheckLoss(limit float64, point string) analyze.Finding {
	what, other := fmt.Sprintf("lost no more than %.4g%%", limit), fmt.Sprintf("lost more than %.4g%%", limit)
	return c.check(point, what, other, true,
		func(e analyze.Estimate) bool { return e.Low >= -limit }, func(e analyze.Estimate) bool { return e.High < -limit })
}

// check asks of every point (or of any) whether a limit certainly holds or certainly fails, with the
// intervals that hold for all points together. One run of each side is never enough to be certain.
func (c *Comparison) check(point, what, other string, every bool, holds, fails func(analyze.Estimate) bool,
) analyze.Finding {
	var asked []*PointChange
	for i := range c.Points {
		if point == "" || c.Points[i].Name == point {
			asked = append(asked, &c.Points[i])
		}
	}
	var yes, no, unknown []string
	single := false
	for _, p := range asked {
		gain := p.change.gain(analyze.Alpha / float64(len(asked)))
		switch {
		case !p.Gain.Bounded || !p.BetweenRuns:
			unknown = append(unknown, p.Name)
			single = single || p.Gain.Known && !p.BetweenRuns
		case holds(gain):
			yes = append(yes, p.Name)
		case fails(gain):
			no = append(no, p.Name)
		default:
			unknown = append(unknown, p.Name)
		}
	}
	of := func(names []string) string {
		if len(names) == 1 {
			return names[0]
		}
		return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
	}
	switch {
	case len(asked) == 0:
		return analyze.Finding{Answer: analyze.NotSure, Text: "no point to compare"}
	case every && len(no) > 0:
		return analyze.Finding{Answer: analyze.Fails, Text: of(no) + " has " + other + " (95%)"}
	case !every && len(yes) > 0:
		return analyze.Finding{Answer: analyze.Holds, Text: of(yes) + " has " + what + " (95%)"}
	case len(unknown) > 0:
		text := "whether " + of(unknown) + " has " + what + " is not certain"
		if single {
			text += ": one run of each tells nothing of how runs differ; add runs to both"
		}
		return analyze.Finding{Answer: analyze.NotSure, Text: text}
	case every:
		return analyze.Finding{Answer: analyze.Holds, Text: of(yes) + " has " + what + " (95%)"}
	}
	return analyze.Finding{Answer: analyze.Fails, Text: of(no) + " has " + other + " (95%)"}
}
