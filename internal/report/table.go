package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// labels are verdicts in the words of the reports: what to do.
var labels = map[analyze.Verdict]string{
	analyze.Faster: "optimize", analyze.Slower: "backfires", analyze.None: "no effect", analyze.Unsure: "unclear",
}

// words explains verdicts. Each begins with its label.
var words = map[analyze.Verdict]string{
	analyze.Faster: "optimize: the program gains",
	analyze.Slower: "backfires: if this is faster, the program is slower",
	analyze.None:   "no effect: the program waits for something else",
	analyze.Unsure: "unclear: the intervals are too wide to tell",
}

// marks are the speed-ups that have a column.
var marks = []int{25, 50, 100}

// A row is a unit's line in a table.
type row struct {
	rank    int
	cells   []string // one for each of columns
	verdict analyze.Verdict
	short   string // the verdict in one to three words
	words   string
	legend  string // explanation of short
	notes   []string
	waits   []wait
	curve   []float64 // see smallCurve
	loose   bool      // it was tried too seldom for an interval
	refused string    // why it has neither a tested gain nor an estimate
	minor   bool      // an estimate of little interest
}

// verdictOf sets the texts of an effect's verdict.
func (rw *row) verdictOf(e *analyze.Effect) {
	rw.verdict = e.Verdict
	rw.short, rw.words = verdictText(e)
	rw.legend = wordsOf(e.Metric)[e.Verdict]
	switch _, isLittle := atMost(e); {
	case isLittle:
		rw.legend = littleLegend
	case e.Verdict == analyze.None || e.Verdict == analyze.Unsure || e.NeverVisited:
		rw.legend = rw.words
	}
}

// verdictText is a verdict in one to three words, and in a clause. Of a curve that turns it says
// where, and of one that does not reach 100% that it does not.
func verdictText(e *analyze.Effect) (short, text string) {
	short, text = labels[e.Verdict], wordsOf(e.Metric)[e.Verdict]
	change, isLittle := atMost(e)
	switch most := e.LargestSpeedup(); {
	case isLittle:
		short = fmt.Sprintf("at most %.0f%%", math.Ceil(change))
		text = short + ", if anything"
	case e.OnlyEstimated():
		text = estimatedWords[e.Verdict]
	case e.Basis() == analyze.Nothing && e.Refused != "":
		short, text = "not tested", "not tested, and no estimate"
	case e.NeverVisited:
		short, text = "never visited", e.Reason
	case e.Verdict == analyze.Unsure && e.Reason != "":
		text = labels[e.Verdict] + ": " + strings.TrimPrefix(e.Reason, "not enough data: ")
		if e.MaybeLuck() {
			short += ", luck?"
		}
		if estimated := estimateAlone(e); estimated != "" {
			short, text = short+", "+estimateMark+estimated, text+"; estimated: "+estimated
		}
	case e.Verdict == analyze.Faster && e.Shape == analyze.Plateau:
		short += fmt.Sprintf(", to %d%%", e.ShapeAt)
		text = fmt.Sprintf("optimize: up to %d%%, then something else limits", e.ShapeAt)
	case e.Shape == analyze.Peak:
		short += fmt.Sprintf(", peak %d%%", e.ShapeAt)
		text = fmt.Sprintf("%s: gains up to %d%%, then it gets in the way", labels[e.Verdict], e.ShapeAt)
	case e.Verdict == analyze.Faster && e.UpperBound:
		text = "optimize: the program gains, if clients wait for their answers"
	case e.Verdict == analyze.Faster && e.Metric == analyze.Throughput:
		if g, known := e.At(100); known && g.Value > 0 && g.Value < mostTimes {
			text = "optimize: up to " + times(g.Value)
		}
	case e.Verdict == analyze.None && most < 100:
		short += fmt.Sprintf(", to %d%%", most)
		text = fmt.Sprintf("no effect: up to %d%%; more was not tried", most)
	}
	return short, text
}

// estimateAlone is the verdict of a recording beside experiments that leave it open; "" if it leaves it open, too.
func estimateAlone(e *analyze.Effect) string {
	alone := analyze.Effect{Metric: e.Metric, Verdict: e.EstimateVerdict, Estimated: e.Estimated}
	short, _ := verdictText(&alone)
	if !alone.OnlyEstimated() || short == labels[analyze.Unsure] {
		return ""
	}
	return short
}

// little is the change, in percent, up to which it hardly matters what exactly it is.
const little = 5

// littleLegend explains the verdict of effects that are little.
const littleLegend = "it changes no more than that, if anything"

// atMost is how much an effect that is unclear may change at most, at any speed-up; ok is false if that is not little.
func atMost(e *analyze.Effect) (most float64, ok bool) {
	all, known, _ := GainAt(e, 100)
	if e.Verdict != analyze.Unsure || e.NeverVisited || !known {
		return 0, false
	}
	levels := append(slices.Concat(e.Telling(), e.Marks), analyze.Level{Gain: all})
	if e.OnlyEstimated() {
		levels = e.Estimated
	}
	for _, l := range levels {
		if !l.Gain.Bounded {
			return 0, false
		}
		most = max(most, -l.Gain.Low, l.Gain.High)
	}
	return most, most <= little
}

// wordsOf explains verdicts on a metric.
func wordsOf(m analyze.Metric) map[analyze.Verdict]string {
	if m == analyze.Throughput {
		return words
	}
	return latencyWords
}

// The columns of a table. Those on the left are as wide as their content, and are cut if the line
// is too long. If there is still no room, the function column is left out first, then waits, then
// one of the numbers.
const (
	colPlace = iota
	colFunc
	colShare
	colWaits // empty if no unit waits
	colMark  // len(marks) of them
)

// pointTable writes what the units do to point k.
func pointTable(p *printer, r *analyze.Result, k int, opt Options) {
	name, file := unitNames(unitsOf(r)), fileNames(unitsOf(r))
	rows, untried := collectRows(r, k, func(t *analyze.Target) (place, function string) {
		function = functionOf(t.Unit, file)
		if t.Unit.Self {
			function += " (own code)"
		}
		return name(t.Unit), function
	})
	if len(rows) == 0 {
		p.line(noRows(r, "point "+clean(r.Points[k].Name)))
		untriedLine(p, untried, name)
		return
	}
	rows, few := fold(rows, func(rw *row) bool { return rw.loose }) // such numbers say nothing yet
	rows, minor := fold(rows, func(rw *row) bool { return rw.minor && opt.Top > 0 })
	more := 0
	if opt.Top > 0 && len(rows) > opt.Top {
		more = len(rows) - opt.Top
		rows = rows[:opt.Top]
	}
	p.hanging("", fmt.Sprintf("less time per visit of %s, in percent, if code were faster by 25, 50 and 100%%:",
		clean(r.Points[k].Name)))
	writeRows(p, rows, atMarks(), colMark)
	if more > 0 {
		p.line(fmt.Sprintf("… and %s more", count(more, "unit")))
	}
	if len(minor) > 0 {
		p.hanging("", fmt.Sprintf("%s more, of which estimates say that they have no effect, or nothing (--top 0 shows "+
			"them)", count(len(minor), "unit")))
	}
	if len(few) > 0 {
		p.hanging("", fmt.Sprintf("too few experiments to tell: %s, the first of them %s with %s of the time",
			count(len(few), "unit"), cutLeft(few[0].cells[colPlace], 40), few[0].cells[colShare]))
	}
	if !asked(r) {
		untriedLine(p, untried, name)
	}
	boundsLegend(p, rows)
	estimatesLegend(p, r, rows)
	writeNotes(p, rows)
}

// writeNotes writes the doubts about rows. What several rows have is written once.
func writeNotes(p *printer, rows []row) {
	var all []string
	ranks := map[string][]string{}
	for _, rw := range rows {
		for _, note := range rw.notes {
			if ranks[note] == nil {
				all = append(all, note)
			}
			ranks[note] = append(ranks[note], fmt.Sprintf("#%d", rw.rank))
		}
	}
	const most = 8
	for _, note := range all {
		of := ranks[note]
		if more := len(of) - most; more > 1 {
			of = append(of[:most:most], fmt.Sprintf("%d more", more))
		}
		if prefix := strings.Join(of, ", ") + ": "; len(of) == 1 {
			p.hanging(prefix, note)
		} else {
			p.hanging("", prefix+note) // so many ranks leave little room beside them
		}
	}
}

// fold leaves some rows out, if there are others.
func fold(all []row, isOut func(*row) bool) (rows, out []row) {
	for _, rw := range all {
		if isOut(&rw) {
			out = append(out, rw)
			continue
		}
		rw.rank = len(rows) + 1
		rows = append(rows, rw)
	}
	if len(rows) == 0 {
		return all, nil
	}
	return rows, out
}

// untriedLine mentions the units that were sampled but never tried.
func untriedLine(p *printer, untried []*analyze.Target, name func(profile.Unit) string) {
	if len(untried) == 0 {
		return
	}
	most := untried[0]
	for _, t := range untried {
		if t.Share > most.Share {
			most = t
		}
	}
	p.hanging("", fmt.Sprintf("never tried: %s, the largest of them %s with %s of the time",
		count(len(untried), "unit"), cutLeft(clean(name(most.Unit)), 40), share(most.Share)))
}

// asked tells whether the user named the units of all runs. The user knows then that no other one was tried.
func asked(r *analyze.Result) bool {
	return len(r.Runs) > 0 && !slices.ContainsFunc(r.Runs, func(f analyze.RunFacts) bool {
		return f.Run == nil || len(f.Run.Targets) == 0
	})
}

func collectRows(
	r *analyze.Result, k int, names func(*analyze.Target) (place, function string),
) (rows []row, untried []*analyze.Target) {
	// If all estimates are refused, rows of units without experiments would only repeat that.
	none := r.Estimates == nil || r.Experiments > 0 &&
		!slices.ContainsFunc(r.Targets, func(t analyze.Target) bool { return hasEstimates(t.Effects) })
	for i := range r.Targets {
		t := &r.Targets[i]
		if t.Tried == 0 && t.SetAside == 0 && (none || !hasAnswers(t.Effects)) {
			if none { // else it has too little of the time to be of interest
				untried = append(untried, t)
			}
			continue
		}
		for j := range t.Effects {
			if e := &t.Effects[j]; e.Point == k && e.Metric == analyze.Throughput {
				place, function := names(t)
				rows = append(rows, newRow(len(rows)+1, place, function, t, e))
			}
		}
	}
	return rows, untried
}

// functionOf is the text beside a unit's name: the function of a line, or the file of a function,
// because several functions may have that name.
func functionOf(u profile.Unit, file map[string]string) string {
	switch {
	case u.Kind == "file":
		return ""
	case u.Kind == "func" && u.File != "" && u.Line > 0: // says more than a signature, and is shorter
		return fmt.Sprintf("%s:%d", file[u.File], u.Line)
	case u.Kind == "line" || u.File == "" || u.Func != u.Name && u.Func != "":
		return u.Func
	}
	return file[u.File]
}

// startRow sets the cells of a unit that do not depend on the effect.
func startRow(rank int, place, function string, t *analyze.Target) row {
	all := waits(t)
	return row{rank: rank, cells: []string{clean(place), clean(function), share(t.Share), waitsCell(all)}, waits: all}
}

func newRow(rank int, place, function string, t *analyze.Target, e *analyze.Effect) row {
	rw := startRow(rank, place, function, t)
	rw.curve = smallCurve(e)
	for _, mark := range marks {
		rw.cells = append(rw.cells, gainCell(e, mark))
	}
	rw.verdictOf(e)
	rw.refused = refusal(e)
	if rw.refused == "" || t.SetAside > 0 { // else the verdict says that it was never tried
		rw.notes = notes(t, e)
	}
	rw.loose = e.TooFew() && e.Basis() == analyze.Tested
	// Waiting is in a row of its own only if something is known of it.
	rw.minor = e.OnlyEstimated() && (e.Verdict == analyze.None && t.Share < smallShare ||
		e.Verdict != analyze.Faster && e.Verdict != analyze.Slower && t.Unit.Kind == "wait")
	return rw
}

// notes are the doubts about a unit and its effect.
func notes(t *analyze.Target, e *analyze.Effect) (all []string) {
	if len(t.Together) > 0 {
		all = append(all, clean(t.Unit.Name)+": the gain of all of it is the one at 100%")
	}
	for _, w := range slices.Concat(t.Warnings, e.Warnings) {
		if w.Code != "few-experiments" || !e.OnlyEstimated() { // else the row has nothing of them
			all = append(all, clean(w.Text))
		}
	}
	return all
}

// smallShare is the share of the time, in percent, below which an estimate that there is no effect is no news.
const smallShare = 1

func share(percent float64) string { return fmt.Sprintf("%.1f%%", percent) }

// gain formats an estimate with half of its interval, with as many digits as are meaningful.
func gain(e analyze.Estimate, known bool) string {
	if !known || !finite(e.Value) {
		return "–"
	}
	if !e.Bounded || !finite(e.Half()) {
		return number(e.Value, 1) + "±?"
	}
	return number(e.Value, digits(e)) + "±" + number(e.Half(), digits(e))
}

func number(x float64, digits int) string {
	if math.Abs(x) >= 1e4 {
		return fmt.Sprintf("%.0e", x)
	}
	s := fmt.Sprintf("%.*f", digits, x)
	if strings.Trim(s, "-0.") == "" {
		return strings.TrimPrefix(s, "-")
	}
	return s
}

// atMarks are the heads of the marks' columns.
func atMarks() (heads []string) {
	for _, mark := range marks {
		heads = append(heads, fmt.Sprintf("at %d%%", mark))
	}
	return heads
}

// writeRows writes the table. If there is room, each line has the verdict in full. If not, it has
// one word, and each word is explained once below. spare is the column of numbers that is left out
// first.
func writeRows(p *printer, rows []row, numbers []string, spare int) {
	heads := append([]string{"unit", "function", "share", "waits"}, numbers...)
	for _, rw := range rows {
		for c := range rw.cells {
			rw.cells[c] = p.plain(rw.cells[c])
		}
	}
	t := table{printer: p, widths: columnWidths(rows, heads)}
	rank := width(fmt.Sprint(rows[len(rows)-1].rank)) + 1
	longest, shortest := 0, len("verdict")
	for _, rw := range rows {
		longest = max(longest, width(rw.words))
		shortest = max(shortest, width(rw.short))
	}
	curves := 0
	if p.curves {
		curves = curveCells + 2
	}
	written := p.width == 0 || rank+total(t.widths)+curves+2+longest <= p.width
	last := longest
	if !written {
		last = shortest
	}
	if room := p.width - rank - 2 - last - curves; p.width > 0 && comfortable(t.widths) > room {
		curves = 0 // names are more useful
	}
	fit(t.widths, p.width-rank-2-last-curves, p.width > 0, spare)
	var drawn []string
	if t.drawn = curves > 0; t.drawn {
		drawn = drawCurves(rows, p.ascii)
	}
	t.row(fmt.Sprintf("%*s", rank, "#"), "curve", "verdict", "", heads)
	for i, rw := range rows {
		verdict, curve := rw.short, ""
		if written {
			verdict = rw.words
		}
		if t.drawn {
			curve = drawn[i]
		}
		t.row(fmt.Sprintf("%*d", rank, rw.rank), curve, verdict, tints[rw.verdict], rw.cells)
	}
	if !written {
		legend(p, rows)
	}
	waitsLegend(p, rows, t.widths[colWaits] > 0)
}

// columnWidths are the widths that the columns need; 0 for an empty function or waits column.
func columnWidths(rows []row, heads []string) []int {
	widths := make([]int, len(heads))
	for c, head := range heads {
		widths[c] = width(head)
		for _, rw := range rows {
			widths[c] = max(widths[c], width(rw.cells[c]))
		}
	}
	for _, c := range []int{colFunc, colWaits} { // a profile of COZ has no functions
		if !slices.ContainsFunc(rows, func(rw row) bool { return rw.cells[c] != "" }) {
			widths[c] = 0
		}
	}
	return widths
}

// A table writes lines with columns of given widths.
type table struct {
	*printer
	widths []int
	drawn  bool // with a column for curves
}

func (t *table) row(rank, curve, verdict, tint string, cells []string) {
	s := rank
	for c, cell := range cells {
		if t.widths[c] == 0 {
			continue
		}
		s += "  " + cellText(c, cell, t.widths[c])
	}
	if t.drawn {
		s += "  " + curve + strings.Repeat(" ", curveCells-width(curve))
	}
	if !t.color || tint == "" {
		t.line(s + "  " + verdict)
	} else {
		t.write(t.plain(s+"  ") + t.tint(tint, t.plain(verdict)))
	}
}

// cellText cuts and pads a cell. It keeps the end of a place and the beginning of a function, and
// aligns numbers to the right.
func cellText(column int, s string, n int) string {
	switch column {
	case colPlace:
		s = cutLeft(s, n)
	case colFunc:
		s = cutRight(s, n)
	default:
		return strings.Repeat(" ", max(0, n-width(s))) + s
	}
	return s + strings.Repeat(" ", max(0, n-width(s)))
}

// comfortable is the least width at which names can still be read.
func comfortable(widths []int) int {
	narrowed := append([]int(nil), widths...)
	narrowed[colPlace], narrowed[colFunc] = min(widths[colPlace], 20), min(widths[colFunc], 16)
	return total(narrowed)
}

func total(widths []int) int {
	n := 0
	for _, w := range widths {
		if w > 0 {
			n += w + 2
		}
	}
	return n
}

// fit makes the columns as narrow as the room demands. A width of 0 leaves a column out, at last
// the column spare. Without a limit only very long names are cut.
func fit(widths []int, room int, limited bool, spare int) {
	const monstrous, least, leastFunc = 100, 12, 8
	if !limited {
		widths[colPlace] = min(widths[colPlace], monstrous)
		widths[colFunc] = min(widths[colFunc], monstrous)
		return
	}
	narrow := func(column, least int) {
		if widths[column] == 0 {
			return
		}
		if over := total(widths) - room; over > 0 {
			widths[column] = max(min(widths[column], least), widths[column]-over)
		}
	}
	// First both columns down to some comfort, then as far as possible.
	narrow(colFunc, 16)
	narrow(colPlace, 20)
	narrow(colFunc, leastFunc)
	narrow(colPlace, least)
	for _, column := range []int{colFunc, colWaits} {
		if total(widths) > room {
			widths[column] = 0
		}
	}
	if total(widths) > room {
		widths[spare] = 0
	}
}

// legend explains the verdicts that occur, in their order.
func legend(p *printer, rows []row) {
	seen := map[string]bool{}
	for _, rw := range rows {
		explained := string(rw.verdict) // once
		if rw.verdict == analyze.Unsure {
			explained = rw.legend // for each reason
		}
		if seen[explained] {
			continue
		}
		seen[explained] = true
		text, ok := strings.CutPrefix(rw.legend, labels[rw.verdict]+": ")
		switch {
		case ok && rw.verdict == analyze.Unsure:
			rw.legend = rw.short + ": " + text
		case !strings.HasPrefix(rw.legend, labels[rw.verdict]) && !strings.HasPrefix(rw.legend, rw.short):
			rw.legend = rw.short + ": " + rw.legend
		}
		p.hanging("  ", rw.legend)
	}
}
