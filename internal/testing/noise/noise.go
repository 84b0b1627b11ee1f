// Package noise judges figures that were measured on a machine which may be noisy: a figure is
// right, wrong, or cannot be judged. Tests use it. It measures nothing itself; package load does.
//
// A figure has limits for a quiet machine. Noise beyond the usual widens them in proportion, to
// twice at most. If there is more noise than that, a figure beyond its limits is [NotJudged].
//
// The normal sequence is to fill in a [Seen] and some [Figure]s, and then to [Judge] each by
// itself, or all [Together]. [Decide] says whether another measurement is needed.
package noise

import (
	"fmt"
	"math"
	"strings"
)

// Seen is the noise of the machine that was observed during a measurement. Each field is a share, 0
// to 1.
type Seen struct {
	Foreign float64 // of all processors' time, used by other programs
	Steal   float64 // of all processors' time, taken by the host
	Spread  float64 // by how much a loop took longer on average than at its best
}

// The usual noise of a quiet machine. Interrupts and the kernel's own work are 1 to 2% of a small
// machine, and /proc/stat counts in ticks of 10 ms. The loop's time varies by a few percent on
// shared hosts.
const (
	usualTaken  = 0.04 // foreign and steal together
	usualSpread = 0.06
	// Most is the largest factor by which limits are widened.
	Most = 2
)

// Widen is the factor by which the noise widens limits: 1 on a quiet machine, more than [Most] if
// nothing can be judged.
func (s Seen) Widen() float64 {
	return max(1, (s.Foreign+s.Steal)/usualTaken, s.Spread/usualSpread)
}

// Or is the noisier of two observations in each respect, such as before and after.
func (s Seen) Or(o Seen) Seen {
	return Seen{max(s.Foreign, o.Foreign), max(s.Steal, o.Steal), max(s.Spread, o.Spread)}
}

func (s Seen) String() string {
	const words = "others used %.1f%% of the processors, the host took %.1f%%, a loop took %.1f%% longer than at its best"
	return fmt.Sprintf(words, 100*s.Foreign, 100*s.Steal, 100*s.Spread)
}

// Figure is a measured number, and the limits that it should be between.
type Figure struct {
	Name      string
	Value     float64
	Low, High float64 // the limits on a quiet machine
	// Half is half of the 95% interval of the value, or of its difference from a truth that was
	// measured too. Usual is what Half is on a quiet machine. Both are 0 if they are not known.
	Half, Usual float64
}

// Around is a figure that should be at most off away from a truth.
func Around(name string, value, truth, off float64) Figure {
	return Figure{Name: name, Value: value, Low: truth - off, High: truth + off}
}

// Verdict is the judgement of a figure.
type Verdict int

// The verdicts, from the best to the worst.
const (
	Right Verdict = iota
	NotJudged
	Wrong
)

func (v Verdict) String() string { return [...]string{"right", "not judged: too noisy", "wrong"}[v] }

// widen is the factor by which the figure's limits are widened.
func (f *Figure) widen(s Seen) float64 {
	w := s.Widen()
	if f.Usual > 0 {
		w = max(w, f.Half/f.Usual)
	}
	return w
}

// Judge judges one figure. A value within the limits of a quiet machine is right, whatever the
// noise. The words give the limits and the reason for them.
func Judge(f Figure, s Seen) (Verdict, string) {
	middle, half, by := (f.Low+f.High)/2, (f.High-f.Low)/2, f.widen(s)
	words := fmt.Sprintf("%s is %.3g", f.Name, f.Value)
	if f.Half > 0 {
		words += fmt.Sprintf(" ± %.2g", f.Half)
	}
	low, high := middle-half*min(by, Most), middle+half*min(by, Most)
	if math.IsInf(half, 0) { // a single limit is not widened, as there is no width to widen in proportion to
		low, high = f.Low, f.High
	}
	words += fmt.Sprintf(", %.3g to %.3g is right", low, high)
	if by > 1 {
		words += fmt.Sprintf(" (limits of %.3g to %.3g, noise %.1f times the usual)", f.Low, f.High, by)
	}
	switch {
	case f.Value >= f.Low && f.Value <= f.High:
		return Right, words
	case by > Most || math.IsNaN(by):
		return NotJudged, words
	case f.Value >= low && f.Value <= high:
		return Right, words
	}
	return Wrong, words // also for NaN
}

// All judges several figures, each by itself. The verdict is the worst.
func All(figures []Figure, s Seen) (Verdict, string) {
	worst, words := Right, []string{}
	for _, f := range figures {
		v, w := Judge(f, s)
		if v != Right {
			words = append(words, v.String()+": "+w)
		}
		worst = max(worst, v)
	}
	return worst, strings.Join(words, "; ")
}
