package experiment

import (
	"context"
	"time"
)

// Where nothing is sped up there are no units to try in turn, and each end of an experiment takes time from a program
// that computes. Once an execution has had fewToRest experiments, the others are at least restingLength long.
const (
	restingLength = 500 * time.Millisecond
	fewToRest     = 5
)

// experimentsInExecutions runs experiments while the program runs, and runs the program again as often as was asked. It
// returns the last process.
func (l *trialLoop) experimentsInExecutions(ctx context.Context, p subject) (subject, error) {
	for n := 1; ; n++ {
		if err := p.Release(); err != nil {
			return p, err
		}
		if l.cfg.Starts() {
			l.executions = n
		}
		l.whileRunning(ctx, p)
		next, err := l.nextExecution(ctx, p, n)
		if next == nil {
			return p, err
		}
		p = next
	}
}

// whileRunning runs experiments until the program ends, or profiling is to stop.
func (l *trialLoop) whileRunning(ctx context.Context, p subject) {
	if !l.pause(ctx, p, l.cfg.Warmup) {
		return
	}
	l.meter.rebase()
	complete := 0
	for p.alive(l.ledger) && !l.over(ctx) {
		l.takePoints()
		if len(l.probes.Points()) == 0 { // they are still to come
			l.pause(ctx, p, l.cfg.Experiment/4)
			l.meter.rebase()
			continue
		}
		if l.recordDue() {
			l.recordPart(ctx, p)
			l.meter.rebase()
			continue
		}
		w := l.next()
		trial := w.trials.draw(l.meter.candidates)
		length := w.lengths.of(trial)
		if l.cfg.Rests() && complete >= fewToRest {
			length = max(length, restingLength)
		}
		l.begin(w, trial, length, time.Duration(settle*float64(length)))

		why := usable
		if !l.pause(ctx, p, length) {
			why = endedEarly
		}
		for why == usable && l.ledger.Left() > 0 {
			time.Sleep(l.ledger.Left())
		}
		e := l.record(w, trial, l.end(), why)
		if why == usable {
			complete++
			w.lengths.add(e)
		}
		l.learn()
	}
}

// nextExecution starts the program again after it has ended n times, and makes it the target, stopped. It gives nil if
// there is to be no other execution.
func (l *trialLoop) nextExecution(ctx context.Context, last subject, n int) (subject, error) {
	if l.over(ctx) || !l.again(last, n) {
		return nil, nil
	}
	p, err := l.launch(ctx)
	if err != nil {
		return nil, err
	}
	if last.Interrupted() { // meanwhile
		p.Close()
		return nil, nil
	}
	if err := p.join(l.ledger); err != nil {
		p.Close()
		return nil, err
	}
	last.Close()
	return p, nil
}

// again tells whether a program that has ended n times is to be run once more: as often as asked, or until the time is
// up. A program that has failed, or was told to end, is not.
func (l *trialLoop) again(p subject, n int) bool {
	if !p.Ended() || p.Interrupted() {
		return false
	}
	if status, err := p.wait(); status != 0 || err != nil {
		return false
	}
	if l.cfg.Repeat > 0 {
		return n < l.cfg.Repeat
	}
	return l.cfg.Duration > 0 || l.cfg.Enough != nil && !l.cfg.RunsOn
}
