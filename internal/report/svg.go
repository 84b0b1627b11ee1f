package report

import (
	"fmt"
	"io"
	"slices"

	"whatif/internal/analyze"
	"whatif/internal/chart"
)

// SVG writes the curves of the units that rank first, those of each point in a section
// of its own, or, with Options.Unit, all curves of that unit.
func SVG(w io.Writer, r *analyze.Result, opt Options) error {
	points, err := selected(r, opt.Point)
	if err != nil {
		return err
	}
	targets := shownTargets(r)
	name, file := unitNames(unitsOf(r)), fileNames(unitsOf(r))
	if opt.Unit != "" {
		if targets = slices.DeleteFunc(targets, func(t *analyze.Target) bool { return name(t.Unit) != opt.Unit && t.Unit.Name != opt.Unit }); len(targets) == 0 {
			return fmt.Errorf("selecting unit %s: it was not tried in this profile", clean(opt.Unit))
		}
	} else if opt.Top > 0 {
		targets = targets[:min(len(targets), opt.Top)]
	}
	s := chart.Sheet{Title: "no run", Width: 300}
	if opt.Unit != "" {
		s.Width = 420
	}
	if len(r.Runs) > 0 {
		s.Title = command(r.Runs[0].Run.Args)
		s.Notes = append(s.Notes, fmt.Sprintf("%s and %s; bands are 95%% intervals", count(r.Experiments, "experiment"), count(r.Baselines, "baseline")))
	}
	if doubt := r.Doubt(); doubt != "" {
		s.Notes = append(s.Notes, clean(doubt))
	}
	for _, warning := range r.Warnings {
		s.Notes = append(s.Notes, "warning: "+clean(warning.Text))
	}
	panel := func(t *analyze.Target, e *analyze.Effect) chart.Panel {
		detail := clean(functionOf(t.Unit, file))
		if detail != "" {
			detail += ", "
		}
		return chart.Panel{Name: clean(name(t.Unit)), Detail: detail + share(t.Share) + " of the time", Verdict: Words(e), Effect: e}
	}
	section := func(heading string, find func(t *analyze.Target) *analyze.Effect) {
		sec := chart.Section{Heading: heading}
		for _, t := range targets {
			if e := find(t); e != nil {
				sec.Panels = append(sec.Panels, panel(t, e))
				for _, note := range notes(t, e) {
					sec.Notes = append(sec.Notes, clean(name(t.Unit))+": "+note)
				}
			}
		}
		if len(sec.Panels) == 0 {
			sec.Heading += ": no unit was tried"
		}
		s.Sections = append(s.Sections, sec)
	}
	for _, k := range points {
		if opt.Point == "" && begins(r, k) {
			continue
		}
		section("gain at point "+clean(r.Points[k].Name), func(t *analyze.Target) *analyze.Effect { return effectOn(t, k, analyze.Throughput) })
		for i := range r.Latencies {
			l := &r.Latencies[i]
			if l.End != k {
				continue
			}
			section("fall of the mean of latency "+clean(l.Name), func(t *analyze.Target) *analyze.Effect { return effectOn(t, k, analyze.MeanLatency) })
			for _, q := range analyze.Quantiles {
				if l.Quantiles != nil && opt.Unit != "" {
					section(fmt.Sprintf("fall of the %s of latency %s", q.Metric, clean(l.Name)), func(t *analyze.Target) *analyze.Effect { return effectOn(t, k, q.Metric) })
				}
			}
		}
	}
	if err := s.Write(w); err != nil {
		return fmt.Errorf("writing SVG: %w", err)
	}
	return nil
}

// shownTargets are the units that were tried.
func shownTargets(r *analyze.Result) (targets []*analyze.Target) {
	for i := range r.Targets {
		if r.Targets[i].Tried > 0 {
			targets = append(targets, &r.Targets[i])
		}
	}
	return targets
}

func effectOn(t *analyze.Target, k int, m analyze.Metric) *analyze.Effect {
	for i := range t.Effects {
		if e := &t.Effects[i]; e.Point == k && e.Metric == m {
			return e
		}
	}
	return nil
}
