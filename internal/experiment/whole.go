package experiment

import (
	"context"
	"time"
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
		s.begin(trial, wholeRun, 0)
		if err := p.Release(); err != nil {
			return p, err
		}
		setAside := ""
		s.pause(ctx, p, wholeRun)
		if p.alive(s.ledger) || p.Interrupted() {
			setAside = "ended early"
		}
		r := s.end()
		if setAside == "" {
			if status, err := p.wait(); status != 0 || err != nil {
				setAside = "the program failed"
			}
		}
		s.record(trial, r, setAside)
		s.learn()
		s.progress()
		next, err := s.nextExecution(ctx, p, n)
		if next == nil {
			return p, err
		}
		p = next
	}
}
