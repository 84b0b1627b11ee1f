package web

import (
	"fmt"
	"slices"

	"whatif/internal/analyze"
	"whatif/internal/chart"
	"whatif/internal/profile"
	"whatif/internal/report"
)

// A view is one table: of the throughput at a point, or of a latency.
type view struct {
	ID       string      `json:"id"`
	Title    string      `json:"title"`
	Columns  []string    `json:"columns"`
	About    string      `json:"about"` // meaning of the columns' numbers
	Facts    []string    `json:"facts"` // by side: figures without speed-ups
	Warnings [][]warning `json:"warnings"`
	Answers  []answer    `json:"answers"`
	Zero     float64     `json:"zero"` // of the small curves
	of       []subject
	sparks   *chart.Sparks
	timeline []*chart.Timeline
}

// A subject is what a view is about on one side; point is -1 if that side does not have it.
type subject struct {
	point   int
	latency *analyze.Latency // nil for the throughput
}

// A column is a number of a row: an effect's gain at a speed-up.
type column struct {
	metric  analyze.Metric
	speedup int
}

var throughputColumns = []column{{analyze.Throughput, 25}, {analyze.Throughput, 50}, {analyze.Throughput, 100}}

// latencyColumns are all at one speed-up, as in the text report.
var latencyColumns = []column{{analyze.MeanLatency, 50}, {analyze.P50, 50}, {analyze.P95, 50}, {analyze.P99, 50}}

// metrics are what a view's details show. The verdict is on the first.
func (v *view) metrics() []analyze.Metric {
	if v.latency() {
		return []analyze.Metric{analyze.MeanLatency, analyze.P50, analyze.P95, analyze.P99}
	}
	return []analyze.Metric{analyze.Throughput}
}

func (v *view) latency() bool {
	return slices.ContainsFunc(v.of, func(s subject) bool { return s.latency != nil })
}

func (v *view) columns() []column {
	if v.latency() {
		return latencyColumns
	}
	return throughputColumns
}

// mergeViews lists the points and latencies of all sides, each of which has a table.
func (p *Page) mergeViews() {
	p.index.Views = []view{}
	place := map[string]int{}
	add := func(s int, id, title string, sub subject) {
		at, known := place[id]
		if !known {
			at = len(p.index.Views)
			place[id] = at
			p.index.Views = append(p.index.Views, view{ID: id, Title: title})
		}
		v := &p.index.Views[at]
		for len(v.of) < s {
			v.of = append(v.of, subject{point: -1})
		}
		v.of = append(v.of, sub)
	}
	for s, r := range p.results {
		seen := map[string]bool{}
		for k := range r.Points {
			if name := report.Clean(r.Points[k].Name); !report.BeginsLatency(r, k) && !seen[name] {
				seen[name] = true
				add(s, name, name+": time per visit", subject{point: k})
			}
		}
		for i := range r.Latencies {
			l := &r.Latencies[i]
			name := report.Clean(l.Name)
			add(s, "latency:"+name, name+": latency", subject{point: l.End, latency: l})
		}
	}
	for i := range p.index.Views {
		p.fillView(&p.index.Views[i])
	}
}

func (p *Page) fillView(v *view) {
	for len(v.of) < len(p.results) {
		v.of = append(v.of, subject{point: -1})
	}
	v.About = "less time per visit, in percent, if the code were so much faster"
	for _, c := range v.columns() {
		v.Columns = append(v.Columns, fmt.Sprintf("%d%% faster", c.speedup))
	}
	if v.latency() {
		v.About = "less latency, in percent, if the code were 50% faster; the verdict is on the mean"
		for i, c := range v.columns() {
			v.Columns[i] = string(c.metric)
		}
		v.Columns[0] = "mean"
	}
	var effects []*analyze.Effect
	for s, sub := range v.of {
		r := p.results[s]
		facts, warnings := "not in this profile", []warning{}
		switch {
		case sub.latency != nil:
			facts, warnings = report.LatencyText(sub.latency), judgedWarnings(sub.latency.Warnings)
		case sub.point >= 0:
			facts, warnings = report.PointText(&r.Points[sub.point]), judgedWarnings(r.Points[sub.point].Warnings)
		}
		v.Facts = append(v.Facts, facts)
		v.Warnings = append(v.Warnings, warnings)
		for i := range r.Targets {
			if e := v.effect(p, s, i, v.metrics()[0]); e != nil {
				effects = append(effects, e)
			}
		}
		v.timeline = append(v.timeline, p.newTimeline(v, s))
	}
	v.sparks = chart.NewSparks(effects)
	v.Zero = v.sparks.Zero()
	for s := range v.of {
		v.Answers = append(v.Answers, p.answer(v, s))
	}
}

func judgedWarnings(from []analyze.Warning) []warning {
	to := []warning{}
	for _, w := range from {
		to = append(to, judged(report.Warning(w)))
	}
	return to
}

// effect is the effect of target i of side s on the view's subject; nil if it was not tried, and a recording has not
// even a reason why it does not say anything of it.
func (v *view) effect(p *Page, s, i int, m analyze.Metric) *analyze.Effect {
	if i < 0 || v.of[s].point < 0 {
		return nil
	}
	t := &p.results[s].Targets[i]
	for j := range t.Effects {
		if e := &t.Effects[j]; e.Point == v.of[s].point && e.Metric == m &&
			(t.Tried > 0 || len(e.Estimated) > 0 || e.Refused != "") {
			return e
		}
	}
	return nil
}

// rows is the resource of a view: for each side a row of each unit, or null.
type rows struct {
	Rows      [][]*row `json:"rows"`
	Timelines []string `json:"timelines"`
	// Maps are the map of share against gain, for wide and for narrow screens.
	Maps [2]string `json:"maps"`
}

type row struct {
	Verdict     analyze.Verdict `json:"verdict"`
	Basis       analyze.Basis   `json:"basis"`
	Refused     bool            `json:"refused,omitempty"` // it was not tried, and there is no estimate, either
	Few         bool            `json:"few,omitempty"`     // it was tried too seldom, so there are no gains
	Visited     bool            `json:"visited"`           // otherwise there is nothing to measure
	Words       string          `json:"words"`
	Cells       []string        `json:"cells"`
	Values      []*float64      `json:"values"` // of the cells
	Spark       [2]string       `json:"spark"`
	Experiments int             `json:"experiments"`
	Warnings    []warning       `json:"warnings"`
}

func (p *Page) rows(v *view) *rows {
	all := &rows{}
	for s := range v.of {
		side := make([]*row, len(p.index.Units))
		for at, i := range p.targets[s] {
			if e := v.effect(p, s, i, v.metrics()[0]); e != nil {
				side[at] = p.row(v, s, i, e)
			}
		}
		all.Rows = append(all.Rows, side)
		all.Timelines = append(all.Timelines, v.timeline[s].SVG("baselines over time"))
	}
	all.Maps = p.maps(v)
	return all
}

func (p *Page) row(v *view, s, i int, first *analyze.Effect) *row {
	basis, few := first.Basis(), first.TooFew()
	if first.OnlyEstimated() { // experiments that are too few do not count
		basis, few = analyze.Estimated, false
	}
	r := &row{Verdict: first.Verdict, Basis: basis, Few: few, Visited: !first.NeverVisited,
		Words: report.Words(first), Experiments: first.Experiments, Warnings: judgedWarnings(first.Warnings)}
	r.Refused = first.Basis() == analyze.Nothing && first.Refused != "" && p.results[s].Targets[i].Tried == 0
	if r.Refused {
		r.Words = report.Clean(r.Words + ": " + first.Refused)
	}
	r.Spark[0], r.Spark[1] = v.sparks.Paths(first)
	for _, c := range v.columns() {
		text, value := "–", (*float64)(nil)
		if e := v.effect(p, s, i, c.metric); e != nil {
			g, known, _ := report.GainAt(e, c.speedup)
			text = report.GainCell(e, c.speedup)
			if known && text != "–" {
				value = &g.Value
			}
		}
		r.Cells = append(r.Cells, text)
		r.Values = append(r.Values, value)
	}
	return r
}

// newTimeline draws the periods of a side's baselines.
func (p *Page) newTimeline(v *view, s int) *chart.Timeline {
	var moments []chart.Moment
	starts, end := p.starts(s)
	for r, d := range p.runs[s] {
		for i := range d.Experiments {
			e := &d.Experiments[i]
			if value := v.period(p, s, r, e); value > 0 && e.IsBaseline() && e.SetAside == "" {
				moments = append(moments, chart.Moment{At: starts[r] + float64(e.StartNS), Value: value})
			}
		}
	}
	return chart.NewTimeline(moments, end, p.width(460), 140)
}

// starts is when each run of a side begins on the timeline, one after the other, and when the last
// one ends. The parts of a run share its time.
func (p *Page) starts(s int) (all []float64, end float64) {
	start := 0.0
	for _, d := range p.runs[s] {
		if !d.Part {
			start = end
		}
		all = append(all, start)
		for i := range d.Experiments {
			e := &d.Experiments[i]
			end = max(end, start+float64(e.StartNS)+float64(e.RealNS))
		}
	}
	return all, end
}

// period is the time per visit in an experiment of run r, or the mean latency; 0 if not known.
func (v *view) period(p *Page, s, r int, e *profile.Experiment) float64 {
	sub := v.of[s]
	if sub.point < 0 {
		return 0
	}
	if sub.latency != nil {
		if l := p.results[s].Durations(r, e, sub.latency); l != nil && l.Begun > 0 {
			return max(0, l.AreaNS) / l.Begun
		}
		return 0
	}
	if visits := p.results[s].Visits(r, e, sub.point); visits != nil && visits.Weight > 0 {
		return visits.WindowNS / visits.Weight
	}
	return 0
}
