package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"whatif/internal/analyze"
)

// Diff writes what changed between two profiles: what the program gained, whether it
// is what was promised, and what units promise now.
func Diff(w io.Writer, c *analyze.Comparison, opt Options) error {
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
	for k := range c.Points {
		if opt.shows(&c.Points[k]) {
			pointChange(p, &c.Points[k])
		}
	}
	promises(p, c, opt)
	slower(p, c, opt)
	changes(p, c, opt)
	unmatched(p, c)
	if len(c.Warnings) > 0 {
		p.line("")
	}
	for _, warning := range c.Warnings {
		p.hanging("warning: ", clean(warning.Text))
	}
	if err := p.w.Flush(); err != nil {
		return fmt.Errorf("writing comparison: %w", err)
	}
	return nil
}

// shows says whether a point is among those that are asked for.
func (opt *Options) shows(p *analyze.PointChange) bool { return opt.Point == "" || p.Name == opt.Point }

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

// rate is that of a point in the baselines; 0 is one that is not known, because there were none, or no visit.
func rate(perSecond float64) string {
	if perSecond == 0 {
		return "a rate that is not known"
	}
	return figure(perSecond) + "/s"
}

// mean is that of a latency; 0 is one that is not known, likewise.
func mean(ns float64) string {
	if ns == 0 {
		return "not known"
	}
	return analyze.Duration(ns)
}

func pointChange(p *printer, c *analyze.PointChange) {
	name := clean(c.Name)
	var text string
	if c.Metric == analyze.Throughput {
		text = fmt.Sprintf("%s: %s, then %s", name, rate(c.Old), rate(c.New))
	} else {
		text = fmt.Sprintf("latency %s: mean %s, then %s", name, mean(c.Old), mean(c.New))
	}
	switch {
	case !c.Gain.Known && (c.Old == 0 || c.New == 0): // which is said
	case !c.Gain.Known:
		text += ": what was gained is not known"
	case !c.Gain.Bounded:
		text += ": gained " + percentText(c.Gain)
	case c.Gain.Low > 0:
		text += fmt.Sprintf(": gained %s%% %s", gain(c.Gain, true), interval(c.Gain))
	case c.Gain.High < 0:
		lost := analyze.Estimate{Value: -c.Gain.Value, Low: -c.Gain.High, High: -c.Gain.Low, Known: true, Bounded: true}
		text += fmt.Sprintf(": lost %s%% %s", gain(lost, true), interval(lost))
	default:
		text += fmt.Sprintf(": no certain change, %s%% %s", gain(c.Gain, true), interval(c.Gain))
	}
	if c.Gain.Bounded && !c.BetweenRuns {
		text += ", as far as one run of each can tell"
	}
	p.hanging("", text)
}

// interval writes the ends; what is compared is not as far from both.
func interval(e analyze.Estimate) string {
	return fmt.Sprintf("(%s to %s)", number(e.Low, 1), number(e.High, 1))
}

var outcomes = map[analyze.Outcome]string{
	analyze.Arrived:  "it arrived",
	analyze.Less:     "less arrived than was promised",
	analyze.More:     "more arrived than was promised",
	analyze.NotKnown: "too uncertain to tell whether it arrived",
}

// promises says what became of the units that are surely faster now: what they cost once, what that was to gain of each
// metric.
func promises(p *printer, c *analyze.Comparison, opt Options) {
	name := bothNames(c)
	shown, certain := 0, 0
	for i := range c.Units {
		u := &c.Units[i]
		for _, k := range u.Promises {
			if !k.Certain || c.Again(k.Point) || !opt.shows(&c.Points[k.Point]) {
				continue
			}
			if certain++; opt.Top > 0 && shown >= opt.Top {
				continue
			}
			if shown++; shown == 1 {
				p.line("")
				p.line("did the promised gain arrive?")
			}
			text := costText(name, c, u, k, k.Speedup, "less")
			for _, of := range u.Promises {
				if c.Points[of.Point].Name == c.Points[k.Point].Name {
					text += "; " + kept(&c.Points[of.Point], of)
				}
			}
			p.hanging("  ", text)
		}
	}
	if certain > shown {
		p.line(fmt.Sprintf("  … and %s more", count(certain-shown, "unit")))
	}
	if certain > 1 {
		p.hanging("  ", "Several units became faster: each promise is for that unit alone, and promises do not add up.")
	}
}

// costText says by how much a unit's CPU time per visit changed.
func costText(name namer, c *analyze.Comparison, u *analyze.UnitChange, k analyze.Promise, by analyze.Estimate, more string) string {
	return fmt.Sprintf("%s takes %s %s CPU time for each %s (%s, then %s)", unitText(name, u), percentText(by), more, clean(c.Points[k.Point].Name), analyze.Duration(k.OldNS), analyze.Duration(k.NewNS))
}

// kept says what was promised of a metric, and what came.
func kept(pt *analyze.PointChange, k analyze.Promise) string {
	what := "the program was to gain "
	if pt.Metric != analyze.Throughput {
		what = "the mean latency was to fall by "
	}
	if !k.Predicted.Known {
		return strings.TrimSuffix(strings.TrimSuffix(what, " "), " by") + ", but how much is not known"
	}
	return fmt.Sprintf("%s%s, and %s came: %s", what, percentText(k.Predicted), actual(pt.Gain), outcomes[k.Outcome])
}

// percentText is an estimate in percent, in a sentence.
func percentText(e analyze.Estimate) string {
	if e.Known && !e.Bounded {
		return number(e.Value, 1) + "% (how certain is not known)"
	}
	return gain(e, true) + "%"
}

// slower lists the units that surely take more time now.
func slower(p *printer, c *analyze.Comparison, opt Options) {
	name := bothNames(c)
	shown, all := 0, 0
	for i := range c.Units {
		u := &c.Units[i]
		for _, k := range u.Promises {
			if !k.Slower || c.Again(k.Point) || !opt.shows(&c.Points[k.Point]) {
				continue
			}
			if all++; opt.Top > 0 && shown >= opt.Top {
				continue
			}
			if shown++; shown == 1 {
				p.line("")
				p.line("slower now:")
			}
			more := analyze.Estimate{Value: -k.Speedup.Value, Low: -k.Speedup.High, High: -k.Speedup.Low, Known: true, Bounded: k.Speedup.Bounded}
			p.hanging("  ", costText(name, c, u, k, more, "more"))
		}
	}
	if all > shown {
		p.line(fmt.Sprintf("  … and %s more", count(all-shown, "unit")))
	}
}

func actual(e analyze.Estimate) string {
	if !e.Known {
		return "what"
	}
	return percentText(e)
}

func unitText(name namer, u *analyze.UnitChange) string {
	now := clean(name(u.New.Unit))
	if was := clean(name(u.Old.Unit)); was != now {
		return was + " (now " + now + ")"
	}
	return now
}

// bothNames names the units of both sides.
func bothNames(c *analyze.Comparison) namer {
	return unitNames(append(unitsOf(c.Old), unitsOf(c.New)...))
}

// changes is the table of what units promise, then and now.
func changes(p *printer, c *analyze.Comparison, opt Options) {
	name := bothNames(c)
	for k := range c.Points {
		if !opt.shows(&c.Points[k]) {
			continue
		}
		rows := [][]string{{"unit", "faster by", "old", "new", "change", ""}}
		all, starred := 0, false
		for i := range c.Units {
			u := &c.Units[i]
			for _, e := range u.Effects {
				if e.Point != k {
					continue
				}
				if all++; opt.Top > 0 && len(rows) > opt.Top {
					continue
				}
				word := "not certain"
				switch {
				case e.Changed:
					word = "changed"
				case !e.Change.Bounded:
					word = "no interval"
				}
				if u.How == analyze.SameNumber {
					word += "*"
					starred = true
				}
				rows = append(rows, []string{unitText(name, u), fmt.Sprintf("%d%%", e.Speedup), bareGain(e.Old), bareGain(e.New), bareGain(e.Change), word})
			}
		}
		if all == 0 {
			continue
		}
		p.line("")
		what := "less time for each visit of "
		if c.Points[k].Metric != analyze.Throughput {
			what = "fall of the mean latency of "
		}
		p.hanging("", fmt.Sprintf("what units promise: %s%s, in percent, then and now:", what, clean(c.Points[k].Name)))
		simpleTable(p, rows)
		if more := all - (len(rows) - 1); more > 0 {
			p.line(fmt.Sprintf("… and %s more", count(more, "unit")))
		}
		if starred {
			p.hanging("", "* known by its line number only: the profiles do not have the line's text")
		}
	}
}

// bareGain is an estimate in a table whose last column says where there is no interval.
func bareGain(e analyze.Estimate) string {
	if e.Known && !e.Bounded && finite(e.Value) {
		return number(e.Value, 1)
	}
	return gain(e, true)
}

// simpleTable sets the first and last column to the left, the others to the right; the first
// is cut to what there is room for.
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

func unmatched(p *printer, c *analyze.Comparison) {
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
		p.hanging("", fmt.Sprintf("%s: %s that were tried, the largest %s with %s of the time", side.text, count(len(side.units), "unit"), cutLeft(clean(most.Unit.Name), 40), share(most.Share)))
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
	Warnings  []jsonWarning    `json:"warnings"`
}

type jsonPointDiff struct {
	Name        string         `json:"name"`
	Metric      analyze.Metric `json:"metric"`
	Old         float64        `json:"old"` // visits per second, or ns
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
	MatchBy  string           `json:"match_by"` // same, text, number
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
	Point       string          `json:"point"`
	Metric      analyze.Metric  `json:"metric"`
	OldNS       float64         `json:"old_ns"` // CPU time of the unit per visit
	NewNS       float64         `json:"new_ns"`
	Speedup     *float64        `json:"speedup"`
	SpeedupCI   *[2]float64     `json:"speedup_ci"`
	Certain     bool            `json:"certain"` // that it is faster
	Slower      bool            `json:"slower"`  // surely
	Predicted   *float64        `json:"predicted"`
	PredictedCI *[2]float64     `json:"predicted_ci"`
	Outcome     analyze.Outcome `json:"outcome"`
}

// DiffJSON writes the comparison as one JSON object, as JSON writes a result.
func DiffJSON(w io.Writer, c *analyze.Comparison, opt Options) error {
	if err := KnownPoint(opt.Point, c.Old, c.New); err != nil {
		return err
	}
	name := bothNames(c)
	out := jsonDiff{Version: JSONVersion, SameBuild: c.SameBuild, Old: []jsonRun{}, New: []jsonRun{}, Points: []jsonPointDiff{}, Targets: []jsonTargetDiff{},
		Gone: []string{}, Appeared: []string{}, Warnings: warnings(c.Warnings)}
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
		j := jsonPointDiff{Name: p.Name, Metric: p.Metric, Old: round(p.Old, 3), New: round(p.New, 3), BetweenRuns: p.BetweenRuns}
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
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		return fmt.Errorf("writing JSON comparison: %w", err)
	}
	return nil
}

func targetDiff(c *analyze.Comparison, u *analyze.UnitChange, name namer, opt Options) jsonTargetDiff {
	j := jsonTargetDiff{Unit: u.New.Unit.Kind, OldName: name(u.Old.Unit), NewName: name(u.New.Unit), MatchBy: u.How,
		OldShare: round(u.Old.Share, 2), NewShare: round(u.New.Share, 2), Effects: []jsonEffectDiff{}, Promises: []jsonPromise{}}
	for _, e := range u.Effects {
		if !opt.shows(&c.Points[e.Point]) {
			continue
		}
		je := jsonEffectDiff{Point: c.Points[e.Point].Name, Metric: c.Points[e.Point].Metric, Speedup: e.Speedup, Changed: e.Changed}
		je.Old, je.OldCI = estimate(e.Old, 3)
		je.New, je.NewCI = estimate(e.New, 3)
		je.Change, je.ChangeCI = estimate(e.Change, 3)
		j.Effects = append(j.Effects, je)
	}
	for _, k := range u.Promises {
		if !opt.shows(&c.Points[k.Point]) {
			continue
		}
		jk := jsonPromise{Point: c.Points[k.Point].Name, Metric: c.Points[k.Point].Metric, OldNS: round(k.OldNS, 1), NewNS: round(k.NewNS, 1), Certain: k.Certain, Slower: k.Slower, Outcome: k.Outcome}
		jk.Speedup, jk.SpeedupCI = estimate(k.Speedup, 3)
		jk.Predicted, jk.PredictedCI = estimate(k.Predicted, 3)
		j.Promises = append(j.Promises, jk)
	}
	return j
}
