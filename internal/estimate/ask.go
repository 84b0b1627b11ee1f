package estimate

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"whatif/internal/analyze"
	"whatif/internal/code/symbol"
	"whatif/internal/point"
	"whatif/internal/recording"
	"whatif/internal/simulate"
)

// Question is a change to a program, all of it at once.
type Question struct {
	Faster []Faster
	Cores  int // 0: as many as recorded
}

// Faster is a unit and by how much faster it is.
type Faster struct {
	Unit    Unit
	Percent float64 // of its time that is gone; less than 0: it takes longer
}

// Answer is what a question's change does to one metric of one point.
type Answer struct {
	Point   string
	Metric  analyze.Metric
	Gain    analyze.Estimate
	Refused string // why there is none
}

// Ask answers a question.
func (e *Estimator) Ask(q Question) (answers []Answer) {
	why := e.doubt
	for _, f := range q.Faster {
		why = cmp.Or(why, f.Unit.refused)
	}
	if why != "" {
		return e.refuseAnswers(why)
	}
	found, understood := e.measure(q.change(1))
	if !understood {
		return e.refuseAnswers(notUnderstood)
	}
	// What an error in the units' shares would do: the same change, a tenth smaller.
	const less = 0.9
	smaller := found
	if len(q.Faster) > 0 {
		smaller, _ = e.measure(q.change(less))
	}
	ratios := e.ratioErrors(q.change(1), found)
	n := 0
	for k := range e.points {
		for i := range e.points[k].metrics {
			m := &e.points[k].metrics[i]
			found[n].slack = math.Hypot(found[n].slack, ratios[n])
			a := Answer{Point: e.rec.Points[k].Name, Metric: m.metric, Refused: m.refused}
			if m.refused == "" {
				slope := (found[n].gain - smaller[n].gain) / (1 - less)
				a.Gain = interval(found[n], doubts{
					sampling: slope * q.shareError(), deviation: m.deviation, most: q.most(), size: 1,
					waking: e.machine.Waking(), taken: e.machine.Taken(),
				})
			}
			answers = append(answers, a)
			n++
		}
	}
	return answers
}

// refuseAnswers gives no answer anywhere.
func (e *Estimator) refuseAnswers(why string) (answers []Answer) {
	for _, effect := range e.refuse(why) {
		answers = append(answers, Answer{Point: effect.Point, Metric: effect.Metric, Refused: effect.Refused})
	}
	return answers
}

// change is what is simulated, with a part of each unit's effect.
func (q *Question) change(part float64) simulate.Change {
	c := simulate.Change{Cores: q.Cores}
	for _, f := range q.Faster {
		c.Faster = append(c.Faster, simulate.Faster{Unit: f.Unit.sim, By: part * f.Percent / 100})
	}
	return c
}

// most is the most that the change can gain, as a part.
func (q *Question) most() (most float64) {
	if q.Cores > 0 {
		return 1
	}
	for _, f := range q.Faster {
		most += f.Unit.most() / 100 * abs(f.Percent) / 100
	}
	return min(1, most)
}

// shareError is the largest of the units' errors: they are not independent, as samples in one unit are not in another.
func (q *Question) shareError() (most float64) {
	for _, f := range q.Faster {
		most = max(most, f.Unit.shareError())
	}
	return most
}

func abs(x float64) float64 { return max(x, -x) }

// CheckUnit says whether a text can name a unit.
func CheckUnit(text string) error {
	if _, _, ok := fileUnit(text); ok {
		return nil
	}
	_, err := point.ParseTarget(text)
	return err
}

// fileUnit reads file:NAME and binary:NAME.
func fileUnit(text string) (kind, name string, ok bool) {
	for _, kind := range []string{"file", "binary"} {
		if name, ok := strings.CutPrefix(text, kind+":"); ok && strings.TrimSpace(name) != "" {
			return kind, strings.TrimSpace(name), true
		}
	}
	return "", "", false
}

// Find gives the unit that a text names: what -t takes, file:NAME or binary:NAME.
func (e *Estimator) Find(text string) (Unit, error) {
	if kind, name, ok := fileUnit(text); ok {
		return e.findFile(kind, name)
	}
	t, err := point.ParseTarget(text)
	if err != nil {
		return Unit{}, err
	}
	u := e.named(&t)
	if u.Samples == 0 && len(u.Waiting) == 0 {
		return Unit{}, e.notFound(text)
	}
	return u, nil
}

// findFile gives a source file or a binary by its name, or by the end of its path.
func (e *Estimator) findFile(kind, name string) (Unit, error) {
	for _, m := range e.members(kind) {
		of := m.unit.File
		if kind == "binary" {
			of = m.unit.Binary
		}
		if m.unit.Kind != kind || !symbol.MatchFile(name, of) {
			continue
		}
		u := e.unit(m)
		e.give(&u, m)
		return u, nil
	}
	return Unit{}, e.notFound(kind + ":" + name)
}

// NotFoundError says that nothing of a recording is in a unit.
type NotFoundError struct {
	Text    string
	Largest []string // names of the units that have most of the time
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("looking for %s: no thread ran or waited in it while it was recorded", e.Text)
}

// notFound names what the recording has instead.
func (e *Estimator) notFound(text string) error {
	const few = 3
	err := &NotFoundError{Text: text}
	for _, u := range e.Units() {
		if len(err.Largest) < few {
			err.Largest = append(err.Largest, u.Name)
		}
	}
	return err
}

// MapFiles applies a function to the paths of the source files in a recording.
func MapFiles(r *recording.Recording, apply func(file string) string) {
	for i := range r.Frames {
		if f := &r.Frames[i]; f.File != "" {
			f.File = apply(f.File)
		}
	}
}
