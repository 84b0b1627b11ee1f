package experiment

import (
	"context"
	"time"

	"whatif/internal/ledger"
	"whatif/internal/profile"
)

// Visits of the point that is visited most, in one experiment: below few the
// next ones are longer, above plenty shorter again. Rarer points get their data
// from many experiments together, and do not hold up the others.
const (
	fewVisits    = 5
	plentyVisits = 50
)

// longestExperiment, as a multiple of the length asked for.
const longestExperiment = 16

// Where nothing is sped up there are no units to try by turns, and each end of an experiment takes time from a program that
// computes: when one execution has had a few, the others are at least so long.
const (
	restingLength = 500 * time.Millisecond
	fewToRest     = 5
)

// attached runs experiments while the program runs, and runs the program again
// as often as was asked. It returns the last process.
func (s *session) attached(ctx context.Context, p subject) (subject, error) {
	for n := 1; ; n++ {
		if err := p.Release(); err != nil {
			return p, err
		}
		if s.cfg.Starts() {
			s.executions = n
		}
		s.whileRunning(ctx, p)
		next, err := s.nextExecution(ctx, p, n)
		if next == nil {
			return p, err
		}
		p = next
	}
}

// nextExecution is of a program that has ended n times, stopped, as the target; nil: it is not to be run once more.
func (s *session) nextExecution(ctx context.Context, last subject, n int) (subject, error) {
	if s.over(ctx) || !s.again(last, n) {
		return nil, nil
	}
	p, err := s.launch(ctx)
	if err != nil {
		return nil, err
	}
	if last.Interrupted() { // meanwhile
		p.Close()
		return nil, nil
	}
	if err := p.join(s.ledger); err != nil {
		p.Close()
		return nil, err
	}
	last.Close()
	return p, nil
}

// again tells whether a program that has ended n times is to be run once more:
// as often as asked, or until the time is up. One that failed, or was to end, is not.
func (s *session) again(p subject, n int) bool {
	if !p.Ended() || p.Interrupted() {
		return false
	}
	if status, err := p.wait(); status != 0 || err != nil {
		return false
	}
	if s.cfg.Repeat > 0 {
		return n < s.cfg.Repeat
	}
	return s.cfg.Duration > 0 || s.cfg.Enough != nil && !s.cfg.RunsOn
}

// over tells whether profiling is to stop.
func (s *session) over(ctx context.Context) bool {
	return ctx.Err() != nil || s.settled || s.timeUp()
}

// left is how much of the duration is left.
func (s *session) left() time.Duration {
	return s.cfg.Duration - time.Duration(ledger.Now()-s.start)
}

func (s *session) whileRunning(ctx context.Context, p subject) {
	if !s.pause(ctx, p, s.cfg.Warmup) {
		return
	}
	s.rebase()
	complete := 0
	for p.alive(s.ledger) && !s.over(ctx) {
		if err := s.takePoints(); err != nil {
			s.cfg.Log.Warn(err.Error())
		}
		if len(s.cfg.Points) == 0 { // they are still to come
			s.pause(ctx, p, s.cfg.Experiment/4)
			s.rebase()
			continue
		}
		trial := s.nextTrial()
		length := s.stretches.of(trial, s.length)
		if s.cfg.Rests() && complete >= fewToRest {
			length = max(length, restingLength)
		}
		s.begin(trial, length, time.Duration(settle*float64(length)))

		setAside := ""
		if !s.pause(ctx, p, length) {
			setAside = "ended early"
		}
		for setAside == "" && s.ledger.Left() > 0 {
			time.Sleep(s.ledger.Left())
		}
		e := s.record(trial, s.end(), setAside)
		if setAside == "" {
			complete++
			s.adaptLength(e)
			s.stretches.add(e)
		}
		s.learn()
		s.progress()
	}
}

// adaptLength chooses the length of the experiments to come.
func (s *session) adaptLength(e *profile.Experiment) {
	var most int64
	for _, p := range e.Points {
		most = max(most, p.Count)
	}
	// What takes as long as an experiment is at two speeds. Longer ones stay, as it
	// would be so again.
	carried := s.carried.add(e.Latencies)
	s.long = s.long || carried
	longest := longestExperiment * s.cfg.Experiment
	switch {
	case most < fewVisits && !carried:
		// As long as it takes, at once; without a visit, four times as long.
		s.length = min(longest, s.length*time.Duration(max(2, min(4, 2*fewVisits/max(most, 1)))))
	case carried && s.length < longest:
		s.length *= 2
	case most > plentyVisits && !s.long && s.length > s.cfg.Experiment:
		s.length /= 2
	}
}

// pause waits; false: the target is gone or profiling is to stop before that.
func (s *session) pause(ctx context.Context, p subject, d time.Duration) bool {
	end := ledger.Now() + uint64(d)
	// Descendants that outlive the program are looked for now and then.
	const glance = 50 * time.Millisecond
	done := p.Done()
	for {
		now := ledger.Now()
		if now >= end {
			return true
		}
		s.renew()
		wait := min(time.Duration(end-now), ledger.RenewEvery)
		if done == nil {
			wait = min(wait, glance)
		}
		if s.cfg.Duration > 0 {
			wait = min(wait, max(s.left(), 0))
		}
		if next := s.checkPoints(); next > 0 {
			wait = min(wait, next)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
		case <-done:
			done = nil
		}
		timer.Stop()
		if !p.alive(s.ledger) || s.over(ctx) {
			return ledger.Now() >= end
		}
	}
}

// timeUp tells whether the program is to end: the duration is over, or enough known.
func (s *session) timeUp() bool {
	return s.settled && !s.cfg.RunsOn || s.cfg.Duration > 0 && s.left() <= 0
}
