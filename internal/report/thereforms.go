package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"whatif/internal/analyze"
	"whatif/internal/chart"
)

// csvThereHead names the columns of the CSV report about another machine. New columns are added at the end, and none is
// renamed.
var csvThereHead = []string{"unit", "name", "file", "line", "func", "binary", "point", "metric", "speedup",
	"gain_here", "gain_here_low", "gain_here_high", "verdict_here", "rank_here",
	"gain_there", "gain_there_low", "gain_there_high", "verdict_there", "rank_there", "refused"}

// CSVThere writes the result on both machines in the format of RFC 4180: a row for each unit, point, metric and
// speed-up that is known on one of them; one without a speed-up for a unit of which nothing is. Gains are percent,
// unknown ones are empty.
func CSVThere(w io.Writer, t *There, opt Options) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	rows := [][]string{csvThereHead}
	err := t.each(opt, func(_ string, point string, metric analyze.Metric, all []pair, name namer) {
		for i := range all {
			rows = append(rows, all[i].csvRows(name(all[i].unit), point, metric)...)
		}
	})
	if err != nil {
		return err
	}
	if err := out.WriteAll(rows); err != nil {
		return fmt.Errorf("writing CSV report: %w", err)
	}
	return nil
}

func (p *pair) csvRows(name, point string, metric analyze.Metric) (rows [][]string) {
	u := p.unit
	line, refused := "", ""
	if u.Line > 0 {
		line = strconv.Itoa(u.Line)
	}
	if p.there != nil {
		refused = p.there.Refused
	}
	row := func(speedup string, cells [2][]string) {
		all := []string{u.Kind, harmless(name), harmless(u.File), line, harmless(u.Func), harmless(u.Binary),
			harmless(point), string(metric), speedup}
		for i, e := range []*analyze.Effect{p.here, p.there} {
			verdict, rank := "", ""
			if e != nil {
				verdict = string(e.Verdict)
			}
			if place := []int{p.placeHere, p.placeThere}[i]; place > 0 {
				rank = strconv.Itoa(place)
			}
			all = append(append(all, cells[i]...), verdict, rank)
		}
		rows = append(rows, append(all, harmless(refused)))
	}
	for speedup := 5; speedup <= 100; speedup += 5 {
		var cells [2][]string
		some := false
		for i, e := range []*analyze.Effect{p.here, p.there} {
			cells[i] = make([]string, 3)
			if e == nil {
				continue
			}
			if g, known, estimated := GainAt(e, speedup); known || estimated {
				cells[i], some = csvEstimate(g, 3), true
			}
		}
		if some {
			row(strconv.Itoa(speedup), cells)
		}
	}
	if len(rows) == 0 {
		row("", [2][]string{make([]string, 3), make([]string, 3)})
	}
	return rows
}

// each calls f for each metric of a point that is shown, with the units that have an effect on it: at most Top.
func (t *There) each(opt Options, f func(heading, point string, metric analyze.Metric, all []pair, name namer)) error {
	points, err := selected(t.There, opt.Point)
	if err != nil {
		return err
	}
	name := unitNames(append(unitsOf(t.There), unitsOf(t.Here)...))
	one := func(heading, point string, metric analyze.Metric) {
		all := t.pairs(point, metric)
		if opt.Top > 0 {
			all = all[:min(opt.Top, len(all))]
		}
		f(heading, point, metric, all, name)
	}
	for _, k := range points {
		if opt.Point == "" && begins(t.There, k) {
			continue
		}
		point := t.There.Points[k].Name
		one("gain at point "+clean(point), point, analyze.Throughput)
		for i := range t.There.Latencies {
			if l := &t.There.Latencies[i]; l.End == k {
				one("fall of the mean of latency "+clean(l.Name), point, analyze.MeanLatency)
			}
		}
	}
	return nil
}

// SVGThere writes the curves of the units that rank first on the device, those here beside those there.
func SVGThere(w io.Writer, t *There, opt Options) error {
	s, err := newSheet(t.There, Options{})
	if err != nil {
		return err
	}
	s.Title = fmt.Sprintf("%s: here (%s) and on %s", s.Title, clean(t.Host), clean(t.Device))
	for i := range t.Moves {
		if m := &t.Moves[i]; m.Metric == analyze.Throughput && (opt.Point == "" || m.Point == opt.Point) {
			s.Notes = append(s.Notes, t.moveText(m))
		}
	}
	found := opt.Unit == ""
	err = t.each(opt, func(heading, _ string, _ analyze.Metric, all []pair, name namer) {
		for i := range all {
			p := &all[i]
			if opt.Unit != "" && opt.Unit != name(p.unit) && opt.Unit != p.unit.Name {
				continue
			}
			found = true
			s.Sections = append(s.Sections, p.curves(heading, clean(name(p.unit)), clean(t.Device)))
		}
	})
	switch {
	case err != nil:
		return err
	case !found:
		return fmt.Errorf("selecting unit %s: it has no time in this profile", clean(opt.Unit))
	}
	if err := s.Write(w); err != nil {
		return fmt.Errorf("writing SVG: %w", err)
	}
	return nil
}

// curves are what a unit gains on both machines.
func (p *pair) curves(heading, name, device string) chart.Section {
	sec := chart.Section{Heading: name + ": " + heading}
	for i, e := range []*analyze.Effect{p.here, p.there} {
		where := []string{"here", "on " + device}[i]
		if e == nil {
			sec.Notes = append(sec.Notes, where+": nothing is known")
			continue
		}
		sec.Panels = append(sec.Panels, chart.Panel{Name: where, Verdict: Words(e), Effect: e})
		if e.Refused != "" {
			sec.Notes = append(sec.Notes, where+": no estimate: "+clean(e.Refused))
		}
	}
	return sec
}
