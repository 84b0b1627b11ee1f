package web

import (
	"math"

	"whatif/internal/analyze"
	"whatif/internal/chart"
	"whatif/internal/profile"
	"whatif/internal/report"
)

// A detail is a unit in a view.
type detail struct {
	ID    string        `json:"id"`
	Sides []*sideDetail `json:"sides"` // null if it was not tried
}

type sideDetail struct {
	Effects     []effect `json:"effects"`
	Histogram   string   `json:"histogram"`
	Ticks       string   `json:"ticks"` // marks on the timeline
	Experiments []tried  `json:"experiments"`
	More        int      `json:"more"` // number of experiments that are not listed
}

// An effect is one of the JSON report, with its drawing.
type effect struct {
	report.Effect
	Words string `json:"words"`
	Chart string `json:"chart"`
}

// A tried is one experiment: run, number, start in s, speed-up, visits, ns for each visit, gain,
// and why it was discarded.
type tried [8]any

// mostListed is how many experiments of a unit are listed. A single unit may have a hundred
// thousand.
const mostListed = 400

// details is the resource of a chunk of units.
func (p *Page) details(v *view, chunk int) []detail {
	all := []detail{}
	first, last := chunk*perChunk, min((chunk+1)*perChunk, len(p.index.Units))
	for at := first; at < last; at++ {
		d := detail{ID: p.index.Units[at].ID}
		for s := range p.runs {
			i := p.targets[s][at]
			if i < 0 || v.of[s].point < 0 || v.effect(p, s, i, v.metrics()[0]) == nil {
				d.Sides = append(d.Sides, nil)
				continue
			}
			sd := &sideDetail{Effects: []effect{}, Experiments: []tried{}}
			p.drawEffects(sd, v, s, at)
			if p.results[s].Targets[i].Tried > 0 {
				p.listExperiments(sd, v, s, i, p.gather(v, s))
			}
			d.Sides = append(d.Sides, sd)
		}
		all = append(all, d)
	}
	return all
}

// width is the width of a drawing of one side, if there may be two.
func (p *Page) width(w float64) float64 {
	if len(p.runs) > 1 {
		return w * 0.7
	}
	return w
}

// drawEffects draws a unit's curves, all to one scale, including those of the other side.
func (p *Page) drawEffects(sd *sideDetail, v *view, s, at int) {
	var all []*analyze.Effect
	for side := range p.runs {
		for _, m := range v.metrics() {
			if e := v.effect(p, side, p.targets[side][at], m); e != nil {
				all = append(all, e)
			}
		}
	}
	w, h := 460.0, 280.0
	if len(all) > 1 { // the two sides stand beside each other
		w, h = 320, 215
	}
	i := p.targets[s][at]
	model := report.NewTarget(p.results[s], i)
	t := &p.results[s].Targets[i]
	for _, m := range v.metrics() {
		for j := range t.Effects {
			if e := &t.Effects[j]; e.Point == v.of[s].point && e.Metric == m {
				what := "less time per visit"
				if m != analyze.Throughput {
					what = "less latency, " + string(m)
				}
				plot := chart.Plot{Width: w, Height: h, Title: what, Share: v.expectedShare(t), Beside: all}
				told := model.Points[j]
				if e.TooFew() { // as in the table
					told.Slope, told.SlopeCI, told.Curve, told.Marks = nil, nil, told.Curve[:0], told.Marks[:0]
				}
				sd.Effects = append(sd.Effects, effect{told, report.Words(e), chart.Curve(e, plot)})
			}
		}
	}
}

// An occasion is an experiment of a unit.
type occasion struct {
	run int
	e   *profile.Experiment
}

// gathered is the data of a side that the details of all units need.
type gathered struct {
	starts    []float64          // of the runs, see Page.starts
	base      *chart.Spread      // of the baselines
	occasions map[int][]occasion // by target
}

// gather goes through all experiments of a view and a side. It does so once.
func (p *Page) gather(v *view, s int) *gathered {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := gatheredKey{v.ID, s}
	if g := p.gathered[key]; g != nil {
		return g
	}
	byKey := map[profile.UnitKey]int{}
	for i := range p.results[s].Targets {
		byKey[p.results[s].Targets[i].Unit.Key()] = i
	}
	g := &gathered{occasions: map[int][]occasion{}}
	g.starts, _ = p.starts(s)
	var base []chart.Weighted
	for r, d := range p.runs[s] {
		for n := range d.Experiments {
			e := &d.Experiments[n]
			if e.IsBaseline() {
				if e.SetAside == "" {
					base = append(base, v.spread(p, s, r, e)...)
				}
			} else if i, ok := byKey[d.Units[e.Unit].Key()]; ok { // otherwise a placebo
				g.occasions[i] = append(g.occasions[i], occasion{r, e})
			}
		}
	}
	g.base = chart.NewSpread(base)
	if p.gathered == nil {
		p.gathered = map[gatheredKey]*gathered{}
	}
	p.gathered[key] = g
	return g
}

type gatheredKey struct {
	view string
	side int
}

// spread is what an experiment adds to the histogram: its period, or, for a latency, the durations
// themselves.
func (v *view) spread(p *Page, s, r int, e *profile.Experiment) []chart.Weighted {
	if l := v.of[s].latency; l != nil {
		d := p.results[s].Durations(r, e, l)
		if d == nil {
			return nil
		}
		var all []chart.Weighted
		for _, b := range d.Bins {
			all = append(all, chart.Weighted{Value: (profile.BinStart(int(b[0])) + profile.BinStart(int(b[0])+1)) / 2,
				Weight: float64(b[1])})
		}
		return all
	}
	return []chart.Weighted{{Value: v.period(p, s, r, e), Weight: 1}}
}

func (p *Page) listExperiments(sd *sideDetail, v *view, s, i int, g *gathered) {
	gains := map[[2]int]float64{}
	for _, one := range v.effect(p, s, i, v.metrics()[0]).Trials {
		if one.Known {
			gains[[2]int{one.Run, p.runs[s][one.Run].Experiments[one.Experiment].Index}] = one.Gain
		}
	}
	var times []float64
	var own []chart.Weighted
	for _, o := range g.occasions[i] {
		at := g.starts[o.run] + float64(o.e.StartNS)
		if o.e.SetAside == "" {
			times = append(times, at)
			own = append(own, v.spread(p, s, o.run, o.e)...)
		}
		if len(sd.Experiments) == mostListed {
			sd.More++
			continue
		}
		var gain any
		if g, ok := gains[[2]int{o.run, o.e.Index}]; ok && !math.IsNaN(g) && !math.IsInf(g, 0) {
			gain = math.Round(g*10) / 10
		}
		visits := int64(0)
		if l := v.of[s].latency; l != nil {
			if d := p.results[s].Durations(o.run, o.e, l); d != nil {
				visits = d.Matched
			}
		} else if n := p.results[s].Visits(o.run, o.e, v.of[s].point); n != nil {
			visits = n.Count
		}
		period := ""
		if x := v.period(p, s, o.run, o.e); x > 0 && !math.IsInf(x, 0) {
			period = analyze.Duration(x)
		}
		sd.Experiments = append(sd.Experiments, tried{o.run + 1, o.e.Index, math.Round(at/1e7) / 100, o.e.Speedup, visits,
			period, gain, report.Clean(o.e.SetAside)})
	}
	sd.Ticks = v.timeline[s].Ticks(times)
	what := "time per visit"
	if v.latency() {
		what = "latency"
	}
	sd.Histogram = chart.Histogram(g.base, chart.NewSpread(own), p.width(460), 140, what)
}
