package experiment

import (
	"context"
	"time"

	"whatif/internal/ledger"
)

// wholeRun is longer than any execution: an experiment of a whole run ends when
// the program does.
const wholeRun = 24 * time.Hour

// executionsAsExperiments is for batch programs without a progress point: each execution is one
// experiment, and its end the one visit of its one point.
func (s *session) executionsAsExperiments(ctx context.Context, p subject) (subject, error) {
	for n := 1; ; n++ {
		trial := s.nextTrial()
		s.rebase()
		s.ledger.Begin(ledger.Experiment{
			Unit:    trial.Watch,
			Wait:    s.units.waitOf(trial.Watch),
			Delay:   s.cfg.Period * time.Duration(trial.Speedup) / 100,
			Length:  wholeRun,
			Placebo: trial.Placebo,
		})
		if err := p.Release(); err != nil {
			return p, err
		}
		setAside := ""
		s.pause(ctx, p, wholeRun)
		if p.alive(s.ledger) {
			setAside = "ended early"
		}
		r := s.ledger.End(s.units.count())
		if setAside == "" {
			if status, err := p.wait(); status != 0 || err != nil {
				setAside = "the program failed"
			}
		}
		s.delays.add(trial, s.record(trial, r, setAside))
		s.learn()
		s.progress()
		if s.over(ctx) || !s.again(p, n) {
			return p, nil
		}
		next, err := s.restart(ctx)
		if err != nil {
			return p, err
		}
		p.Close()
		p = next
	}
}
