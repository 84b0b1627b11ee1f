package report

import (
	"bufio"
	"encoding/json"
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
	out.line("")
	for _, answer := range a.Points {
		out.hanging("", answer.text())
	}
	if len(a.Points) == 0 {
		out.line("the recording has no point, so there is nothing that could become faster")
	}
	if err := out.w.Flush(); err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return nil
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
	what := map[analyze.Metric]string{analyze.Throughput: "time per visit", analyze.MeanLatency: "mean latency"}[a.Metric]
	if what == "" {
		what = string(a.Metric) + " of latency"
	}
	name := clean(a.Point) + ": " + what + " "
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
		Points   []jsonAnswer    `json:"points"`
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
	}
)

// AskJSON writes an answer as one JSON object, in percent. A gain that is not known is null, and refused says why.
func AskJSON(w io.Writer, a *Asked) error {
	j := jsonAsked{Version: JSONVersion, Recorded: round(a.Seconds, 3), Cores: a.Cores, Together: []jsonAskedUnit{},
		Points: []jsonAnswer{}}
	for _, u := range a.Together {
		j.Together = append(j.Together, jsonAskedUnit{u.Unit.Kind, u.Unit.Name, round(u.Percent, 3), round(u.Share, 2)})
	}
	for _, answer := range a.Points {
		to := jsonAnswer{Name: answer.Point, Metric: answer.Metric, Refused: answer.Refused}
		if answer.Refused == "" {
			to.Gain, to.CI = estimate(answer.Gain, 3)
		}
		j.Points = append(j.Points, to)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(j); err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	return nil
}
