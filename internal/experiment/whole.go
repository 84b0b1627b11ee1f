package experiment

import (
	"context"
	"time"
)

// wholeRun is longer than any execution: an experiment of a whole run ends when the program does.
const wholeRun = 24 * time.Hour

// executionsAsExperiments is for batch programs without a progress point: each execution is one experiment, and its end
// is the one visit of its one point. It returns the last process.
func (l *trialLoop) executionsAsExperiments(ctx context.Context, p subject) (subject, error) {
	for n := 1; ; n++ {
		w := l.next()
		trial := w.trials.draw(l.meter.candidates)
		l.meter.rebase()
		l.begin(w, trial, wholeRun, 0)
		if err := p.Release(); err != nil {
			return p, err
		}
		why := usable
		l.pause(ctx, p, wholeRun)
		if p.alive(l.ledger) || p.Interrupted() {
			why = endedEarly
		}
		r := l.end()
		if why == usable {
			if status, err := p.wait(); status != 0 || err != nil {
				why = programFailed
			}
		}
		l.record(w, trial, r, why)
		l.learn()
		next, err := l.nextExecution(ctx, p, n)
		if next == nil {
			return p, err
		}
		p = next
	}
}
