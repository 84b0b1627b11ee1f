// Package report writes a result of package analyze, or a comparison of package diff: for people
// (Text, GitHub, SVG, Diff, GitHubDiff) and for programs (JSON, CSV, Pprof, Coz, DiffJSON). It
// draws no conclusions: all statements about gains are those of these packages.
//
// The normal sequence is profile.Read, analyze.Analyze or diff.Compare, and one of the functions
// above with the Options that the user gave. Package web uses NewModel, which has the contents of
// the JSON report.
package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"whatif/internal/analyze"
)

// Options are choices of a report. The zero value shows everything.
type Options struct {
	Top   int    // number of units, those that rank first; 0 for all
	Point string // only this point
	Unit  string // of an SVG: only the curves of this unit

	// For text.
	Width   int             // columns of the lines; 0 for no limit
	Verbose bool            // adds where each run was made, and what measuring cost
	Said    map[string]bool // warnings that the user has read already, by [WarningLine]: only their codes are named

	// For a terminal. Without these, the text is the same everywhere.
	Color  bool // verdicts in colours
	Curves bool // a small curve in each row
	ASCII  bool // only ASCII
}

// narrowest is the least width that a report is fitted to.
const narrowest = 60

// Text writes the result as tables, one for each point.
func Text(w io.Writer, r *analyze.Result, opt Options) error {
	if opt.Width > 0 {
		opt.Width = max(opt.Width, narrowest)
	}
	points, err := selected(r, opt.Point)
	if err != nil {
		return err
	}
	out := newPrinter(bufio.NewWriter(w), opt)
	header(out, r, opt.Verbose)
	if sure := confidence(r); sure != "" {
		out.hanging("", sure)
	}
	if opt.Verbose {
		provenance(out, r)
	}
	doubts := teller{out: out, before: opt.Said, said: map[analyze.Warning]bool{}}
	if doubt := r.Doubt(); doubt != "" {
		out.line("")
		out.hanging("", clean(doubt))
		if why, ok := r.DoubtReason(); ok {
			doubts.said[why] = true
		}
	}
	// Doubts about a point or a latency go behind its table, the others at the end. Those that leave no answer come first.
	elsewhere := ofPoints(r)
	first := hopeless(slices.DeleteFunc(slices.Clone(r.Warnings),
		func(w analyze.Warning) bool { return doubts.said[w] || elsewhere[w] }))
	if len(first) > 0 {
		out.line("")
	}
	doubts.tell(first)
	for _, k := range points {
		if opt.Point != "" || !begins(r, k) {
			tables(out, r, k, opt, doubts.tell)
		}
	}
	if len(r.Points) == 0 && len(r.Runs) > 0 {
		out.line("")
		out.hanging("", NoPoints)
	}
	if overlapping(r) {
		out.line("")
		out.hanging("", "The share of a function includes what it calls, so shares add up to more than 100%.")
	}
	rest := slices.Clone(r.Warnings)
	if opt.Verbose {
		rest = append(rest, r.Details...)
	}
	rest = slices.DeleteFunc(rest, func(w analyze.Warning) bool { return doubts.said[w] })
	if len(rest)+len(doubts.again) > 0 {
		out.line("")
	}
	doubts.tell(rest)
	if len(doubts.again) > 0 {
		out.hanging("", "Warnings printed above: "+clean(strings.Join(doubts.again, ", ")))
	}
	if todo := next(r, points, unitNames(unitsOf(r))); todo != "" {
		out.line("")
		out.hanging("Next: ", todo)
	}
	if err := out.w.Flush(); err != nil {
		return fmt.Errorf("writing report: %w", err)
	}
	return nil
}

// teller writes each warning once.
type teller struct {
	out    *printer
	before map[string]bool // see Options.Said
	said   map[analyze.Warning]bool
	again  []string // codes of those that were said before
}

func (t *teller) tell(warnings []analyze.Warning) {
	for _, w := range warnings {
		switch {
		case t.said[w]:
		case t.before[WarningLine(w)] && Level(w.Code) != "hopeless":
			if !slices.Contains(t.again, w.Code) {
				t.again = append(t.again, w.Code)
			}
		default:
			t.out.warning(w)
		}
		t.said[w] = true
	}
}

// tables writes those of a point, and of the latencies that end there. beside writes doubts.
func tables(out *printer, r *analyze.Result, k int, opt Options, beside func([]analyze.Warning)) {
	out.line("")
	beside(hopeless(r.Points[k].Warnings))
	pointTable(out, r, k, opt)
	beside(r.Points[k].Warnings)
	for i := range r.Latencies {
		if l := &r.Latencies[i]; l.End == k {
			out.line("")
			beside(hopeless(l.Warnings))
			latencyTable(out, r, l, opt)
			beside(l.Warnings)
		}
	}
}

// hopeless are the doubts that leave no answer, serious those that may make numbers wrong, too, and minor the others.
func hopeless(all []analyze.Warning) []analyze.Warning {
	return ofLevel(all, func(level string) bool { return level == "hopeless" })
}

func serious(all []analyze.Warning) []analyze.Warning {
	return ofLevel(all, func(level string) bool { return level != "" })
}

func minor(all []analyze.Warning) []analyze.Warning {
	return ofLevel(all, func(level string) bool { return level == "" })
}

func ofLevel(all []analyze.Warning, wanted func(level string) bool) (some []analyze.Warning) {
	for _, w := range all {
		if wanted(Level(w.Code)) {
			some = append(some, w)
		}
	}
	return some
}

// ofPoints are the doubts about a point or a latency.
func ofPoints(r *analyze.Result) map[analyze.Warning]bool {
	all := map[analyze.Warning]bool{}
	for i := range r.Points {
		for _, w := range r.Points[i].Warnings {
			all[w] = true
		}
	}
	for i := range r.Latencies {
		for _, w := range r.Latencies[i].Warnings {
			all[w] = true
		}
	}
	return all
}

// begins says whether point k only is there for a latency to begin at.
func begins(r *analyze.Result, k int) bool {
	return slices.ContainsFunc(r.Latencies, func(l analyze.Latency) bool { return l.Begin == k })
}

// overlapping says whether samples are in several units, and so often that it shows.
func overlapping(r *analyze.Result) bool {
	sum, inclusive := 0.0, false
	for i := range r.Targets {
		sum += r.Targets[i].Share
		inclusive = inclusive || r.Targets[i].Unit.Kind == "func" && !r.Targets[i].Unit.Self
	}
	return inclusive && sum > 101 // a smaller excess is rounding
}

// selected gives the indices of the points to be shown.
func selected(r *analyze.Result, name string) ([]int, error) {
	var points []int
	for k, p := range r.Points {
		if name == "" || p.Name == name {
			points = append(points, k)
		}
	}
	return points, KnownPoint(name, r)
}

// KnownPoint returns an error if none of the results has a point; an empty name stands for all
// points.
func KnownPoint(name string, results ...*analyze.Result) error {
	var names []string
	for _, r := range results {
		for _, p := range r.Points {
			if p.Name == name {
				return nil
			}
			if n := clean(p.Name); !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	switch {
	case name == "":
		return nil
	case len(names) == 0:
		return fmt.Errorf("selecting point %s: the profile has no points", clean(name))
	}
	return fmt.Errorf("selecting point %s: the profile has %s", clean(name), strings.Join(names, ", "))
}

// A printer writes lines. Errors stay in w until Flush.
type printer struct {
	w      *bufio.Writer
	width  int
	ascii  bool
	color  bool
	curves bool
}

func (p *printer) write(s string) { p.w.WriteString(s + "\n") }

// line writes a line without the blanks at its end.
func (p *printer) line(s string) {
	p.w.WriteString(p.plain(strings.TrimRight(s, " ")) + "\n")
}

// hanging writes text after a prefix, wrapped to the width and indented by the prefix.
func (p *printer) hanging(prefix, text string) {
	prefix, text = p.plain(prefix), p.plain(text)
	n := 0
	if p.width > 0 {
		n = p.width - width(prefix)
	}
	for _, l := range Wrap(text, n) {
		p.line(prefix + l)
		prefix = strings.Repeat(" ", width(prefix))
	}
}

// warning writes a warning as the command line does.
func (p *printer) warning(w analyze.Warning) { p.hanging(WarningPrefix, withCode(w)) }

// WarningPrefix begins every warning of a run, a report or a check.
const WarningPrefix = "whatif: warning: "

// withCode is a warning's text with its code, which documents and JSON reports use.
func withCode(w analyze.Warning) string {
	if w.Code == "" {
		return clean(w.Text)
	}
	return clean(w.Text) + " [" + clean(w.Code) + "]"
}

// WarningLine is a warning as a line of its own.
func WarningLine(w analyze.Warning) string { return WarningPrefix + withCode(w) }

// header describes what was measured.
func header(p *printer, r *analyze.Result, verbose bool) {
	if len(r.Runs) == 0 {
		p.line("no run")
		return
	}
	name := command(r.Runs[0].Run.Args)
	switch whole := r.Runs[0].Run.Subject == "system"; {
	case whole && name == "":
		name = "the whole machine"
	case whole:
		name = "the whole machine, with " + name
	case name == "":
		name = "(no program)"
		if tool := r.Runs[0].Run.Tool; tool != "" {
			name = fmt.Sprintf("a profile of %s: %s", clean(tool), clean(r.Runs[0].File))
		}
	}
	p.line(cutRight(name, p.width))
	runs := ""
	if n := len(r.Runs); n > 1 {
		runs = fmt.Sprintf(" in %d runs", n)
		isOther := func(x analyze.RunFacts) bool { return !slices.Equal(x.Run.Args, r.Runs[0].Run.Args) }
		if slices.ContainsFunc(r.Runs, isOther) {
			runs += ", not all of this command"
		}
	}
	aside := 0
	for _, n := range r.SetAside {
		aside += n
	}
	text := fmt.Sprintf("measured %.1f s%s: %s, %s",
		float64(r.RealNS)/1e9, runs, count(r.Experiments, "experiment"), count(r.Baselines, "baseline"))
	if aside > 0 {
		text += fmt.Sprintf(", %d discarded", aside)
	}
	if verbose {
		text += costs(r)
	}
	switch {
	case r.Estimates != nil && r.RealNS == 0:
		p.hanging("", recordedText(r)+runs)
	case r.Estimates != nil:
		p.hanging("", text+"; "+recordedText(r))
	default:
		p.hanging("", text)
	}
	for _, text := range really(r) {
		p.hanging("", text)
	}
	for i := range r.Points {
		p.hanging("point ", pointText(&r.Points[i], verbose))
	}
	for i := range r.Latencies {
		p.hanging("latency ", latencyText(&r.Latencies[i]))
	}
}

// really says what runs really had of another machine.
func really(r *analyze.Result) (all []string) {
	for _, run := range r.Runs {
		if run.Run == nil || run.Run.Knobs == nil {
			continue
		}
		k := run.Run.Knobs
		what := "network and the disk"
		switch {
		case !k.Disk():
			what = "network"
		case !k.Net():
			what = "disk"
		}
		text := fmt.Sprintf("the program really ran with the %s of %s: %s", what, clean(k.Device), clean(k.Text))
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// costs is what measuring took.
func costs(r *analyze.Result) string {
	text := fmt.Sprintf("; delays took %.0f%% of the time", percent(r.DelayNS, r.RealNS))
	if r.OwnNS > 0 {
		text += fmt.Sprintf(", whatif %.1f%% of a core", percent(r.OwnNS, r.RealNS))
	}
	return text
}

// pointText describes a point without speed-ups.
func pointText(pt *analyze.Point, verbose bool) string {
	where := clean(pt.Kind)
	if pt.Sites > 1 {
		where += ", at " + count(pt.Sites, "place")
	}
	text := fmt.Sprintf("%s (%s): %s", clean(pt.Name), where, count(int(pt.Visits), "visit"))
	if pt.Rate > 0 {
		text += fmt.Sprintf(", %s/s", figure(pt.Rate))
	}
	if verbose && pt.Noise > 0 {
		text += fmt.Sprintf(", noise of one baseline %.1f%%", min(pt.Noise, 999))
	}
	return text
}

// figure formats a number with three digits, or with all before the point.
func figure(x float64) string {
	switch {
	case x < 10:
		return fmt.Sprintf("%.2f", x)
	case x < 100:
		return fmt.Sprintf("%.1f", x)
	case x >= 1e7:
		return fmt.Sprintf("%.2e", x)
	}
	return fmt.Sprintf("%.0f", x)
}

// PerSecond formats a rate.
func PerSecond(rate float64) string { return figure(rate) + "/s" }

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
