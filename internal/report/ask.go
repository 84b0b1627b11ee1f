package report

import (
	"bufio"
	"fmt"
	"io"

	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// Asked is the answer to a question about changes that are made together.
type Asked struct {
	Args     []string // the program and its arguments
	Seconds  float64  // of the recording
	Together []AskedUnit
	Cores    int // that were asked for; 0: as many as recorded
	Recorded int // cores of the recording
	Points   []Answer
	On       *Elsewhere // what else is different; nil: the machine is the one of the recording
}

// Elsewhere is the device that a question is about. Points of Asked are then answered for the program there: with the
// changes compared with without them.
type Elsewhere struct {
	Host, Device string
	Factors      any      // how the two differ, for JSON
	Moves        []Answer // what the device itself does, without the changes
	Here         []Answer // the changes on the machine of the recording
	Warnings     []analyze.Warning
}

// AskedUnit is one of the changes.
type AskedUnit struct {
	Unit    profile.Unit
	Percent float64 // of the unit's time that is gone
	Share   float64 // percent of the CPU time
	Waited  float64 // percent of the time that threads wait in it
}

// Answer is what the changes do to one metric of one point.
type Answer struct {
	Point   string
	Metric  analyze.Metric
	Gain    analyze.Estimate
	Refused string // why there is none
}

// Ask writes an answer for people.
func Ask(w io.Writer, a *Asked, opt Options) error {
	if opt.Width > 0 {
		opt.Width = max(opt.Width, narrowest)
	}
	out := newPrinter(bufio.NewWriter(w), opt)
	if len(a.Args) > 0 {
		out.line(cutRight(command(a.Args), opt.Width))
	}
	out.hanging("", fmt.Sprintf("recorded %.1f s, in which nothing was delayed; not tested by experiments. If",
		a.Seconds))
	for _, u := range a.Together {
		out.hanging("  ", u.text())
	}
	if a.Cores > 0 {
		out.hanging("  ", fmt.Sprintf("it had %s instead of %d", count(a.Cores, "core"), a.Recorded))
	}
	a.On.conditions(out)
	out.line("")
	for i, answer := range a.Points {
		if a.On == nil || a.changes() {
			out.hanging("", answer.text()+a.On.hereText(i))
		}
	}
	a.On.text(out)
	if len(a.Points) == 0 {
		out.hanging("", NoPoints)
	}
	if err := out.w.Flush(); err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return nil
}

// changes tells whether anything but the machine is another one.
func (a *Asked) changes() bool { return len(a.Together) > 0 || a.Cores > 0 }

func (e *Elsewhere) conditions(out *printer) {
	if e != nil {
		out.hanging("  ", fmt.Sprintf("it ran on %s instead of %s", clean(e.Device), clean(e.Host)))
	}
}

// hereText is what an answer is on the machine of the recording.
func (e *Elsewhere) hereText(i int) string {
	if e == nil || i >= len(e.Here) || e.Here[i].Refused != "" || !e.Here[i].Gain.Known {
		return ""
	}
	return fmt.Sprintf(" there; on %s by %s%%", clean(e.Host), number(e.Here[i].Gain.Value, 1))
}

// text says what the device itself does.
func (e *Elsewhere) text(out *printer) {
	if e == nil {
		return
	}
	for _, m := range e.Moves {
		name := clean(m.Point) + ": " + m.Metric.Measures() + " "
		if m.Refused != "" || !m.Gain.Known {
			out.hanging("", name+"on "+clean(e.Device)+" not known: "+clean(m.Refused))
			continue
		}
		out.hanging("", name+"is "+timesAsLong(m.Gain)+" on "+clean(e.Device))
	}
	for _, w := range e.Warnings {
		out.warning(w)
	}
}

func (u *AskedUnit) text() string {
	what := number(u.Percent, 0) + "% faster"
	if u.Percent < 0 {
		what = number(-u.Percent, 0) + "% slower"
	}
	text := fmt.Sprintf("%s were %s: it has %s of the CPU time", clean(u.Unit.Name), what, share(u.Share))
	if u.Unit.Kind == "wait" {
		text = fmt.Sprintf("%s were %s", clean(u.Unit.Name), what)
	}
	if u.Waited > 0 {
		text += fmt.Sprintf(", threads wait in it %.0f%% of the time", u.Waited)
	}
	return text
}

// text is one line of the answer.
func (a *Answer) text() string {
	name := clean(a.Point) + ": " + a.Metric.Measures() + " "
	switch g := a.Gain; {
	case a.Refused != "" || !g.Known:
		return name + "not known: " + clean(a.Refused)
	case g.Bounded && g.Value >= 0:
		return name + fmt.Sprintf("falls by %s%% (%s to %s)", number(g.Value, 1), number(g.Low, 1), number(g.High, 1))
	case g.Bounded:
		return name + fmt.Sprintf("rises by %s%% (%s to %s)", number(-g.Value, 1), number(-g.High, 1), number(-g.Low, 1))
	case g.Value >= 0:
		return name + fmt.Sprintf("falls by %s%%", number(g.Value, 1))
	}
	return name + fmt.Sprintf("rises by %s%%", number(-a.Gain.Value, 1))
}

type (
	jsonAsked struct {
		Version  int             `json:"version"`
		Recorded float64         `json:"recorded"`        // seconds
		Cores    int             `json:"cores,omitempty"` // that were asked for
		Together []jsonAskedUnit `json:"together"`
		Device   *jsonDevice     `json:"device,omitempty"`
		Points   []jsonAnswer    `json:"points"`
		Warnings []jsonWarning   `json:"warnings,omitempty"`
	}
	jsonAskedUnit struct {
		Unit    string  `json:"unit"`
		Name    string  `json:"name"`
		Percent float64 `json:"percent"`
		Share   float64 `json:"share"`
	}
	jsonAnswer struct {
		Name    string         `json:"name"`
		Metric  analyze.Metric `json:"metric"`
		Gain    *float64       `json:"gain"`
		CI      *[2]float64    `json:"ci"`
		Refused string         `json:"refused,omitempty"`
		Here    *jsonAnswer    `json:"here,omitempty"`   // on the machine of the recording, if there is a device
		Tested  *jsonTested    `json:"tested,omitempty"` // what experiments say
	}
	jsonTested struct {
		Gain *float64    `json:"gain"`
		CI   *[2]float64 `json:"ci"`
	}
)

// jsonAnswers are answers in JSON, with those for the machine of the recording beside them, if there are some.
func jsonAnswers(all, here []Answer) []jsonAnswer {
	list := []jsonAnswer{}
	for i, answer := range all {
		to := jsonAnswer{Name: answer.Point, Metric: answer.Metric, Refused: answer.Refused}
		if answer.Refused == "" {
			to.Gain, to.CI = estimate(answer.Gain, 3)
		}
		if i < len(here) {
			to.Here = &jsonAnswers(here[i:i+1], nil)[0]
		}
		list = append(list, to)
	}
	return list
}

// AskJSON writes an answer as one JSON object, in percent. A gain that is not known is null, and refused says why.
func AskJSON(w io.Writer, a *Asked) error {
	j := jsonAsked{Version: JSONVersion, Recorded: round(a.Seconds, 3), Cores: a.Cores, Together: []jsonAskedUnit{},
		Points: []jsonAnswer{}}
	for _, u := range a.Together {
		j.Together = append(j.Together, jsonAskedUnit{u.Unit.Kind, u.Unit.Name, round(u.Percent, 3), round(u.Share, 2)})
	}
	var here []Answer
	if a.On != nil {
		here = a.On.Here
		j.Device = &jsonDevice{
			Host: a.On.Host, Device: a.On.Device, Factors: a.On.Factors, Moves: jsonAnswers(a.On.Moves, nil),
		}
		j.Warnings = warnings(a.On.Warnings)
	}
	j.Points = jsonAnswers(a.Points, here)
	return writeJSON(w, "writing the answer", j)
}
