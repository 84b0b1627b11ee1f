package report

import (
	"fmt"
	"io"
	"slices"

	"whatif/internal/analyze"
	"whatif/internal/chart"
)

// SVG writes the curves of the units that rank first, with a section for each point; or, with
// Options.Unit, all curves of that unit.
func SVG(w io.Writer, r *analyze.Result, opt Options) error {
	points, err := selected(r, opt.Point)
	if err != nil {
		return err
	}
	s, err := newSheet(r, opt)
	if err != nil {
		return err
	}
	for _, k := range points {
		if opt.Point == "" && begins(r, k) {
			continue
		}
		s.section("gain at point "+clean(r.Points[k].Name), k, analyze.Throughput)
		for i := range r.Latencies {
			l := &r.Latencies[i]
			if l.End != k {
				continue
			}
			s.section("fall of the mean of latency "+clean(l.Name), k, analyze.MeanLatency)
			for _, q := range analyze.Quantiles {
				if l.Quantiles != nil && opt.Unit != "" {
					s.section(fmt.Sprintf("fall of the %s of latency %s", q.Metric, clean(l.Name)), k, q.Metric)
				}
			}
		}
	}
	if err := s.Write(w); err != nil {
		return fmt.Errorf("writing SVG: %w", err)
	}
	return nil
}

// A sheet is a file of curves of some units.
type sheet struct {
	chart.Sheet
	targets []*analyze.Target
	name    namer
	file    map[string]string
}

// newSheet makes a sheet with title and notes, and no sections yet.
func newSheet(r *analyze.Result, opt Options) (*sheet, error) {
	s := &sheet{targets: shownTargets(r), name: unitNames(unitsOf(r)), file: fileNames(unitsOf(r))}
	s.Title, s.Width = "no run", 300
	if opt.Unit != "" {
		isOther := func(t *analyze.Target) bool { return s.name(t.Unit) != opt.Unit && t.Unit.Name != opt.Unit }
		if s.targets = slices.DeleteFunc(s.targets, isOther); len(s.targets) == 0 {
			return nil, fmt.Errorf("selecting unit %s: it was not tried in this profile", clean(opt.Unit))
		}
		s.Width = 420
	} else if opt.Top > 0 {
		s.targets = s.targets[:min(len(s.targets), opt.Top)]
	}
	if len(r.Runs) > 0 {
		s.Title = command(r.Runs[0].Run.Args)
		s.Notes = append(s.Notes, fmt.Sprintf("%s and %s; bands are 95%% intervals",
			count(r.Experiments, "experiment"), count(r.Baselines, "baseline")))
		if r.Estimates != nil {
			s.Notes = append(s.Notes, "dashed lines and open circles are estimates: "+recordedText(r))
		}
	}
	if doubt := r.Doubt(); doubt != "" {
		s.Notes = append(s.Notes, clean(doubt))
	}
	for _, warning := range r.Warnings {
		s.Notes = append(s.Notes, "warning: "+clean(warning.Text))
	}
	return s, nil
}

// section adds the units' curves of a metric of point k.
func (s *sheet) section(heading string, k int, m analyze.Metric) {
	sec := chart.Section{Heading: heading}
	for _, t := range s.targets {
		e := effectOn(t, k, m)
		if e == nil {
			continue
		}
		sec.Panels = append(sec.Panels, s.panel(t, e))
		for _, note := range notes(t, e) {
			sec.Notes = append(sec.Notes, clean(s.name(t.Unit))+": "+note)
		}
	}
	if len(sec.Panels) == 0 {
		sec.Heading += ": no unit was tried"
	}
	s.Sections = append(s.Sections, sec)
}

func (s *sheet) panel(t *analyze.Target, e *analyze.Effect) chart.Panel {
	detail := clean(functionOf(t.Unit, s.file))
	if detail != "" {
		detail += ", "
	}
	panel := chart.Panel{Name: clean(s.name(t.Unit)), Detail: detail + share(t.Share) + " of the time",
		Verdict: Words(e), Effect: e}
	if e.Metric == analyze.Throughput {
		panel.Share = t.Share
	}
	return panel
}

// shownTargets are the units that were tried, or have estimates.
func shownTargets(r *analyze.Result) (targets []*analyze.Target) {
	isEstimated := func(e analyze.Effect) bool { return len(e.Estimated) > 0 }
	for i := range r.Targets {
		if r.Targets[i].Tried > 0 || slices.ContainsFunc(r.Targets[i].Effects, isEstimated) {
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
