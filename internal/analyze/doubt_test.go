package analyze

import (
	"strings"
	"testing"

	"whatif/internal/profile"
)

// TestDoubtWithoutHalf: a run with speed-ups below half only is judged at its largest speed-up.
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
		w := world{pairs: c.pairs, levels: c.levels, units: []code{{share: 0.6, gain: linear(0.6)}}, noise: c.noise,
			targets: true}
		r := Analyze([]*profile.Data{w.run(1)}, Options{})
		if got := r.Doubt(); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%v, noise %v: %q", c.levels, c.noise, got)
		}
	}
}

// TestNoneUpTo: "However fast it is" is said only of units that were tried up to 100%.
func TestNoneUpTo(t *testing.T) {
	for most, want := range map[int]string{25: "up to 25% faster; beyond that was not tried", 100: "however fast it is"} {
		w := world{pairs: 400, levels: []int{most}, units: []code{{share: 0.06, gain: linear(0)}}, noise: 0.005,
			targets: true}
		e := Analyze([]*profile.Data{w.run(1)}, Options{}).Targets[0].Effects[0]
		if e.Verdict != None || !strings.Contains(e.Reason, want) || e.LargestSpeedup() != most {
			t.Errorf("%d%%: %s, %s", most, e.Verdict, e.Reason)
		}
	}
}

// TestLatencyNamedPercent: a name with percent signs is no format.
func TestLatencyNamedPercent(t *testing.T) {
	l := Latency{Name: "100%d"}
	l.warn("c", "%d of them", 3)
	if got := l.Warnings[0].Text; got != "latency 100%d: 3 of them" {
		t.Error(got)
	}
}

// TestOtherPoint: points of one name at different places are merged, with a warning.
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

// TestNewerRecords: records of a newer whatif are mentioned.
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

// TestDoubtWithoutUnits: if no running code can be sped up, this is the reason for the lack of
// gains, even if visits are few too.
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

// With -s 0 a user wants to see rates, and is not told that the run failed.
func TestCountedOnly(t *testing.T) {
	r := &Result{Runs: []RunFacts{{Run: &profile.Run{Speedups: []int{0}}}}}
	if got := r.Doubt(); !strings.Contains(got, "-s 0") {
		t.Error(got)
	}
	r.Runs = append(r.Runs, RunFacts{Run: &profile.Run{Speedups: []int{0, 50}}})
	if r.CountedOnly() {
		t.Error("a run with speed-ups does not only count")
	}
}
