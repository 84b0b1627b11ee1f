package ledger

import (
	"math"

	"whatif/bpf"
)

// A Selection is what an experiment speeds up, each by a part of its time: units of code, classes of waiting, and all
// code. What is sped up for two reasons is so on top of each other: of what the first leaves, the second takes its
// part.
type Selection struct {
	// Number tells selections apart: of threads something else is learned for each. 0: nothing is learned. The number
	// of a unit is also that of the selection of this unit alone.
	Number uint32
	Units  []FasterUnit
	Waits  [bpf.LedgerWaitClassWAIT_CLASSES]float64
	Code   float64 // all time on a core
}

// FasterUnit is a unit and the part of its time that is gone.
type FasterUnit struct {
	Unit uint32
	By   float64
}

// Alone is the selection of one unit.
func Alone(unit uint32, by float64) Selection {
	if unit == 0 {
		return Selection{}
	}
	return Selection{Number: unit, Units: []FasterUnit{{unit, by}}}
}

// MaxSelected is how many units can be sped up at once.
const MaxSelected = int(bpf.LedgerLimitMAX_SELECTED)

// creditOne and weightOne are 1 as rates and as weights have it.
const (
	creditOne = float64(bpf.LedgerSharedNumberNUMBER_CREDIT_ONE)
	weightOne = float64(bpf.LedgerSharedNumberNUMBER_WEIGHT_ONE)
)

// OnTop is the part of its time that something loses if two causes take a part of it each.
func OnTop(a, b float64) float64 { return a + b - a*b }

// most is the largest part that any time loses. nested: a sample can be in several units.
func (s *Selection) most(nested bool) float64 {
	unit, wait := 0.0, 0.0
	for _, u := range s.Units {
		if nested {
			unit = OnTop(unit, u.By)
		} else {
			unit = max(unit, u.By)
		}
	}
	for _, by := range s.Waits {
		wait = max(wait, by)
	}
	return OnTop(unit, max(wait, s.Code))
}

// write writes the selection into the control page. speeds: it is sped up; else it is what may be next.
func (s *Selection) write(c *bpf.LedgerControlPage, nested, speeds bool) {
	most := s.most(nested)
	weight := func(by float64) uint32 {
		if most == 0 {
			return 0
		}
		return uint32(math.Round(weightOne * by / most))
	}
	c.Selection = s.Number
	c.SelectedUnits = uint32(min(len(s.Units), MaxSelected))
	for i, u := range s.Units[:c.SelectedUnits] {
		c.Selected[i].Unit, c.Selected[i].Weight = u.Unit, weight(u.By)
	}
	c.CodeWeight = weight(s.Code)
	for i, by := range s.Waits {
		c.WaitWeight[i] = weight(by)
	}
	scale := uint64(math.Round(creditOne * most))
	store(&c.Scale, scale)
	if !speeds {
		scale = 0
	}
	store(&c.Rate, scale)
}
