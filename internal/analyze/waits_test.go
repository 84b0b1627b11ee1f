package analyze

import (
	"slices"
	"strings"
	"testing"
)

// Waiting that is of no line's is told, if it is much, and may be worth something.
func TestWaitsElsewhere(t *testing.T) {
	w := world{pairs: 10, noise: 0.01, units: []code{{share: 0.6, gain: linear(0.6)}}}
	for _, c := range []struct {
		class       string
		all, inLine float64 // of the time
		kind        string
		want        bool
	}{
		{"net", 1.9, 0.1, "line", true},
		{"disk", 0.5, 0, "line", true},
		{"net", 1.9, 1.8, "line", false},
		{"sleep", 2, 0, "line", false},
		{"lock", 2, 0, "line", false},
		{"net", 1.9, 0, "func", false},
	} {
		d := w.run(17)
		d.Run.Waiting = []string{"disk", "net", "sleep"}
		for id, u := range d.Units {
			u.Kind = c.kind
			d.Units[id] = u
		}
		for i := range d.Experiments {
			e := &d.Experiments[i]
			e.WaitedNS = map[string]int64{c.class: int64(c.all * float64(e.RealNS))}
			e.UnitWaitedNS = map[uint32]map[string]int64{1: {c.class: int64(c.inLine * float64(e.RealNS))}}
		}
		res, _ := effect(t, d)
		if got := slices.Contains(codes(res.Warnings), "waits-elsewhere"); got != c.want {
			t.Errorf("%v: told %v", c, got)
		}
		for _, warning := range res.Warnings {
			if warning.Code == "waits-elsewhere" && !strings.Contains(warning.Text, "-t wait:"+c.class) {
				t.Errorf("%v: %s", c, warning.Text)
			}
		}
	}
}
