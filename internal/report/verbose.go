package report

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// provenance describes where, when and from what each run was made, and what measuring cost.
func provenance(p *printer, r *analyze.Result) {
	for i := range r.Runs {
		run := &r.Runs[i]
		if run.Run == nil {
			continue
		}
		p.hanging(fmt.Sprintf("run %d: ", i+1), strings.Join(origin(run), ", "))
		if len(run.Run.Args) > 0 {
			p.hanging("  of ", command(run.Run.Args))
		}
		for _, file := range slices.Sorted(maps.Keys(run.BuildIDs)) {
			p.hanging("  build ", fmt.Sprintf("%s of %s", clean(run.BuildIDs[file]), clean(file)))
		}
		measuring(p, r, run)
	}
	if r.RealNS > 0 && r.PausedNS+r.HeldNS+r.DealtNS > 0 {
		p.hanging("measuring: ", fmt.Sprintf("cores were stopped for %.1f s, threads held for %.1f s; others that the "+
			"program deals with took %.1f%% of a core",
			float64(r.PausedNS)/1e9, float64(r.HeldNS)/1e9, percent(r.DealtNS, r.RealNS)))
	}
	charges(p, r)
	placebo(p, r)
}

// origin says where a run was made, and how often it looked at the program. A run that has just ended is of no file.
func origin(run *analyze.RunFacts) (parts []string) {
	if run.File != "" {
		parts = append(parts, clean(run.File))
	}
	if !run.Run.Started.IsZero() {
		parts = append(parts, run.Run.Started.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	if m := Machine(run.Run); m != "" {
		parts = append(parts, clean(m))
	}
	parts = append(parts, "a sample every "+analyze.Duration(float64(run.Run.PeriodNS)))
	if run.Ticks > 1 {
		parts = append(parts, fmt.Sprintf("or every %s since threads were seen to wait busily, or to hand over often",
			analyze.Duration(float64(run.Run.PeriodNS)/float64(run.Ticks))))
	}
	if run.End == nil {
		parts = append(parts, "killed")
	}
	return parts
}

// charges describes why threads were charged for delays, or not.
func charges(p *printer, r *analyze.Result) {
	reasons := slices.SortedFunc(maps.Keys(r.LevelsNS), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.LevelsNS[b], r.LevelsNS[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, reason := range reasons {
		if ns := r.LevelsNS[reason]; ns >= 5e7 || ns <= -5e7 {
			parts = append(parts, fmt.Sprintf("%s %.1f s", clean(reason), float64(ns)/1e9))
		}
	}
	if len(parts) > 0 {
		p.hanging("levels: ", strings.Join(parts, ", "))
	}
}

// placebo describes the effect of the placebos.
func placebo(p *printer, r *analyze.Result) {
	if r.Placebo == nil {
		return
	}
	for i := range r.Placebo.Effects {
		e := &r.Placebo.Effects[i]
		if delayed, gain := e.PlaceboChange(); e.Metric == analyze.Throughput && gain.Bounded {
			corrected := ""
			if r.Points[e.Point].DelayBiased {
				corrected = ": gains are corrected for it"
			}
			p.hanging("placebo: ", fmt.Sprintf("delays of %.0f%% of the time for nothing changed %s by %+.1f ± %.1f%%, "+
				"which should be 0%s",
				delayed, clean(r.Points[e.Point].Name), gain.Value, gain.Half(), corrected))
		}
	}
}

// measuring describes what a run's counting cost, and its unwind tables.
func measuring(p *printer, r *analyze.Result, run *analyze.RunFacts) {
	if run.End == nil {
		return
	}
	for i, ns := range run.End.CountingNS {
		if i < len(run.Run.Points) && i < len(run.End.Visits) && ns > 0 && run.End.Visits[i] > 0 {
			p.hanging("  counting ", fmt.Sprintf("%s took %s a visit", clean(run.Run.Points[i].Name),
				analyze.Duration(float64(ns)/float64(run.End.Visits[i]))))
		}
	}
	if t := run.End.Tables; t != nil && t.MaxRows > 0 {
		p.hanging("  unwind tables: ", fmt.Sprintf("%d of %d rows, %.1f MiB", t.Rows, t.MaxRows, float64(t.Bytes)/(1<<20)))
	}
}

// Machine describes where a run was made; "" if that is not known.
func Machine(run *profile.Run) string {
	var parts []string
	if run.Host != "" {
		parts = append(parts, run.Host)
	}
	if run.CPUs > 0 {
		cpus := count(run.CPUs, "CPU")
		if run.CPUModel != "" {
			cpus += " " + run.CPUModel
		}
		parts = append(parts, cpus)
	}
	if run.Kernel != "" {
		parts = append(parts, "Linux "+run.Kernel)
	}
	return strings.Join(parts, ", ")
}

// mainBuild is the build of the binary with most of the CPU time, among those with a known build;
// or else the first one that is known.
func mainBuild(r *analyze.Result) string {
	if len(r.Runs) == 0 || len(r.Runs[0].BuildIDs) == 0 {
		return ""
	}
	ids := r.Runs[0].BuildIDs
	most, file := -1.0, slices.Min(slices.Collect(maps.Keys(ids)))
	for i := range r.Targets {
		if t := &r.Targets[i]; t.Share > most && ids[t.Unit.Binary] != "" {
			most, file = t.Share, t.Unit.Binary
		}
	}
	text := "build " + cutRight(clean(ids[file]), 12)
	if len(ids) > 1 {
		text += " of " + clean(path.Base(file))
	}
	return text
}
