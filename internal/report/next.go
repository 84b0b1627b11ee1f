package report

import (
	"fmt"
	"iter"
	"math"
	"strings"

	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// settled is the half width of an interval, in points, from which on a longer run hardly changes what to do.
const settled = 2

// enough is the part of a gain that its interval may have as half its width to tell that there is one, with some room
// for a gain that was overestimated.
const enough = 0.4

// patience is how many seconds a user would hardly wait for one line.
const patience = 180

// next says what to do with the result: which code to make faster, or which run would tell. "" if there is no table.
func next(r *analyze.Result, points []int, name func(profile.Unit) string) string {
	if r.CountedOnly() {
		return "if a point's rate is that of the work that you mean, do the same without -s 0"
	}
	for _, k := range points {
		if begins(r, k) {
			continue
		}
		best, unclear := candidates(r, k)
		switch {
		case best != nil:
			advice := optimize(best.t, best.e, name)
			if l := bestLines(r, k); len(l.of) > 1 && l.gain > gainOfHalf(best.e) {
				advice = l.optimize(name)
			}
			return trusted(r, "for "+clean(r.Points[k].Name)+", "+advice)
		case unclear != nil:
			return settle(r, unclear.t, unclear.e, name)
		}
	}
	return ""
}

// trusted says of advice that rests on doubtful numbers that it does.
func trusted(r *analyze.Result, advice string) string {
	level, _ := Confidence(r)
	switch {
	case level != "poor" && r.Doubt() == "":
		return advice
	case len(r.Runs) > 1:
		return "the confidence is poor, so take the size with care: " + advice
	}
	return "measure again before you act on this, as the confidence is poor: " + advice
}

// candidate is a unit with its effect on a point.
type candidate struct {
	t *analyze.Target
	e *analyze.Effect
}

// candidates are the first unit that is worth the work and, of those of which that is not known, the one that may
// gain most. Units are ranked. That all of the program would be worth making faster is known without measuring, and a
// function that hardly does anything but call others becomes faster by these.
func candidates(r *analyze.Result, k int) (best, unclear *candidate) {
	for t, e := range effects(r, k) {
		if wholeProgram(t) {
			continue
		}
		switch {
		case e.Verdict == analyze.Faster && (best == nil || best.onlyCalls(t, e)):
			best = &candidate{t, e}
		case e.Verdict != analyze.Unsure || len(t.Together) > 0:
		case t.Share >= 1 && (unclear == nil || t.Share > unclear.t.Share):
			unclear = &candidate{t, e}
		}
	}
	return best, unclear
}

// goodPart is the part of the gain of a function that only calls others that one of the others has to bring.
const goodPart = 1.0 / 3

// onlyCalls says whether a candidate hardly does anything but call others, and this is one that does and brings a good
// part of the gain.
func (c *candidate) onlyCalls(t *analyze.Target, e *analyze.Effect) bool {
	return c.t.Calls >= nearlyAll && t.Calls < nearlyAll && gainOfHalf(e) >= goodPart*gainOfHalf(c.e)
}

// nearlyAll is the percentage of something that is as good as all of it.
const nearlyAll = 95

// wholeProgram says whether a unit is what a program's own code is called by.
func wholeProgram(t *analyze.Target) bool {
	u := t.Unit
	return u.Kind == "func" && !u.Self &&
		(u.Name == "main" || u.Name == "main.main" || u.Name == "_start" || t.Share >= nearlyAll)
}

// effects gives each unit that has an effect on a point, and the effect, in the order of the table.
func effects(r *analyze.Result, k int) iter.Seq2[*analyze.Target, *analyze.Effect] {
	return func(yield func(*analyze.Target, *analyze.Effect) bool) {
		for i := range r.Targets {
			e := effectOn(&r.Targets[i], k, analyze.Throughput)
			if e != nil && !e.NeverVisited && !yield(&r.Targets[i], e) {
				return
			}
		}
	}
}

// lines are lines of one function that gain. A loop is mostly several.
type lines struct {
	of   []profile.Unit
	gain float64 // the sum of their gains at 50%
}

// bestLines are those of the function that gains most by its lines together.
func bestLines(r *analyze.Result, k int) (best lines) {
	type function struct{ binary, file, name string }
	all := make(map[function]lines)
	for t, e := range effects(r, k) {
		u := t.Unit
		gain, known, estimated := GainAt(e, 50)
		if e.Verdict != analyze.Faster || u.Kind != "line" || u.Func == "" || !known || IsBound(e, estimated) {
			continue
		}
		f := function{u.Binary, u.File, u.Func}
		l := lines{append(all[f].of, u), all[f].gain + gain.Value}
		if all[f] = l; l.gain > best.gain {
			best = l
		}
	}
	best.gain = min(best.gain, 50) // nothing brings more than if all took half as long
	return best
}

// gainOfHalf is what a unit brings that takes half as long; without an end if that is not known.
func gainOfHalf(e *analyze.Effect) float64 {
	if gain, known, _ := GainAt(e, 50); known {
		return gain.Value
	}
	return math.Inf(1)
}

func (l *lines) optimize(name func(profile.Unit) string) string {
	var names []string
	for _, u := range l.of {
		names = append(names, clean(name(u)))
	}
	return fmt.Sprintf("make %s faster: %s. If they take half as long, a visit takes about %.0f%% less time (%s), as far "+
		"as their gains add up: -u func measures that", clean(l.of[0].Func), listed(names), l.gain, times(l.gain))
}

// listed is some names as a part of a sentence, of many the first.
func listed(names []string) string {
	const most = 4
	last := names[len(names)-1]
	if more := len(names) - most + 1; more > 1 {
		names, last = names[:most], count(more, "other line")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + last
}

// optimize says what a unit brings.
func optimize(t *analyze.Target, e *analyze.Effect, name func(profile.Unit) string) string {
	unit := clean(name(t.Unit))
	if all, known, _ := GainAt(e, 100); known && len(t.Together) > 0 {
		return fmt.Sprintf("with %s, a visit takes about %.0f%% less time", unit, all.Value)
	}
	gain, known, estimated := GainAt(e, 50)
	if !known {
		return "make " + unit + " faster"
	}
	value := gain.Value
	amount := fmt.Sprintf("about %.0f%%", value)
	switch {
	case gain.Bounded && IsBound(e, estimated):
		value = gain.High
		amount = fmt.Sprintf("at most %.0f%%", value)
	case gain.Bounded && finite(gain.Half()):
		digits := 0
		if gain.Half() < 1 {
			digits = 1
		}
		amount = fmt.Sprintf("about %.*f±%.*f%%", digits, value, digits, gain.Half())
	}
	text := fmt.Sprintf("make %s faster. If it takes half as long, a visit takes %s less time", unit, amount)
	if value > 0 && value < mostTimes {
		text += fmt.Sprintf(" (%s)", times(value))
	}
	if e.Shape == analyze.Plateau {
		text += fmt.Sprintf("; beyond %d%% something else limits", e.ShapeAt)
	}
	if spec := typedTarget(t.Unit, name); estimated && spec != "" {
		text += ". That is an estimate: test it with -t " + spec
	} else if estimated {
		text += ". That is an estimate"
	}
	return text
}

// typedTarget is the unit as a user types it behind -t; "": -t takes no such unit.
func typedTarget(u profile.Unit, name namer) string {
	if spec := targetSpec(u, name(u)); spec != "" {
		return Quoted(clean(spec))
	}
	return ""
}

// mostTimes is the gain from which on a factor would be known too badly to be of use.
const mostTimes = 95

// times is a gain in percent of the time per visit as a factor of the throughput.
func times(gain float64) string {
	digits := 2
	if gain >= 50 {
		digits = 1
	}
	return fmt.Sprintf("%.*f times as fast", digits, 1/(1-gain/100))
}

// settle says which run would tell what a unit brings: intervals become narrower with the root of the time that is
// spent on the unit.
func settle(r *analyze.Result, t *analyze.Target, e *analyze.Effect, name func(profile.Unit) string) string {
	unit, spec := clean(name(t.Unit)), typedTarget(t.Unit, name)
	noise := e.NoiseAt(50)
	if _, isLittle := atMost(e); isLittle || t.Tried > 0 && noise > 0 && noise <= settled {
		return fmt.Sprintf("%s has %s of the time and no clear effect: look at other code, or at what the program "+
			"waits for", unit, share(t.Share))
	}
	if t.Tried == 0 || r.Experiments == 0 || r.RealNS == 0 || !(noise > 0) || math.IsInf(noise, 0) {
		text := "it is not known yet what would help: run longer"
		if spec != "" {
			text += fmt.Sprintf(", or try %s alone (-t %s -s 50)", unit, spec)
		}
		return text
	}
	gain, _, _ := GainAt(e, 50)
	half := math.Round(max(settled, math.Abs(gain.Value)*enough))
	own := float64(r.RealNS) / 1e9 * float64(t.Tried) / float64(r.Experiments)
	seconds := max(10, 10*math.Ceil(own*math.Pow(noise/half, 2)/10))
	if seconds > 3600 {
		return fmt.Sprintf("what %s brings would take more than an hour to tell on this machine: it is too noisy, or the "+
			"point is too rare", unit)
	}
	text := fmt.Sprintf("it is not clear yet what %s brings. ", unit)
	if spec == "" {
		return text + "Run longer"
	}
	text += fmt.Sprintf("A run of %.0f s with it alone would tell that to ±%.0f points: -t %s -s 50 -d %.0fs",
		seconds, half, spec, seconds)
	if t.Unit.Kind == "line" && seconds > patience {
		text += ". Whole functions, which have more of the time, are known sooner: -u func"
	}
	return text
}
