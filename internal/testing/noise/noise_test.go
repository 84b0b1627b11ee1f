package noise

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

var (
	quiet = Seen{Foreign: 0.01, Steal: 0.005, Spread: 0.02}
	busy  = Seen{Foreign: 0.05, Steal: 0.01, Spread: 0.05} // 1.5 times what is usual
	loud  = Seen{Foreign: 0.2, Spread: 0.4}
)

func TestWiden(t *testing.T) {
	for _, test := range []struct {
		seen Seen
		want float64
	}{{Seen{}, 1}, {quiet, 1}, {busy, 1.5}, {Seen{Spread: 0.09}, 1.5}, {Seen{Steal: 0.08}, 2}, {loud, 20. / 3}} {
		if got := test.seen.Widen(); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%+v widens by %g, want %g", test.seen, got, test.want)
		}
	}
	if got := quiet.Or(loud); got != (Seen{0.2, 0.005, 0.4}) {
		t.Errorf("%+v", got)
	}
}

func TestJudge(t *testing.T) {
	for _, test := range []struct {
		value, half, usual float64
		seen               Seen
		want               Verdict
	}{
		{value: 29, seen: quiet, want: Right},
		{value: 29, seen: loud, want: Right},
		{value: 41, seen: quiet, want: Wrong},
		{value: 44, seen: busy, want: Right}, // 15 to 45
		{value: 46, seen: busy, want: Wrong},
		{value: 46, seen: loud, want: NotJudged},
		{value: 44, half: 3, usual: 2, seen: quiet, want: Right},
		{value: 46, half: 3, usual: 2, seen: quiet, want: Wrong},
		{value: 46, half: 5, usual: 2, seen: quiet, want: NotJudged},
		{value: 46, half: math.Inf(1), usual: 2, seen: quiet, want: NotJudged},
		{value: 49, half: 4, usual: 2, seen: quiet, want: Right}, // twice, and no more: 10 to 50
		{value: 51, half: 4, usual: 2, seen: quiet, want: Wrong},
		{value: math.NaN(), seen: quiet, want: Wrong},
		{value: math.NaN(), half: math.NaN(), usual: 1, seen: quiet, want: NotJudged},
	} {
		f := Figure{Name: "a gain", Value: test.value, Low: 20, High: 40, Half: test.half, Usual: test.usual}
		if got, words := Judge(f, test.seen); got != test.want || !strings.HasPrefix(words, "a gain is ") {
			t.Errorf("%+v: %v (%s), want %v", test, got, words, test.want)
		}
	}
}

// TestJudgeOneLimit: a single limit is not widened, and with too much noise nothing is judged by
// it.
func TestJudgeOneLimit(t *testing.T) {
	for _, test := range []struct {
		value float64
		seen  Seen
		want  Verdict
	}{{300, quiet, Right}, {1e9, loud, Right}, {299, busy, Wrong}, {299, loud, NotJudged}} {
		f := Figure{Name: "requests", Value: test.value, Low: 300, High: math.Inf(1)}
		if got, words := Judge(f, test.seen); got != test.want {
			t.Errorf("%+v: %v (%s)", test, got, words)
		}
	}
}

func TestAll(t *testing.T) {
	right, wrong := Around("one", 5, 5, 1), Around("two", 8, 5, 1)
	if v, words := All([]Figure{right, right}, quiet); v != Right || words != "" {
		t.Errorf("%v, %q", v, words)
	}
	if v, words := All([]Figure{wrong, right}, quiet); v != Wrong || !strings.HasPrefix(words, "wrong: two is 8") {
		t.Errorf("%v, %q", v, words)
	}
	v, words := All([]Figure{wrong, right}, loud)
	if v != NotJudged || !strings.Contains(words, "not judged: too noisy: two is 8") {
		t.Errorf("%v, %q", v, words)
	}
}

// suite are predictions with the errors and half widths of the suite's table (accuracy/RESULTS.md),
// plus normal noise of some times those half widths.
func suite(rng *rand.Rand, times float64, seen Seen) []Prediction {
	recorded := []Prediction{
		{Program: "barrier", Level: 25, Predicted: 24.4, Truth: 24.0, PredictedHalf: 0.8, TruthHalf: 1.5},
		{Program: "barrier", Level: 75, Predicted: 32.8, Truth: 33.9, PredictedHalf: 0.9, TruthHalf: 1.0},
		{Program: "timed_lock", Level: 25, Predicted: 19.9, Truth: 19.4, PredictedHalf: 0.6, TruthHalf: 0.9},
		{Program: "timed_lock", Level: 75, Predicted: 59.7, Truth: 59.5, PredictedHalf: 0.7, TruthHalf: 0.9},
		{Program: "spin", Level: 25, Predicted: 16.5, Truth: 17.0, PredictedHalf: 0.5, TruthHalf: 1.1},
		{Program: "spin", Level: 75, Predicted: 49.4, Truth: 50.1, PredictedHalf: 0.6, TruthHalf: 0.2},
		{Program: "sleep_barrier", Level: 25, Predicted: 25.5, Truth: 24.3, PredictedHalf: 0.7, TruthHalf: 0.4},
		{Program: "sleep_barrier", Level: 75, Predicted: 41.4, Truth: 41.5, PredictedHalf: 0.8, TruthHalf: 1.1},
		{Program: "fork_pipe", Level: 25, Predicted: 24.6, Truth: 25.0, PredictedHalf: 0.6, TruthHalf: 1.1},
		{Program: "fork_pipe", Level: 75, Predicted: 39.0, Truth: 39.9, PredictedHalf: 0.8, TruthHalf: 0.1},
		{Program: "go_channels", Level: 25, Predicted: 24.5, Truth: 24.7, PredictedHalf: 0.6, TruthHalf: 0.8},
		{Program: "go_channels", Level: 75, Predicted: 40.0, Truth: 39.5, PredictedHalf: 0.8, TruthHalf: 0.4},
	}
	for i := range recorded {
		p := &recorded[i]
		p.Seen = seen
		p.PredictedHalf, p.TruthHalf = times*p.PredictedHalf, times*p.TruthHalf
		p.Predicted += rng.NormFloat64() * p.PredictedHalf / 1.96
		p.Truth += rng.NormFloat64() * p.TruthHalf / 1.96
	}
	return recorded
}

// TestTogether: right predictions pass on a quiet machine and on a noisy one, and where they scatter
// more still they are not judged. An error of 6 points passes nowhere: neither if all are off the same
// way, nor if every other program is off the other way.
func TestTogether(t *testing.T) {
	const tries = 400
	broken := map[string]func(i int, p *Prediction){
		"nothing":    func(int, *Prediction) {},
		"all more":   func(_ int, p *Prediction) { p.Predicted += 6 },
		"all less":   func(_ int, p *Prediction) { p.Predicted -= 6 },
		"both ways":  func(i int, p *Prediction) { p.Predicted += []float64{6, -6}[i/2%2] },
		"no numbers": func(i int, p *Prediction) { p.Predicted = math.NaN() },
	}
	for _, machine := range []struct {
		times float64
		seen  Seen
	}{{1, quiet}, {1.5, quiet}, {1.5, busy}, {2.2, busy}, {3, Seen{Foreign: 0.07}}, {6, quiet}, {1, loud}, {4, loud}} {
		for what, bend := range broken {
			rng := rand.New(rand.NewPCG(1, 2))
			measured := func() []Prediction {
				predictions := suite(rng, machine.times, machine.seen)
				for i := range predictions {
					bend(i, &predictions[i])
				}
				return predictions
			}
			var verdicts [3]int
			for range tries {
				predictions := measured()
				for i := 0; i < len(predictions); i += 2 { // as the gate does: see Pool
					if one := predictions[i : i+2]; Each(one) != Right {
						copy(one, Pool(one, measured()[i:i+2]))
					}
				}
				v, _ := Together(predictions)
				verdicts[v]++
			}
			says := fmt.Sprintf("%s, noise %g times, %+v: %d right, %d not judged, %d wrong of %d",
				what, machine.times, machine.seen, verdicts[Right], verdicts[NotJudged], verdicts[Wrong], tries)
			if what == "nothing" && (verdicts[Wrong] > tries/100 || machine.times <= 1.5 && verdicts[Right] < tries*95/100) {
				t.Error(says)
			}
			judged := machine.times <= 2.2 && machine.seen != loud
			if what != "nothing" && (verdicts[Right] > 0 || judged && verdicts[Wrong] < tries) {
				t.Error(says)
			}
		}
	}
}

// TestTogetherFindsOne: a single prediction that is off by 6 points is found on a quiet machine.
func TestTogetherFindsOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	found := 0
	const tries = 400
	for i := range tries {
		predictions := suite(rng, 1, quiet)
		predictions[i%len(predictions)].Predicted += 6 * float64(1-i%3) // 6, 0 and -6 in turn
		v, lines := Together(predictions)
		if wrong := v == Wrong; wrong == (i%3 == 1) {
			t.Logf("%d: %v", i, lines)
		} else {
			found++
		}
	}
	if found < tries*97/100 {
		t.Errorf("%d of %d are judged as they should be", found, tries)
	}
}

// TestPool: two measurements are known better than one. A measurement on a machine that was too
// noisy does not count.
func TestPool(t *testing.T) {
	one := []Prediction{{Program: "spin", Level: 25, Predicted: 10, Truth: 20, PredictedHalf: 3, TruthHalf: 6,
		PlaceboHalf: 1, Seen: quiet}}
	other := []Prediction{{Program: "spin", Level: 25, Predicted: 20, Truth: 22, PredictedHalf: 4, TruthHalf: 8,
		Seen: busy}}
	want := Prediction{
		Program: "spin", Level: 25, Predicted: 15, Truth: 21, PredictedHalf: 2.5, TruthHalf: 5, PlaceboHalf: 0.5,
		Seen: quiet.Or(busy),
	}
	if got := Pool(one, other); len(got) != 1 || got[0] != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	other[0].Seen = loud
	for _, got := range [][]Prediction{Pool(one, other), Pool(other, one)} {
		if got[0] != one[0] {
			t.Errorf("%+v, want %+v", got[0], one[0])
		}
	}
	if got := Each(append(one, other...)); got != NotJudged {
		t.Errorf("%v", got)
	}
	one[0].TruthHalf = 0.5
	one[0].PredictedHalf = 0.5
	if got := Each(append(one, other...)); got != Wrong {
		t.Errorf("%v", got)
	}
	if got := Each(other); got != Right {
		t.Errorf("%v", got)
	}
}

func TestTogetherSays(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	off := suite(rng, 4, loud)
	for i := range off {
		off[i].Predicted += 6
	}
	v, lines := Together(off)
	last := lines[len(lines)-1]
	if v != NotJudged || !strings.HasPrefix(last, "not judged: too noisy (") ||
		!strings.Contains(last, "others used 20.0%") {
		t.Errorf("%v: %q", v, lines)
	}
	// What noise does to some does not make up for what is wrong with the others.
	both := suite(rng, 1, quiet)
	for i := range both {
		both[i].Predicted = both[i].Truth + 2.2
		if i%2 == 1 {
			both[i].Predicted, both[i].Seen = both[i].Truth-2.2, loud
		}
	}
	if v, lines := Together(both); v == Right {
		t.Errorf("%v: %q", v, lines)
	}
	if v, _ := Together(nil); v == Right {
		t.Error("no predictions are right")
	}
	// Placebos may show noise that the experiments' interval does not.
	some := suite(rng, 1, quiet)
	for i := range some {
		some[i].PlaceboHalf = 20
		some[i].Predicted += []float64{4, -4}[i/2%2]
	}
	if v, lines := Together(some); v != NotJudged {
		t.Errorf("%v: %q", v, lines)
	}
}

func TestMean(t *testing.T) {
	if mean, half := Mean([]float64{2}); mean != 2 || !math.IsInf(half, 1) {
		t.Errorf("%g ± %g", mean, half)
	}
	mean, half := Mean([]float64{1, 2, 3, 4, 5})
	if want := 2.776 * math.Sqrt(2.5/5); mean != 3 || math.Abs(half-want) > 1e-9 {
		t.Errorf("%g ± %g, want 3 ± %g", mean, half, want)
	}
	quantiles := []float64{TQuantile(1), TQuantile(10), TQuantile(11), TQuantile(30), TQuantile(1000)}
	want := []float64{12.706, 2.228, 2.201, 2.042, 1.962}
	if !slices.EqualFunc(quantiles, want, func(a, b float64) bool { return math.Abs(a-b) < 0.003 }) {
		t.Errorf("%.3f, want %.3f", quantiles, want)
	}
}
