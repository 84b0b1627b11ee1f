package cli

import (
	"cmp"
	"errors"

	"whatif/internal/analyze"
	"whatif/internal/code/sourcepath"
	"whatif/internal/estimate"
	"whatif/internal/hint"
	"whatif/internal/point"
	"whatif/internal/profile"
)

// recordedRun is the last of the runs that has a recording; nil: none has.
func recordedRun(runs []*profile.Data) *profile.Data {
	for i := len(runs) - 1; i >= 0; i-- {
		if runs[i].HasRecording() {
			return runs[i]
		}
	}
	return nil
}

// openRecording prepares the recording of a run. Its files are shown at their present paths.
func openRecording(d *profile.Data, moved sourcepath.Map) (*estimate.Estimator, error) {
	r, err := d.Recording()
	if err != nil {
		return nil, err
	}
	estimate.MapFiles(r, moved.Apply)
	opt := estimate.Options{Kind: unitKind(d), Waiting: d.Run.Waiting}
	for _, text := range d.Run.Targets {
		if t, err := point.ParseTarget(text); err == nil { // a profile may be from anybody
			opt.Targets = append(opt.Targets, t)
		}
	}
	return estimate.Open(r, opt)
}

// unitKind is the kind of unit that a run was about. Older runs do not say so, but have units.
func unitKind(d *profile.Data) string {
	counts := map[string]int{}
	for _, u := range d.Units {
		switch {
		case u.Kind == "func" && u.Self:
			counts["func-self"]++
		case u.Kind == "line" || u.Kind == "func" || u.Kind == "file" || u.Kind == "binary":
			counts[u.Kind]++
		}
	}
	most := ""
	// Among lines and files there are functions, where the code has no lines.
	for _, kind := range []string{"line", "file", "func", "func-self", "binary"} {
		if counts[kind] > 0 && most == "" {
			most = kind
		}
	}
	return cmp.Or(d.Run.Unit, most, "line")
}

// addEstimates puts what the recording of the last run says beside what all experiments say.
func addEstimates(result *analyze.Result, runs []*profile.Data, moved sourcepath.Map) {
	all, doubts := estimatesOf(runs, moved)
	if all != nil {
		result.AddEstimates(all)
	}
	result.Warnings = append(result.Warnings, doubts...)
}

// estimatesOf is what the recording of the last run says; nil if there is none, or it cannot be used.
func estimatesOf(runs []*profile.Data, moved sourcepath.Map) (all *analyze.Estimates, doubts analyze.Warnings) {
	d := recordedRun(runs)
	if d == nil {
		return nil, nil
	}
	e, err := openRecording(d, moved)
	if err != nil {
		doubts.Add("no-estimates", "the recording gives no estimates: %v", err)
		return nil, doubts
	}
	all = allEstimates(e, d)
	all.Within = len(d.Experiments) > 0
	return all, nil
}

// allEstimates are those of all units, and of the combination that a run is about.
func allEstimates(e *estimate.Estimator, d *profile.Data) *analyze.Estimates {
	all := e.All()
	if len(d.Run.Together) > 0 && all.Refused == "" {
		all.Units = append(all.Units, togetherEstimate(e, d.Run.Together))
	}
	return all
}

// togetherEstimate is what a recording says of units that are made faster at once. A unit without time in it changes
// nothing.
func togetherEstimate(e *estimate.Estimator, parts []profile.Part) analyze.EstimatedUnit {
	of := analyze.EstimatedUnit{Unit: profile.TogetherUnit(parts), Together: parts}
	var q estimate.Question
	for _, p := range parts {
		u, err := e.Find(p.Target)
		if err != nil {
			continue
		}
		q.Faster = append(q.Faster, estimate.Faster{Unit: u, Percent: p.Percent})
		of.Samples += u.Samples
		of.Share, of.Waited = min(100, of.Share+u.Share), min(100, of.Waited+u.Waited)
	}
	for _, a := range e.Ask(q) {
		effect := analyze.EstimatedEffect{Point: a.Point, Metric: a.Metric, Refused: a.Refused}
		if len(q.Faster) == 0 {
			effect.Refused = "none of the units has time in the recording"
		}
		if effect.Refused == "" {
			effect.Levels = []analyze.Level{{Speedup: 100, Gain: a.Gain}}
		}
		of.Effects = append(of.Effects, effect)
	}
	return of
}

// explainRecording adds the remedy to the error about a recording that cannot be used.
func explainRecording(err error) error {
	var unknown *estimate.NotFoundError
	switch {
	case errors.Is(err, profile.ErrNoRecording):
		return hint.New(err, "whatif record, or whatif run --no-delays, records a program without delaying it")
	case errors.As(err, &unknown):
		return hint.New(err, largest(unknown.Largest))
	}
	return err
}
