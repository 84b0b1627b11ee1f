package experiment

import (
	"context"
	"time"

	"whatif/internal/experiment/probes"
	"whatif/internal/ledger"
	"whatif/internal/plan"
	"whatif/internal/profile"
)

// trialLoop runs one experiment after another, and writes their records.
type trialLoop struct {
	cfg    *Config
	launch func(context.Context) (subject, error) // once more
	ledger *ledger.Ledger
	units  *unitTable
	probes *probes.Probes
	rec    *recorder
	watch  *watchers
	here   *world
	there  *world // nil: experiments are about this machine only
	meter  *meter

	start      uint64 // of profiling, on the ledger's clock
	report     uint64 // when Progress is due
	executions int    // of a program that has points, started so far
	toRecord   bool   // a part of the run is still to be recorded
	drawn      int    // trials
	together   int    // units of a combination that the experiment under way speeds up
}

// run profiles a subject that is ready to run. It returns the subject of the last execution.
func (l *trialLoop) run(ctx context.Context, p subject) (last subject, err error) {
	switch {
	case l.cfg.List:
		return l.listing(ctx, p)
	case l.rec.data.Run.WholeRuns:
		return l.executionsAsExperiments(ctx, p)
	}
	return l.experimentsInExecutions(ctx, p)
}

// begin begins a trial's experiment.
func (l *trialLoop) begin(w *world, t plan.Trial, length, settle time.Duration) {
	if !l.cfg.Rests() { // as in Profile
		l.ledger.MeasureMoreTicks()
	}
	l.watch.begin()
	l.together = l.units.togetherUnits()
	if l.together > ledger.MaxSelected {
		l.rec.warn("together-many", "the code that is sped up together is %d units, %d are possible: the others are not "+
			"sped up", l.together, ledger.MaxSelected)
	}
	e := ledger.Experiment{
		Selection: l.units.selection(t.Watch, t.Speedup), Baseline: t.Speedup == 0, Placebo: t.Placebo,
		Length: length, Settle: settle,
	}
	if w.device != nil {
		e.Selection, e.Baseline = onDevice(w.device, e.Selection, t.Speedup), false
	}
	l.ledger.Begin(e)
}

// end ends the experiment under way.
func (l *trialLoop) end() ledger.Reading {
	l.watch.lease.renew() // it may have ended before its time: then this tells why it cannot be used
	return l.ledger.End(l.units.count())
}

// record makes the record of an experiment that has ended, and keeps it. why: it is discarded already.
func (l *trialLoop) record(w *world, t plan.Trial, r ledger.Reading, why reason) *profile.Experiment {
	e, counted := l.meter.read(t, r)
	l.watch.counted(&e, counted, r.Totals)
	why = l.watch.judge(&e, why)
	if why == usable && l.units.togetherUnits() != l.together {
		why = unitMet
	}
	if why == usable {
		w.trials.add(t, &e)
	}
	e.SetAside = string(why)
	l.rec.keep(&e, w.device != nil)
	return &e
}

// pause waits; false: the target is gone, or profiling is to stop, before that is over.
func (l *trialLoop) pause(ctx context.Context, p subject, d time.Duration) bool {
	end := ledger.Now() + uint64(d)
	// Descendants that outlive the program are looked for now and then.
	const glance = 50 * time.Millisecond
	done := p.Done()
	for {
		now := ledger.Now()
		if now >= end {
			return true
		}
		l.watch.lease.renew()
		wait := min(time.Duration(end-now), ledger.RenewEvery)
		if done == nil {
			wait = min(wait, glance)
		}
		if l.cfg.Duration > 0 {
			wait = min(wait, max(l.left(), 0))
		}
		if next := l.watch.points.checkVisits(); next > 0 {
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
		if !p.alive(l.ledger) || l.over(ctx) {
			return ledger.Now() >= end
		}
	}
}

// over tells whether profiling is to stop.
func (l *trialLoop) over(ctx context.Context) bool {
	return ctx.Err() != nil || l.settled() || l.timeUp()
}

// timeUp tells whether the program is to end: the duration is over, or enough is known.
func (l *trialLoop) timeUp() bool {
	return l.settled() && !l.cfg.RunsOn || l.cfg.Duration > 0 && l.left() <= 0
}

// left is how much of the duration is left.
func (l *trialLoop) left() time.Duration {
	return l.cfg.Duration - time.Duration(ledger.Now()-l.start)
}

// takePoints adds points that were found since it was called last.
func (l *trialLoop) takePoints() {
	points, latencies, err := l.probes.Take()
	if err != nil {
		l.cfg.Log.Warn(err.Error())
	}
	l.rec.addFound(points, latencies)
}

// learn learns from the experiments so far, and reports progress.
func (l *trialLoop) learn() {
	l.here.trials.learn(l.rec.data)
	if l.there != nil {
		l.there.trials.learn(l.rec.data.OnDevice())
	}
	l.progress()
}

// progress reports, at most once a second.
func (l *trialLoop) progress() {
	now := ledger.Now()
	if l.cfg.Progress == nil || now < l.report {
		return
	}
	l.report = now + uint64(time.Second)
	p := Progress{Elapsed: time.Duration(now - l.start), Data: l.rec.data}
	for i := range l.probes.Points() {
		p.Visits = append(p.Visits, l.ledger.Visits(i))
	}
	l.cfg.Progress(p)
}
