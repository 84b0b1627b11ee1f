package experiment

import (
	"math"

	"whatif/internal/analyze"
	"whatif/internal/plan"
	"whatif/internal/profile"
)

// trials decides which experiment comes next, and when enough is known.
type trials struct {
	plan    *plan.Plan
	placebo func() uint32 // the unit that is no code; 0: there is no room for it
	delayed usualDelay
	enough  func(*analyze.Result) bool // see Config.Enough
	evenly  bool                       // nothing is learnt about units: they are drawn by their samples
	next    int                        // how many experiments there are when the data are analysed next
	settled bool                       // enough is known
}

// newTrials begins a plan. placebos: some of its trials are to be placebos.
func newTrials(cfg *Config, placebo func() uint32, placebos bool) *trials {
	return &trials{
		plan: newPlan(cfg, placebos), placebo: placebo, enough: cfg.Enough,
		// A user who names units wants to know about each of them.
		evenly: cfg.Even || len(cfg.Targets) > 0,
	}
}

func newPlan(cfg *Config, placebos bool) *plan.Plan {
	var p *plan.Plan
	switch {
	case cfg.Even:
		return plan.Even(cfg.Seed, cfg.Speedups)
	case cfg.Enough != nil && !cfg.RunsOn:
		p = plan.Race(cfg.Seed, cfg.Speedups)
	default:
		p = plan.New(cfg.Seed, cfg.Speedups)
	}
	if placebos {
		p.TryPlacebos()
	}
	return p
}

// draw draws the next trial, and completes a placebo.
func (t *trials) draw(candidates func() []plan.Candidate) plan.Trial {
	trial := t.plan.Next(candidates)
	if !trial.Placebo {
		return trial
	}
	unit := t.placebo()
	if unit == 0 { // a baseline in its place
		return plan.Trial{Pair: trial.Pair}
	}
	trial.Unit, trial.Watch, trial.Speedup = unit, unit, t.delayed.next()
	return trial
}

// add counts an experiment that can be used.
func (t *trials) add(trial plan.Trial, e *profile.Experiment) { t.delayed.add(trial, e) }

// learn analyses the data so far, for the plan and to see whether they are enough: after each pair at first, then
// whenever there are a fiftieth more experiments, so that all of it takes time in proportion to the run. When it does
// so depends on the number of experiments only, and not on the clock: so the same seed gives the same plan.
func (t *trials) learn(data *profile.Data) {
	n := len(data.Experiments)
	if n < t.next || t.evenly && t.enough == nil {
		return
	}
	t.next = n + max(2, n/50)
	result := analyze.Analyze([]*profile.Data{data}, analyze.Options{})
	if !t.evenly {
		t.plan.Learn(known(result, data.Units))
	}
	t.settled = t.enough != nil && t.enough(result) && t.placebosTold(result)
}

// placebosTold says whether there were enough placebos. They show whether a point keeps a pace of its own, and what
// delays cost by themselves; until then intervals may be narrow and wrong. If there were not enough, the next pair is a
// placebo.
func (t *trials) placebosTold(r *analyze.Result) bool {
	if r.Placebo != nil && r.Placebo.Tried >= analyze.EnoughPlacebos {
		return true
	}
	return !t.plan.PlaceboNext() || t.placebo() == 0 // none are tried, or there is no room for one
}

// known is what the plan has to know of the units of this run.
func known(r *analyze.Result, units map[uint32]profile.Unit) map[uint32]plan.Known {
	ids := make(map[profile.UnitKey]uint32, len(units))
	for id, u := range units {
		ids[u.Key()] = id
	}
	of := make(map[uint32]plan.Known, len(units))
	for i := range r.Targets {
		if id, ok := ids[r.Targets[i].Unit.Key()]; ok {
			p := r.Prospect(&r.Targets[i])
			of[id] = plan.Known{Most: p.Most, Gain: p.Gain, Half: p.Half, Bounded: p.Bounded, Bend: p.Bend}
		}
	}
	return of
}

// round rounds a probability to as many digits as are worth a place in the file.
func round(p float64) float64 { return math.Round(p*1e4) / 1e4 }
