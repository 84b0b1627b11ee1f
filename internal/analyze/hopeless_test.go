package analyze

import (
	"strings"
	"testing"

	"whatif/internal/profile"
)

// A run whose speed-ups end below half has something to say, too.
func TestDoubtWithoutHalf(t *testing.T) {
	for _, c := range []struct {
		levels []int
		pairs  int
		noise  float64
		want   string
	}{
		{[]int{10, 20, 30}, 60, 0.01, ""},
		{[]int{5}, 60, 0.001, ""},
		{[]int{25, 50, 75, 100}, 60, 0.03, ""},
		{[]int{10, 20}, 60, 0.5, "tells little: the best-known gain at 20% has an interval of ±"},
	} {
		w := world{pairs: c.pairs, levels: c.levels, units: []code{{share: 0.6, gain: linear(0.6)}}, noise: c.noise, targets: true}
		r := Analyze([]*profile.Data{w.run(1)}, Options{})
		if got := r.Doubt(); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%v, noise %v: %q", c.levels, c.noise, got)
		}
	}
}

// "However fast it is" is said only of what was tried up to 100%.
func TestNoneUpTo(t *testing.T) {
	for most, want := range map[int]string{25: "up to 25% faster; beyond that was not tried", 100: "however fast it is"} {
		w := world{pairs: 400, levels: []int{most}, units: []code{{share: 0.06, gain: linear(0)}}, noise: 0.005, targets: true}
		e := Analyze([]*profile.Data{w.run(1)}, Options{}).Targets[0].Effects[0]
		if e.Verdict != None || !strings.Contains(e.Reason, want) || e.Reaches() != most {
			t.Errorf("%d%%: %s, %s", most, e.Verdict, e.Reason)
		}
	}
}

// Whatever a name has in it, the text is about that name.
func TestLatencyNamedPercent(t *testing.T) {
	l := Latency{Name: "100%d"}
	l.warn("c", "%d of them", 3)
	if got := l.Warnings[0].Text; got != "latency 100%d: 3 of them" {
		t.Error(got)
	}
}

// Points of one name that were counted at other places are merged, but not silently.
func TestOtherPoint(t *testing.T) {
	w := world{pairs: 5, levels: []int{50}, units: []code{{share: 0.5, gain: linear(0.5)}}, noise: 0.01, targets: true}
	a, b := w.run(1), w.run(2)
	a.Run.Points[0].Spec, b.Run.Points[0].Spec = "func:a", "func:b"
	for runs, want := range map[*profile.Data]int{a: 0, b: 1} {
		n := 0
		for _, w := range Analyze([]*profile.Data{a, runs}, Options{}).Warnings {
			if w.Code == "other-point" {
				n++
				if !strings.Contains(w.Text, "func:a") || !strings.Contains(w.Text, "func:b") {
					t.Error(w.Text)
				}
			}
		}
		if n != want {
			t.Errorf("%d warnings, want %d", n, want)
		}
	}
}

// Records that a newer whatif wrote are mentioned.
func TestNewerRecords(t *testing.T) {
	w := world{pairs: 5, levels: []int{50}, units: []code{{share: 0.5, gain: linear(0.5)}}, targets: true}
	d := w.run(1)
	d.Unknown = 3
	for _, w := range Analyze([]*profile.Data{d}, Options{}).Warnings {
		if w.Code == "newer" && strings.HasPrefix(w.Text, "3 records") {
			return
		}
	}
	t.Error("nothing is said of them")
}

// Where nothing that runs can be sped up, that is why there is no gain, however few visits there are.
func TestDoubtWithoutUnits(t *testing.T) {
	w := world{pairs: 20, levels: []int{50}, units: []code{{share: 0.5, gain: linear(0.5)}}, noise: 0.01}
	d := w.run(1)
	for i := range d.Experiments {
		e := &d.Experiments[i]
		e.Unit, e.Speedup, e.Samples, e.UnitSamples = 0, 0, 100, nil
	}
	r := Analyze([]*profile.Data{d}, Options{})
	if got := r.Doubt(); !strings.Contains(got, "no unit was tried; none of ") {
		t.Errorf("%q", got)
	}
}
