package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"whatif/accuracy/internal/rig"
)

// Targets of this study, in percent and percentage points.
const (
	largeShare = 3.0 // of the CPU time, from which a unit counts as large
	leastShare = 0.5 // from which a unit is tested: of smaller ones a minute of experiments says nothing
	mostOff    = 4.0 // between an estimate and the experiments
	fewestHeld = 28.0 / 30
	fewUnits   = 100 // a program of fewer units says little
	// An estimate is narrow if half of its interval is at most this, or this part of the unit's share.
	narrow, narrowPart = 1.0, 0.2
	leastNarrow        = 90.0 // percent of the CPU time in units with a narrow estimate
)

// levels are the speed-ups at which estimates and experiments are compared.
var levels = []int{50, 100}

// unit is a unit of a program, with its estimates and, once it was tested, the experiments'.
type unit struct {
	built  *built
	target rig.ReportTarget
	point  rig.ReportPoint // what the recording says
	tested rig.ReportPoint // what experiments say
}

// half is half of the estimate's interval at 100%; NaN: there is none.
func (u *unit) half() float64 {
	l, ok := rig.At(u.point.Estimate, 100)
	if !ok {
		return math.NaN()
	}
	return (l.CI[1] - l.CI[0]) / 2
}

// off is the mean distance between the estimate and the experiments over the levels; NaN: one of them is not known.
func (u *unit) off() float64 {
	sum := 0.0
	for _, level := range levels {
		e, ok := rig.At(u.point.Estimate, level)
		t, known := rig.At(u.tested.Curve, level)
		if !ok || !known {
			return math.NaN()
		}
		sum += math.Abs(e.Gain-t.Gain) / float64(len(levels))
	}
	return sum
}

// draw draws n units without replacement, with probabilities that are proportional to their shares: large of them from
// those that are large, the others from the rest (Efraimidis and Spirakis, Inf. Process. Lett. 97, 2006: the n with the
// largest log(random)/weight). If one of the two has too few units, the other one gives more.
func draw(all []unit, n, large int, random *rand.Rand) []unit {
	type ticket struct {
		unit unit
		key  float64
	}
	var groups [2][]ticket
	for _, u := range all {
		if !(u.target.Share >= leastShare) || u.target.Spec() == "" {
			continue
		}
		g := 1
		if u.target.Share >= largeShare {
			g = 0
		}
		groups[g] = append(groups[g], ticket{u, math.Log(1-random.Float64()) / u.target.Share})
	}
	for _, g := range groups {
		slices.SortStableFunc(g, func(a, b ticket) int { return cmp.Compare(b.key, a.key) })
	}
	first := min(max(large, n-len(groups[1])), len(groups[0]))
	second := min(n-first, len(groups[1]))
	var drawn []unit
	for _, t := range slices.Concat(groups[0][:first], groups[1][:second]) {
		drawn = append(drawn, t.unit)
	}
	return drawn
}

// coverage says where a program's CPU time is, in percent: in units with a narrow estimate, with a wider one, with
// none, and in code that has too little of the time for an estimate.
type coverage struct {
	narrow, wide, refused, small float64
	widest                       string // of the units that are not narrow, the one with most of the time
	reason                       string // of a refusal
}

func coverageOf(units []unit) coverage {
	c := coverage{small: 100}
	most := 0.0
	for i := range units {
		u := &units[i]
		share, half := u.target.Share, u.half()
		c.small = max(0, c.small-share)
		switch {
		case math.IsNaN(half):
			c.refused += share
			c.reason = cmp.Or(c.reason, u.point.Refused)
		case half <= max(narrow, narrowPart*share):
			c.narrow += share
		default:
			c.wide += share
			if share > most {
				most = share
				c.widest = fmt.Sprintf("%s (%.1f%%) has ±%.1f", u.target.Name, share, half)
			}
		}
	}
	return c
}

// verdict is the coverage in a line, and whether its target is held. seen is the number of units with a sample.
func (c *coverage) verdict(program string, seen int) (line string, held bool) {
	held = c.narrow >= leastNarrow && seen >= fewUnits
	word := "held"
	if !held {
		word = fmt.Sprintf("missed by %.1f", leastNarrow-c.narrow)
		if seen < fewUnits {
			word = fmt.Sprintf("missed: %d units are needed", fewUnits)
		}
	}
	line = fmt.Sprintf("%s: %d units; of the CPU time %.1f%% in units with a narrow estimate, at least %g wanted: %s; "+
		"%.1f%% in wider ones, %.1f%% refused, %.1f%% in units that are too small for a row", program, seen, c.narrow,
		leastNarrow, word, c.wide, c.refused, c.small)
	if c.widest != "" {
		line += "; " + c.widest
	}
	if c.reason != "" {
		line += "; refused: " + c.reason
	}
	return line, held
}

// agreement says in a line how many of the tested units agree, and whether that is enough.
func agreement(tested []unit) (line string, held bool) {
	agree, worst := 0, 0.0
	for i := range tested {
		if off := tested[i].off(); off <= mostOff {
			agree++
		} else if !math.IsNaN(off) {
			worst = max(worst, off)
		}
	}
	need := int(math.Ceil(fewestHeld * float64(len(tested))))
	word := "held"
	if held = len(tested) > 0 && agree >= need; !held {
		word = fmt.Sprintf("missed by %d", need-agree)
	}
	line = fmt.Sprintf("estimates within %g points of experiments: %d of %d units, at least %d wanted: %s", mostOff, agree,
		len(tested), need, word)
	if worst > 0 {
		line += fmt.Sprintf("; the worst is %.1f points off", worst)
	}
	return line, held
}
