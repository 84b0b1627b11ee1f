package experiment

import (
	"math"
	"time"

	"whatif/internal/analyze"
	"whatif/internal/ledger"
	"whatif/internal/plan"
	"whatif/internal/profile"
)

func newPlan(cfg *Config) *plan.Plan {
	var p *plan.Plan
	switch {
	case cfg.Even:
		return plan.Even(cfg.Seed, cfg.Speedups)
	case cfg.Enough != nil && !cfg.RunsOn:
		p = plan.Race(cfg.Seed, cfg.Speedups)
	default:
		p = plan.New(cfg.Seed, cfg.Speedups)
	}
	p.TryPlacebos()
	return p
}

// learn has the data so far analysed, for the plan and to see whether they are enough:
// after each pair at first, then whenever there are a fiftieth more, so that what all of
// it takes is in proportion to the run. When depends on the number of experiments
// alone, and not on the clock, for a seed to be worth something.
func (s *session) learn() {
	n := len(s.data.Experiments)
	// Who names units wants to know about each of them: they are drawn by their samples.
	evenly := s.cfg.Even || len(s.cfg.Targets) > 0
	if n < s.look || evenly && s.cfg.Enough == nil {
		return
	}
	s.look = n + max(2, n/50)
	result := analyze.Analyze([]*profile.Data{s.data}, analyze.Options{})
	if !evenly {
		s.plan.Learn(known(result, s.data.Units))
	}
	s.settled = s.cfg.Enough != nil && s.cfg.Enough(result) && s.placebosTold(result)
}

// sayRunsOn says that experiments have ended, and what that leaves unknown. No delay, no sample and no probe is left by now.
func (s *session) sayRunsOn() {
	after := time.Duration(ledger.Now() - s.start).Round(time.Second)
	s.warn("settled", "experiments ended after %v: the leading units are known well enough. The program runs on undisturbed, and its later work is "+
		"not measured (with -d TIME or --repeat 1 it is)", after)
}

// placebosTold says whether it is known if points keep a pace of their own, and what delays cost them by themselves: where there is such
// a thing intervals are narrow, and wrong, until placebos have told. If not the next pair is one.
func (s *session) placebosTold(r *analyze.Result) bool {
	if r.Placebo != nil && r.Placebo.Tried >= analyze.EnoughPlacebos {
		return true
	}
	return !s.plan.PlaceboNext() || s.units.placebo() == 0 // none are tried, or there is no room for one
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

// round rounds a probability to what is worth a place in the file.
func round(p float64) float64 { return math.Round(p*1e4) / 1e4 }
