package ledger

import (
	"math"
	"testing"

	"whatif/bpf"
)

// The rate is the largest part that any time loses, and weights times the rate are what each part loses.
func TestSelection(t *testing.T) {
	both := []FasterUnit{{7, 0.5}, {9, 0.3}}
	disk := Selection{Number: 4, Units: both}
	disk.Waits[WaitDisk] = 0.8
	for _, c := range []struct {
		name      string
		selection Selection
		nested    bool
		rate      float64 // of what is sped up most
	}{
		{"nothing", Selection{}, false, 0},
		{"one unit", Alone(7, 0.25), false, 0.25},
		{"two units", Selection{Number: 3, Units: both}, false, 0.5},
		{"two functions, one in the other", Selection{Number: 3, Units: both}, true, 0.65},
		{"with a wait in a unit", disk, false, 0.9},
		{"all code, and a unit on top", Selection{Number: 5, Units: both[1:], Code: 0.5}, false, 0.65},
	} {
		var p bpf.LedgerControlPage
		c.selection.write(&p, c.nested, true)
		rate := float64(p.Rate) / creditOne
		if math.Abs(rate-c.rate) > 0.001 || p.Scale != p.Rate || p.Selection != c.selection.Number {
			t.Errorf("%s: rate %v, want %v: %+v", c.name, rate, c.rate, p)
		}
		is := func(what string, weight uint32, want float64) {
			if got := float64(weight) / weightOne * rate; math.Abs(got-want) > 0.002 {
				t.Errorf("%s: %s loses %v, want %v", c.name, what, got, want)
			}
		}
		if int(p.SelectedUnits) != len(c.selection.Units) {
			t.Errorf("%s: %d units", c.name, p.SelectedUnits)
		}
		for i, u := range c.selection.Units {
			is("a unit", p.Selected[i].Weight, u.By)
		}
		is("code", p.CodeWeight, c.selection.Code)
		is("the disk", p.WaitWeight[WaitDisk], c.selection.Waits[WaitDisk])
		if c.selection.write(&p, c.nested, false); p.Rate != 0 || float64(p.Scale) != rate*creditOne {
			t.Errorf("%s: a baseline has rate %d and scale %d", c.name, p.Rate, p.Scale)
		}
	}
}

// More units than there is room for do not reach beyond it.
func TestSelectedUnits(t *testing.T) {
	var s Selection
	for unit := range uint32(MaxSelected + 3) {
		s.Units = append(s.Units, FasterUnit{unit + 1, 0.5})
	}
	var p bpf.LedgerControlPage
	if s.write(&p, false, true); int(p.SelectedUnits) != MaxSelected {
		t.Errorf("%d units, there is room for %d", p.SelectedUnits, MaxSelected)
	}
}
