package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// There is what a program would gain on another device, beside what it gains here. What is known there comes from a
// recording made here and, where the run had them, from experiments on a standing speed-up.
type There struct {
	Host, Device string
	Factors      any // how the two differ, for JSON
	Here, There  *analyze.Result
	Memory       analyze.Estimate // percent of the recorded CPU time that waits for memory
	Moves        []Answer         // what the device does to each metric of each point: a slower one has a gain below 0
	Tested       []analyze.Move   // the same by experiments
}

// testedMove is what experiments say of a point's time per visit on the device.
func (t *There) testedMove(a *Answer) (gain analyze.Estimate, known bool) {
	for _, m := range t.Tested {
		if m.Point == a.Point && a.Metric == analyze.Throughput {
			return m.Gain, true
		}
	}
	return gain, false
}

// A pair is what a unit does to one metric of a point, on both machines. The places are those in the order by gain;
// 0: the unit is not in it.
type pair struct {
	unit                  profile.Unit
	here, there           *analyze.Effect
	placeHere, placeThere int
}

// moves tells whether the unit has another place there, and is worth something on one of the machines.
func (p *pair) moves() bool {
	matters := func(e *analyze.Effect) bool { return e != nil && e.Verdict == analyze.Faster }
	return p.placeHere != p.placeThere && (matters(p.here) || matters(p.there))
}

// pairs are all units with an effect on a metric of a point, by their place there; units that only count here are last.
func (t *There) pairs(point string, metric analyze.Metric) (all []pair) {
	index := map[profile.UnitKey]int{}
	for _, on := range []*analyze.Result{t.There, t.Here} {
		place := 0
		for i := range on.Targets {
			unit := on.Targets[i].Unit
			e := effectAt(on, &on.Targets[i], point, metric)
			if e == nil || e.Basis() == analyze.Nothing && e.Refused == "" {
				continue
			}
			place++
			at, known := index[unit.Key()]
			if !known {
				at = len(all)
				index[unit.Key()] = at
				all = append(all, pair{unit: unit})
			}
			if on == t.There {
				all[at].there, all[at].placeThere = e, place
			} else {
				all[at].here, all[at].placeHere = e, place
			}
		}
	}
	return all
}

// effectAt is what a unit does to a metric of a point; nil: it is not known.
func effectAt(r *analyze.Result, t *analyze.Target, point string, metric analyze.Metric) *analyze.Effect {
	for i := range t.Effects {
		if e := &t.Effects[i]; e.Metric == metric && r.Points[e.Point].Name == point {
			return e
		}
	}
	return nil
}

// TextThere writes a table for each point, with the gains on both machines side by side.
func TextThere(w io.Writer, t *There, opt Options) error {
	if opt.Width > 0 {
		opt.Width = max(opt.Width, narrowest)
	}
	if _, err := selected(t.There, opt.Point); err != nil {
		return err
	}
	out := newPrinter(bufio.NewWriter(w), opt)
	header(out, t.Here, opt.Verbose)
	if n := t.There.Experiments; n > 0 {
		out.hanging("", fmt.Sprintf("about %s: %s, %s", clean(t.Device), count(n, "experiment"),
			count(t.There.Baselines, "baseline")))
	}
	if doubt := t.Here.Doubt(); doubt != "" {
		out.hanging("", clean(doubt))
	}
	if m := t.Memory; m.Known {
		out.hanging("", fmt.Sprintf("%.0f%% (%.0f to %.0f%%) of the recorded CPU time waits for memory", m.Value, m.Low,
			m.High))
	}
	for _, a := range t.Moves {
		if opt.Point != "" && a.Point != opt.Point || a.Metric != analyze.Throughput && a.Metric != analyze.MeanLatency {
			continue
		}
		out.line("")
		out.hanging("", t.moveText(&a))
		t.table(out, a.Point, a.Metric, opt)
	}
	doubts := slices.Clone(t.There.Warnings)
	for _, w := range serious(t.Here.Warnings) {
		if !slices.Contains(doubts, w) {
			doubts = append(doubts, w)
		}
	}
	if len(doubts) > 0 {
		out.line("")
	}
	for _, w := range doubts {
		out.warning(w)
	}
	if err := out.w.Flush(); err != nil {
		return fmt.Errorf("writing report: %w", err)
	}
	return nil
}

// moveText says how long a visit takes on the device.
func (t *There) moveText(a *Answer) string {
	what := "a visit takes"
	if a.Metric == analyze.MeanLatency {
		what = "a request takes, on average,"
	}
	if a.Refused != "" || !a.Gain.Known {
		return fmt.Sprintf("point %s: how long it takes on %s is not known: %s", clean(a.Point), clean(t.Device),
			clean(a.Refused))
	}
	text := fmt.Sprintf("point %s: %s %s on %s", clean(a.Point), what, timesAsLong(a.Gain), clean(t.Device))
	if tested, known := t.testedMove(a); known {
		text += ", as the recording says; as experiments say, " + timesAsLong(tested)
	}
	return text
}

// timesAsLong is a gain in the words of time: 2.31 times as long (2.05 to 2.58).
func timesAsLong(gain analyze.Estimate) string {
	text := fmt.Sprintf("%.2f times as long", 1-gain.Value/100)
	if gain.Bounded {
		text += fmt.Sprintf(" (%.2f to %.2f)", max(0, 1-gain.High/100), 1-gain.Low/100)
	}
	return text
}

// table writes the units of one metric of a point.
func (t *There) table(out *printer, point string, metric analyze.Metric, opt Options) {
	all := t.pairs(point, metric)
	if len(all) == 0 {
		out.line("no unit has enough of the recorded time for an estimate")
		return
	}
	name := unitNames(slices.Concat(unitsOf(t.There), unitsOf(t.Here)))
	more := 0
	if opt.Top > 0 && len(all) > opt.Top {
		more = len(all) - opt.Top
	}
	rows, shown := gridRows(out, all[:len(all)-more], name)
	out.hanging("", fmt.Sprintf("gain, in percent, if code were faster by %s: here, and there, on %s",
		strings.Join(percentages(shown), ", "), clean(t.Device)))
	writeGrid(out, rows, unitColumn)
	if more > 0 {
		out.line(fmt.Sprintf("… and %s more", count(more, "unit")))
	}
	out.hanging("  "+estimateMark+" ", fmt.Sprintf("not tested: estimated from %.1f s in which nothing was delayed",
		t.There.Estimates.Seconds))
	t.refusals(out, all)
	t.changes(out, all, name)
}

const (
	unitColumn = 2  // of the names of units
	leastUnit  = 12 // columns of the terminal that they have at least
)

// gridRows are the rows of the table, with as many speed-ups and words as there is room for.
func gridRows(out *printer, all []pair, name namer) (rows [][]string, shown []int) {
	for _, form := range []struct {
		shown []int
		brief bool
	}{{marks, false}, {marks[1:], false}, {marks[1:], true}, {[]int{latencyMark}, true}} {
		shown = form.shown
		rows = [][]string{{"there", "here", "unit"}}
		for _, where := range []string{"here", "there"} {
			for i, m := range shown {
				if i > 0 {
					where = ""
				}
				rows[0] = append(rows[0], strings.TrimSpace(fmt.Sprintf("%s %d%%", where, m)))
			}
		}
		rows[0] = append(rows[0], "verdict there")
		for i := range all {
			rows = append(rows, all[i].row(clean(name(all[i].unit)), shown, form.brief))
		}
		widths := gridWidths(out, rows)
		widths[unitColumn] = min(widths[unitColumn], leastUnit)
		if out.width == 0 || total(widths)-2 <= out.width {
			break
		}
	}
	return rows, shown
}

// row is a unit's line. A brief one does not say what the verdict is here.
func (p *pair) row(name string, shown []int, brief bool) []string {
	place := func(n int) string {
		if n == 0 {
			return "–"
		}
		return fmt.Sprint(n)
	}
	cells := []string{place(p.placeThere), place(p.placeHere), name}
	for _, e := range []*analyze.Effect{p.here, p.there} {
		for _, m := range shown {
			if e == nil {
				cells = append(cells, "–")
			} else {
				cells = append(cells, gainCell(e, m))
			}
		}
	}
	verdict := "–"
	if p.there != nil && refusal(p.there) == "" {
		verdict = labels[p.there.Verdict]
		if !brief && p.here != nil && refusal(p.here) == "" && p.here.Verdict != p.there.Verdict {
			verdict += " (here: " + labels[p.here.Verdict] + ")"
		}
	}
	return append(cells, verdict)
}

// refusals says, once each, why units have no estimate there.
func (t *There) refusals(out *printer, all []pair) {
	var said []string
	for _, p := range all {
		if p.there == nil {
			continue
		}
		if why := refusal(p.there); why != "" && !slices.Contains(said, why) {
			said = append(said, why)
			out.hanging("no estimate: ", clean(why))
		}
	}
}

// changes prints where the bottleneck is on both machines, and which units change places.
func (t *There) changes(out *printer, all []pair, name namer) {
	for _, line := range t.changed(all, name) {
		out.hanging("", line)
	}
}

func (t *There) changed(all []pair, name namer) (lines []string) {
	here, there := bottleneck(all, false), bottleneck(all, true)
	text := func(p *pair) string {
		if p == nil {
			return "no unit for sure"
		}
		return clean(name(p.unit))
	}
	switch {
	case here == nil && there == nil:
	case here == there:
		lines = append(lines, fmt.Sprintf("The bottleneck is the same one: %s.", text(here)))
	default:
		lines = append(lines, fmt.Sprintf("The bottleneck moves: here %s, on %s %s.", text(here), clean(t.Device),
			text(there)))
	}
	const most = 5
	var moved []string
	for i := range all {
		p := &all[i]
		if !p.moves() || p.placeHere == 0 || p.placeThere == 0 {
			continue
		}
		if moved = append(moved, fmt.Sprintf("%s from %d to %d", text(p), p.placeHere, p.placeThere)); len(moved) == most {
			break
		}
	}
	if len(moved) > 0 {
		lines = append(lines, "Other places: "+strings.Join(moved, ", ")+".")
	}
	return lines
}

// A Move is what another machine does to a metric of a point, in words: first how long it takes there.
type Move struct {
	Heading string
	Lines   []string
}

// Moved says what the other machine changes.
func Moved(t *There) (all []Move) {
	err := t.each(Options{}, func(heading, point string, metric analyze.Metric, pairs []pair, name namer) {
		m := Move{Heading: heading}
		for i := range t.Moves {
			if a := &t.Moves[i]; a.Point == point && a.Metric == metric {
				m.Lines = append(m.Lines, t.moveText(a))
			}
		}
		m.Lines = append(m.Lines, t.changed(pairs, name)...)
		all = append(all, m)
	})
	if err != nil {
		return nil // there is no error without a point
	}
	return all
}

// bottleneck is the unit with the first place on a machine, if it is one to optimize.
func bottleneck(all []pair, there bool) *pair {
	for i := range all {
		p := &all[i]
		e, place := p.here, p.placeHere
		if there {
			e, place = p.there, p.placeThere
		}
		if place == 1 && e.Verdict == analyze.Faster {
			return p
		}
	}
	return nil
}

func percentages(all []int) (texts []string) {
	for _, m := range all {
		texts = append(texts, fmt.Sprintf("%d%%", m))
	}
	return texts
}

// gridWidths are the widths of the columns, of cells that the printer can print.
func gridWidths(out *printer, rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	for _, cells := range rows {
		for c := range cells {
			cells[c] = out.plain(cells[c])
			widths[c] = max(widths[c], width(cells[c]))
		}
	}
	return widths
}

// writeGrid writes rows in columns. The column at left and the last one begin at the left; the former is cut where the
// lines would be too long.
func writeGrid(out *printer, rows [][]string, left int) {
	widths := gridWidths(out, rows)
	if over := total(widths) - 2 - out.width; out.width > 0 && over > 0 {
		widths[left] = max(leastUnit, widths[left]-over)
	}
	for _, cells := range rows {
		line := ""
		for c, cell := range cells {
			if c == left {
				cell = cutLeft(cell, widths[c])
			}
			pad := strings.Repeat(" ", max(0, widths[c]-width(cell)))
			if c != left && c != len(cells)-1 {
				cell, pad = pad+cell, ""
			}
			line += cell + pad + "  "
		}
		out.line(line)
	}
}

type (
	// jsonHere is what is known of an effect on the machine of the recording, where the report is about another one.
	jsonHere struct {
		Verdict  analyze.Verdict `json:"verdict"`
		Curve    []jsonLevel     `json:"curve"`
		Bound    string          `json:"bound,omitempty"`
		Estimate []jsonEstimate  `json:"estimate"`
		Basis    analyze.Basis   `json:"basis"`
		Refused  string          `json:"refused,omitempty"`
	}
	// jsonDevice is the device that a report is about.
	jsonDevice struct {
		Host    string       `json:"host"`
		Device  string       `json:"device"`
		Factors any          `json:"factors"`
		Memory  *jsonMemory  `json:"memory,omitempty"` // of all recorded CPU time
		Moves   []jsonAnswer `json:"moves"`
	}
)

// JSONThere writes a report as JSON does: of the device, with what is known here beside each effect.
func JSONThere(w io.Writer, t *There, opt Options) error {
	if err := KnownPoint(opt.Point, t.There); err != nil {
		return err
	}
	j := toJSON(t.There)
	j.Device = &jsonDevice{Host: t.Host, Device: t.Device, Factors: t.Factors, Memory: memoryJSON(t.Memory),
		Moves: jsonAnswers(t.Moves, nil)}
	for i := range j.Device.Moves {
		if gain, known := t.testedMove(&t.Moves[i]); known {
			move := &j.Device.Moves[i]
			move.Tested = &jsonTested{}
			move.Tested.Gain, move.Tested.CI = estimate(gain, 3)
		}
	}
	t.addHere(&j)
	return writeJSON(w, "writing JSON report", j.only(opt))
}

// addHere puts what is known here beside what is known there. Units that are known here only come last.
func (t *There) addHere(j *jsonReport) {
	here := toJSON(t.Here)
	index := map[profile.UnitKey]int{}
	for i := range t.There.Targets {
		index[t.There.Targets[i].Unit.Key()] = i
	}
	for i := range here.Targets {
		from := &here.Targets[i]
		at, known := index[t.Here.Targets[i].Unit.Key()]
		if !known {
			at = len(j.Targets)
			j.Targets = append(j.Targets, onlyHere(from))
		}
		to := &j.Targets[at]
		to.RankHere = i + 1
		for _, e := range from.Points {
			k := slices.IndexFunc(to.Points, func(x jsonEffect) bool { return x.Name == e.Name && x.Metric == e.Metric })
			if k >= 0 {
				to.Points[k].Here = &jsonHere{e.Verdict, e.Curve, e.Bound, e.Estimate, e.Basis, e.Refused}
			}
		}
	}
}

// onlyHere is a unit that the recording says nothing of.
func onlyHere(from *jsonTarget) jsonTarget {
	to := *from
	to.Tried, to.SetAside, to.Warnings, to.Points = 0, 0, []jsonWarning{}, nil
	for _, e := range from.Points {
		to.Points = append(to.Points, jsonEffect{Name: e.Name, Metric: e.Metric, Verdict: analyze.Unsure, Phase: 1,
			Curve: []jsonLevel{}, Marks: []jsonLevel{}, Estimate: []jsonEstimate{}, Basis: analyze.Nothing,
			Refused: "the unit has no time in the recording", Warnings: []jsonWarning{}})
	}
	return to
}
