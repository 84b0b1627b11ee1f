package noise

import (
	"math"
	"strings"
	"testing"
)

// TestDecide: the mean of all measurements is judged. Two right ones outweigh one that is far off;
// three that are wrong the same way stay wrong.
func TestDecide(t *testing.T) {
	for _, test := range []struct {
		values []float64 // of the measurements; the last one repeats
		half   float64
		seen   Seen
		later  *Seen // of all but the first measurement; nil: the same
		times  int
		words  string
	}{
		{values: []float64{10}, times: 1},
		{values: []float64{10}, seen: loud, times: 1},
		{values: []float64{math.NaN()}, times: 1, words: "wrong: a gain is NaN"},
		{values: []float64{22, 10}, times: 3},
		{values: []float64{90, 10}, times: 3, words: "wrong: a gain is 36.7"},
		{values: []float64{90}, times: 3, words: "wrong: a gain is 90"},
		{values: []float64{90}, seen: loud, times: 3, words: "not judged: too noisy: a gain is 90"},
		// Noise that comes later does not excuse what was wrong on a quiet machine.
		{values: []float64{17}, later: &busy, times: 3, words: "wrong: a gain is 17"},
		{values: []float64{90}, half: 1, times: 3, words: "not judged: too noisy: a gain is 90"},
	} {
		var all []Measured
		for {
			f := Around("a gain", test.values[min(len(all), len(test.values)-1)], 10, 5)
			f.Half, f.Usual = test.half, 0.01
			seen := test.seen
			if len(all) > 0 && test.later != nil {
				seen = *test.later
			}
			all = append(all, Measured{[]Figure{f}, seen})
			_, v, words, again := Decide(all)
			if again {
				continue
			}
			if len(all) != test.times || !strings.Contains(words, test.words) || (v == Right) != (test.words == "") {
				t.Errorf("%+v: %v after %d: %s", test, v, len(all), words)
			}
			break
		}
	}
}

// TestPooled: means are known better than single values; a measurement on a machine that was too
// noisy does not count.
func TestPooled(t *testing.T) {
	one := Measured{[]Figure{{Name: "a", Value: 10, Half: 3, Low: 1, High: 2}}, quiet}
	other := Measured{[]Figure{{Name: "a", Value: 20, Half: 4, Low: 1, High: 2}}, busy}
	got := Pooled([]Measured{one, other})
	if want := (Figure{Name: "a", Value: 15, Half: 2.5, Low: 1, High: 2}); got.Figures[0] != want ||
		got.Seen != quiet {
		t.Errorf("%+v", got)
	}
	other.Seen = loud
	if got := Pooled([]Measured{other, one}); got.Figures[0] != one.Figures[0] || got.Seen != quiet {
		t.Errorf("%+v", got)
	}
	if got := Pooled([]Measured{other}); got.Figures[0] != other.Figures[0] {
		t.Errorf("%+v", got)
	}
}

// TestDecideEach: the last measurement alone is judged. A wrong one is wrong at once, and right ones before it do not
// help.
func TestDecideEach(t *testing.T) {
	measured := func(value float64, seen Seen) Measured {
		return Measured{[]Figure{Around("a gain", value, 10, 5)}, seen}
	}
	for _, test := range []struct {
		all   []Measured
		v     Verdict
		again bool
	}{
		{[]Measured{measured(10, quiet)}, Right, false},
		{[]Measured{measured(90, quiet)}, Wrong, false},
		{[]Measured{measured(90, loud)}, NotJudged, true},
		{[]Measured{measured(90, loud), measured(10, quiet)}, Right, false},
		{[]Measured{measured(10, loud), measured(17, quiet)}, Wrong, false},
		{[]Measured{measured(90, loud), measured(90, loud), measured(90, loud)}, NotJudged, false},
	} {
		if _, v, words, again := DecideEach(test.all); v != test.v || again != test.again {
			t.Errorf("%+v: %v (%s), again %v", test.all, v, words, again)
		}
	}
}
