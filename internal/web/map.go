package web

import (
	"cmp"
	"net/url"
	"slices"

	"whatif/internal/analyze"
	"whatif/internal/chart"
	"whatif/internal/report"
)

// maps draws where units stand by their share of the time and their gain, once for wide and once for narrow screens.
// Each spot leads to its unit.
func (p *Page) maps(v *view) [2]string {
	m := &chart.Map{Speedup: report.MapSpeedup}
	for _, at := range p.mapped(v) {
		i := p.targets[0][at]
		e := v.effect(p, 0, i, v.metrics()[0])
		gain, known, estimated := report.GainAt(e, report.MapSpeedup)
		if !known {
			continue
		}
		u := &p.index.Units[at]
		link := url.Values{"view": {v.ID}, "unit": {u.ID}}
		m.Spots = append(m.Spots, chart.Spot{Name: u.Name, Share: p.results[0].Targets[i].Share, Gain: gain,
			Verdict: e.Verdict, Estimated: estimated,
			IsBound: report.IsBound(e, estimated), Link: "#" + link.Encode()})
	}
	return [2]string{m.Draw(680, 400), m.Draw(360, 330)}
}

// mapped are the units that a map has room for: those that rank first, and those with the largest shares.
func (p *Page) mapped(v *view) (places []int) {
	const most = 30 // of each
	var all []int
	for at, i := range p.targets[0] {
		if v.effect(p, 0, i, v.metrics()[0]) != nil {
			all = append(all, at)
		}
	}
	share := func(at int) float64 { return p.results[0].Targets[p.targets[0][at]].Share }
	places = slices.Clone(all[:min(most, len(all))])
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(share(b), share(a)) })
	for _, at := range all[:min(most, len(all))] {
		if !slices.Contains(places, at) {
			places = append(places, at)
		}
	}
	return places
}

// expectedShare is what a profiler lets one expect of a unit at 100%; 0 where it says nothing: a share is one of the
// time, not of a latency.
func (v *view) expectedShare(t *analyze.Target) float64 {
	if v.latency() {
		return 0
	}
	return t.Share
}
