package report

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"whatif/internal/analyze"
	"whatif/internal/analyze/diff"
)

// Diff writes what changed between two profiles: what the program gained, whether the predictions
// were realised, and what units are predicted to gain now.
func Diff(w io.Writer, c *diff.Comparison, opt Options) error {
	if err := KnownPoint(opt.Point, c.Old, c.New); err != nil {
		return err
	}
	if opt.Width > 0 {
		opt.Width = max(opt.Width, narrowest)
	}
	p := newPrinter(bufio.NewWriter(w), opt)
	p.line("old: " + sideText(c.Old))
	p.line("new: " + sideText(c.New))
	if c.SameBuild {
		p.line("of the same build")
	}
	p.line("")
	doubts := slices.Concat(c.Warnings, Doubts(c))
	first := hopeless(doubts)
	for _, w := range first {
		p.warning(w)
	}
	if len(first) > 0 {
		p.line("")
	}
	for _, change := range Changes(c, opt) {
		change.write(p)
	}
	predictionTable(p, c, opt)
	unmatched(p, c)
	later := ofLevel(doubts, func(level string) bool { return level != "hopeless" })
	if len(later) > 0 {
		p.line("")
	}
	for _, w := range later {
		p.warning(w)
	}
	if err := p.w.Flush(); err != nil {
		return fmt.Errorf("writing comparison: %w", err)
	}
	return nil
}

// Doubts are the doubts about each side by itself.
func Doubts(c *diff.Comparison) (all []analyze.Warning) {
	for _, side := range []struct {
		name string
		r    *analyze.Result
	}{{"old", c.Old}, {"new", c.New}} {
		add := func(code, text string) {
			all = append(all, analyze.Warning{Code: code, Text: side.name + ": " + text})
		}
		doubt := side.r.Doubt()
		if doubt != "" {
			add("doubt", doubt)
		}
		for _, w := range serious(side.r.Warnings) {
			if !strings.Contains(doubt, w.Text) {
				add(w.Code, w.Text)
			}
		}
	}
	return all
}

// shows says whether the options select a point.
func (opt *Options) shows(p *diff.PointChange) bool { return opt.Point == "" || p.Name == opt.Point }

func sideText(r *analyze.Result) string {
	if len(r.Runs) == 0 {
		return "no run"
	}
	text := clean(r.Runs[0].File)
	if run := r.Runs[0].Run; run != nil {
		if len(run.Args) > 0 {
			text += ", " + command(run.Args)
		}
		if build := mainBuild(r); build != "" {
			text += ", " + build
		}
	}
	return cutRight(text, 200) + fmt.Sprintf(": %s, %s", count(len(r.Runs), "run"), count(r.Experiments, "experiment"))
}

// known formats a rate or a mean; 0 is an unknown one, because there were no baselines or no
// visits.
func known(x float64, text func(float64) string) string {
	if x == 0 {
		return "not known"
	}
	return text(x)
}

// changeText describes how a point's time per visit, or a latency's mean, changed. The times come
// before the rates, because the percentage is that of the times.
func changeText(c *diff.PointChange) string {
	of, what := clean(c.Name), "time per visit"
	then := known(c.Old, analyze.Duration) + " → " + known(c.New, analyze.Duration)
	if c.Metric == analyze.Throughput {
		each := func(rate float64) string { return analyze.Duration(1e9 / rate) }
		then = fmt.Sprintf("%s → %s (%s → %s)",
			known(c.Old, each), known(c.New, each), known(c.Old, PerSecond), known(c.New, PerSecond))
	} else {
		of, what = "latency "+of, "mean latency"
	}
	less, by := "less", c.Gain
	if c.Gain.Value < 0 {
		less, by = "more", opposite(c.Gain)
	}
	text := ""
	switch {
	case !c.Gain.Known || math.Abs(c.Gain.Value) > 1e4: // too large to be a useful number
		text = fmt.Sprintf("by how much the %s changed is not known", what)
	case !c.Gain.Bounded:
		text = fmt.Sprintf("%s%% %s %s (how certain is not known)", number(by.Value, 1), less, what)
	default:
		text = fmt.Sprintf("%s%% %s %s %s", number(by.Value, digits(by)), less, what, interval(by))
		if c.Gain.Low <= 0 && c.Gain.High >= 0 {
			text = "no significant change: " + text
		} else if c.Metric == analyze.Throughput && c.Gain.Low > 0 && c.Gain.Value < mostTimes {
			text += ", " + times(c.Gain.Value)
		}
	}
	text = of + ": " + text + ": " + then
	if c.Gain.Bounded && !c.BetweenRuns {
		text += ", as far as one run of each can tell"
	}
	return text
}

// opposite is an estimate with the other sign: a loss instead of a gain.
func opposite(e analyze.Estimate) analyze.Estimate {
	e.Value, e.Low, e.High = -e.Value, -e.High, -e.Low
	return e
}

// digits is the number of digits after the point that an estimate is written with.
func digits(e analyze.Estimate) int {
	if e.Half() >= 10 {
		return 0
	}
	return 1
}

// interval writes both ends, because they are not equally far from the value in comparisons.
func interval(e analyze.Estimate) string {
	return fmt.Sprintf("(%s to %s)", number(e.Low, digits(e)), number(e.High, digits(e)))
}

var outcomes = map[diff.Outcome]string{
	diff.Realised: "realised",
	diff.Less:     "less than predicted",
	diff.More:     "more than predicted",
	diff.NotKnown: "too uncertain to tell",
}

// Change is a part of a comparison in sentences.
type Change struct {
	Head  string // heading; "" for the points' changes
	Lines []string
	More  int // number of units that Lines leave out
}

// Changes describes what the program gained, whether that was predicted, and which units became
// slower.
func Changes(c *diff.Comparison, opt Options) []Change {
	points := Change{}
	for k := range c.Points {
		if opt.shows(&c.Points[k]) {
			points.Lines = append(points.Lines, changeText(&c.Points[k]))
		}
	}
	predicted, slower := Change{Head: "was the predicted gain realised?"}, Change{Head: "slower now:"}
	predicted.Lines, predicted.More = predictionTexts(c, opt)
	slower.Lines, slower.More = slowerTexts(c, opt)
	return slices.DeleteFunc([]Change{points, predicted, slower}, func(c Change) bool { return len(c.Lines) == 0 })
}

func (c *Change) write(p *printer) {
	indent := ""
	if c.Head != "" {
		p.line("")
		p.line(c.Head)
		indent = "  "
	}
	for _, text := range c.Lines {
		p.hanging(indent, text)
	}
	if c.More > 0 {
		p.line(fmt.Sprintf("  … and %s more", count(c.More, "unit")))
	}
}

// predictionTexts describe the units that certainly became faster: their CPU time per visit, once, and the predicted
// gain of each metric. The change is credited to units for which something certain was predicted, if there are any.
func predictionTexts(c *diff.Comparison, opt Options) (lines []string, more int) {
	name := bothNames(c)
	shown := func(k diff.Prediction) bool {
		return k.Faster && !c.SameVisitsBefore(k.Point) && opt.shows(&c.Points[k.Point])
	}
	credited := slices.ContainsFunc(c.Units, func(u diff.UnitChange) bool {
		return slices.ContainsFunc(u.Predictions, shown) && hasPrediction(&u)
	})
	others := 0
	for i := range c.Units {
		u := &c.Units[i]
		for _, k := range u.Predictions {
			switch {
			case !shown(k):
				continue
			case credited && !hasPrediction(u):
				others++
				continue
			case opt.Top > 0 && len(lines) >= opt.Top:
				more++
				continue
			}
			text := costText(name, c, u, k, k.Speedup, "less")
			for _, of := range u.Predictions {
				if c.Points[of.Point].Name == c.Points[k.Point].Name {
					text += "; " + realisedText(&c.Points[of.Point], of)
				}
			}
			lines = append(lines, text)
		}
	}
	if len(lines)+more > 1 {
		lines = append(lines, "Several units became faster: each prediction is for that unit alone, and predictions do not "+
			"add up.")
	}
	if others > 0 {
		lines = append(lines, "Also faster, with too few experiments for a prediction: "+count(others, "unit"))
	}
	return lines, more
}

// hasPrediction tells whether a gain with an interval was predicted for a unit that became faster.
func hasPrediction(u *diff.UnitChange) bool {
	return slices.ContainsFunc(u.Predictions, func(k diff.Prediction) bool {
		return k.Faster && k.Predicted.Known && k.Predicted.Bounded
	})
}

// costText describes how much a unit's CPU time per visit changed.
func costText(
	name namer, c *diff.Comparison, u *diff.UnitChange, k diff.Prediction, by analyze.Estimate, more string,
) string {
	now := "nothing"
	if k.NewNS > 0 {
		now = analyze.Duration(k.NewNS)
	}
	return fmt.Sprintf("%s takes %s %s CPU time for each %s (%s, then %s)",
		unitText(name, u), percentText(by), more, clean(c.Points[k.Point].Name), analyze.Duration(k.OldNS), now)
}

// realisedText compares the predicted gain of a metric with the real one.
func realisedText(pt *diff.PointChange, k diff.Prediction) string {
	of := "less time"
	if pt.Metric != analyze.Throughput {
		of = "less mean latency"
	}
	if !k.Predicted.Known {
		return "how much " + of + " that brings was not known"
	}
	return fmt.Sprintf("predicted %s %s, measured %s: %s", percentText(k.Predicted), of, actual(pt.Gain),
		outcomes[k.Outcome])
}

// percentText is an estimate in percent, in a sentence. If both halves of its interval are equal,
// it has half the width; otherwise both ends.
func percentText(e analyze.Estimate) string {
	if e.Known && !e.Bounded {
		return number(e.Value, 1) + "% (how certain is not known)"
	}
	const uneven = 0.05 // of the longer half; a smaller difference is not visible in the digits
	if half := e.Half(); finite(e.Value) && finite(half) && math.Abs(e.High+e.Low-2*e.Value) > uneven*half {
		return fmt.Sprintf("%s%% %s", number(e.Value, digits(e)), interval(e))
	}
	return gain(e, true) + "%"
}

// slowerTexts describe the units that certainly take more CPU time now.
func slowerTexts(c *diff.Comparison, opt Options) (lines []string, more int) {
	name := bothNames(c)
	for i := range c.Units {
		u := &c.Units[i]
		for _, k := range u.Predictions {
			if !k.Slower || c.SameVisitsBefore(k.Point) || !opt.shows(&c.Points[k.Point]) {
				continue
			}
			if opt.Top > 0 && len(lines) >= opt.Top {
				more++
				continue
			}
			lines = append(lines, costText(name, c, u, k, opposite(k.Speedup), "more"))
		}
	}
	return lines, more
}

func actual(e analyze.Estimate) string {
	if !e.Known {
		return "what"
	}
	return percentText(e)
}

func unitText(name namer, u *diff.UnitChange) string {
	if u.New == nil {
		if n := u.OthersReplaced(); n > 0 {
			return clean(name(u.Old.Unit)) + fmt.Sprintf(" (replaced, with %s more)", count(n, "line"))
		}
		return clean(name(u.Old.Unit)) + " (replaced)"
	}
	now := clean(name(u.New.Unit))
	if was := clean(name(u.Old.Unit)); was != now {
		return was + " (now " + now + ")"
	}
	return now
}

// bothNames names the units of both sides.
func bothNames(c *diff.Comparison) namer {
	return unitNames(append(unitsOf(c.Old), unitsOf(c.New)...))
}

// predictionTable is the table of the gains that are predicted for units, then and now.
func predictionTable(p *printer, c *diff.Comparison, opt Options) {
	for k := range c.Points {
		if !opt.shows(&c.Points[k]) {
			continue
		}
		t := predictionsAt(c, k, opt.Top)
		if t.all+t.unknown == 0 {
			continue
		}
		p.line("")
		what := "less time per visit of "
		if c.Points[k].Metric != analyze.Throughput {
			what = "less mean latency of "
		}
		p.hanging("", fmt.Sprintf("predicted gains: %s%s, in percent, then and now:", what, clean(c.Points[k].Name)))
		if t.all > 0 {
			simpleTable(p, t.rows)
		}
		if more := t.all - (len(t.rows) - 1); more > 0 {
			p.line(fmt.Sprintf("… and %s more", count(more, "unit")))
		}
		if t.unknown > 0 {
			p.hanging("", fmt.Sprintf("too few experiments to compare: %s", count(t.unknown, "unit")))
		}
		if t.starred {
			p.hanging("", "* known by its line number only: the profiles do not have the line's text")
		}
	}
}

// predictions are a table of what units would gain at a point, then and now.
type predictions struct {
	rows    [][]string // the first is the head
	all     int        // rows, with those that were left out
	unknown int        // units with too few experiments in one of the profiles
	starred bool       // a unit is known by its line number only
}

func predictionsAt(c *diff.Comparison, k, top int) predictions {
	name := bothNames(c)
	t := predictions{rows: [][]string{{"unit", "faster by", "old", "new", "change", ""}}}
	for i := range c.Units {
		u := &c.Units[i]
		for _, e := range u.Effects {
			if e.Point != k {
				continue
			}
			if !e.Change.Bounded {
				t.unknown++
				continue
			}
			if t.all++; top > 0 && len(t.rows) > top {
				continue
			}
			word := "no significant change"
			if e.Changed {
				word = "changed"
			}
			if u.MatchedBy == diff.SameNumber {
				word += "*"
				t.starred = true
			}
			t.rows = append(t.rows, []string{unitText(name, u), fmt.Sprintf("%d%%", e.Speedup),
				bareGain(e.Old), bareGain(e.New), bareGain(e.Change), word})
		}
	}
	return t
}

// bareGain is an estimate for a table with a last column that says where there is no interval.
func bareGain(e analyze.Estimate) string {
	if e.Known && !e.Bounded && finite(e.Value) {
		return number(e.Value, 1)
	}
	return gain(e, true)
}

// simpleTable aligns the first and last column to the left, the others to the right. The first is
// cut to the room that there is.
func simpleTable(p *printer, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for c, cell := range row {
			widths[c] = max(widths[c], width(cell))
		}
	}
	const least = 12
	room := 100
	if p.width > 0 {
		room = p.width - total(widths[1:])
	}
	widths[0] = max(least, min(widths[0], room))
	for _, row := range rows {
		s := cellText(colPlace, row[0], widths[0])
		for c := 1; c < len(row); c++ {
			if c == len(row)-1 {
				s += "  " + row[c]
			} else {
				s += "  " + cellText(colShare, row[c], widths[c])
			}
		}
		p.line(cutRight(s, p.width))
	}
}

func unmatched(p *printer, c *diff.Comparison) {
	for _, side := range []struct {
		units []*analyze.Target
		text  string
	}{{c.Gone, "not found in the new profile"}, {c.Appeared, "not found in the old profile"}} {
		if len(side.units) == 0 {
			continue
		}
		most := side.units[0]
		for _, t := range side.units {
			if t.Share > most.Share {
				most = t
			}
		}
		p.line("")
		p.hanging("", fmt.Sprintf("%s: %s that were tried, the largest %s with %s of the time",
			side.text, count(len(side.units), "unit"), cutLeft(clean(most.Unit.Name), 40), share(most.Share)))
	}
}

type jsonDiff struct {
	Version   int              `json:"version"`
	SameBuild bool             `json:"same_build"`
	Old       []jsonRun        `json:"old_runs"`
	New       []jsonRun        `json:"new_runs"`
	Points    []jsonPointDiff  `json:"points"`
	Targets   []jsonTargetDiff `json:"targets"`
	Gone      []string         `json:"gone"`
	Appeared  []string         `json:"appeared"`
	Warnings  []jsonWarning    `json:"warnings"` // with those of each side by itself, as "old: " and "new: "
}

type jsonPointDiff struct {
	Name        string         `json:"name"`
	Metric      analyze.Metric `json:"metric"`
	Old         float64        `json:"old"` // visits per second, or ns; 0 if not known
	New         float64        `json:"new"`
	Gain        *float64       `json:"gain"`
	CI          *[2]float64    `json:"ci"`
	BetweenRuns bool           `json:"between_runs"`
	Rest        *float64       `json:"rest_gain"`
	RestCI      *[2]float64    `json:"rest_ci"`
}

type jsonTargetDiff struct {
	Unit     string           `json:"unit"`
	OldName  string           `json:"old_name"`
	NewName  string           `json:"new_name"`
	MatchBy  string           `json:"match_by"` // same, text, number or replaced; if replaced, it has no new name
	OldShare float64          `json:"old_share"`
	NewShare float64          `json:"new_share"`
	Effects  []jsonEffectDiff `json:"effects"`
	Promises []jsonPromise    `json:"promises"`
}

type jsonEffectDiff struct {
	Point    string         `json:"point"`
	Metric   analyze.Metric `json:"metric"`
	Speedup  int            `json:"speedup"`
	Old      *float64       `json:"old_gain"`
	OldCI    *[2]float64    `json:"old_ci"`
	New      *float64       `json:"new_gain"`
	NewCI    *[2]float64    `json:"new_ci"`
	Change   *float64       `json:"change"`
	ChangeCI *[2]float64    `json:"change_ci"`
	Changed  bool           `json:"changed"`
}

type jsonPromise struct {
	Point       string         `json:"point"`
	Metric      analyze.Metric `json:"metric"`
	OldNS       float64        `json:"old_ns"` // CPU time of the unit per visit
	NewNS       float64        `json:"new_ns"`
	Speedup     *float64       `json:"speedup"`
	SpeedupCI   *[2]float64    `json:"speedup_ci"`
	Certain     bool           `json:"certain"` // it is certainly faster
	Slower      bool           `json:"slower"`  // it is certainly slower
	Predicted   *float64       `json:"predicted"`
	PredictedCI *[2]float64    `json:"predicted_ci"`
	Outcome     diff.Outcome   `json:"outcome"`
}

// DiffJSON writes the comparison as one JSON object, in the form of JSON's result.
func DiffJSON(w io.Writer, c *diff.Comparison, opt Options) error {
	if err := KnownPoint(opt.Point, c.Old, c.New); err != nil {
		return err
	}
	name := bothNames(c)
	out := jsonDiff{Version: JSONVersion, SameBuild: c.SameBuild, Old: []jsonRun{}, New: []jsonRun{},
		Points: []jsonPointDiff{}, Targets: []jsonTargetDiff{},
		Gone: []string{}, Appeared: []string{}, Warnings: warnings(append(Doubts(c), c.Warnings...))}
	for _, run := range c.Old.Runs {
		out.Old = append(out.Old, runJSON(run))
	}
	for _, run := range c.New.Runs {
		out.New = append(out.New, runJSON(run))
	}
	for _, p := range c.Points {
		if !opt.shows(&p) {
			continue
		}
		j := jsonPointDiff{Name: p.Name, Metric: p.Metric, Old: round(p.Old, 3), New: round(p.New, 3),
			BetweenRuns: p.BetweenRuns}
		j.Gain, j.CI = estimate(p.Gain, 3)
		j.Rest, j.RestCI = estimate(p.Rest, 3)
		out.Points = append(out.Points, j)
	}
	for i := range c.Units {
		if opt.Top > 0 && i >= opt.Top {
			break
		}
		out.Targets = append(out.Targets, targetDiff(c, &c.Units[i], name, opt))
	}
	for _, t := range c.Gone {
		out.Gone = append(out.Gone, name(t.Unit))
	}
	for _, t := range c.Appeared {
		out.Appeared = append(out.Appeared, name(t.Unit))
	}
	return writeJSON(w, "writing JSON comparison", out)
}

func targetDiff(c *diff.Comparison, u *diff.UnitChange, name namer, opt Options) jsonTargetDiff {
	j := jsonTargetDiff{Unit: u.Old.Unit.Kind, OldName: name(u.Old.Unit), MatchBy: u.MatchedBy,
		OldShare: round(u.Old.Share, 2), Effects: []jsonEffectDiff{}, Promises: []jsonPromise{}}
	if u.New != nil {
		j.NewName, j.NewShare = name(u.New.Unit), round(u.New.Share, 2)
	}
	for _, e := range u.Effects {
		if !opt.shows(&c.Points[e.Point]) {
			continue
		}
		je := jsonEffectDiff{Point: c.Points[e.Point].Name, Metric: c.Points[e.Point].Metric, Speedup: e.Speedup,
			Changed: e.Changed}
		je.Old, je.OldCI = estimate(e.Old, 3)
		je.New, je.NewCI = estimate(e.New, 3)
		je.Change, je.ChangeCI = estimate(e.Change, 3)
		j.Effects = append(j.Effects, je)
	}
	for _, k := range u.Predictions {
		if !opt.shows(&c.Points[k.Point]) {
			continue
		}
		jk := jsonPromise{Point: c.Points[k.Point].Name, Metric: c.Points[k.Point].Metric, OldNS: round(k.OldNS, 1),
			NewNS: round(k.NewNS, 1), Certain: k.Faster, Slower: k.Slower, Outcome: k.Outcome}
		jk.Speedup, jk.SpeedupCI = estimate(k.Speedup, 3)
		jk.Predicted, jk.PredictedCI = estimate(k.Predicted, 3)
		j.Promises = append(j.Promises, jk)
	}
	return j
}
