package experiment

import (
	"errors"
	"time"

	"whatif/internal/ledger"
	"whatif/internal/point"
	"whatif/internal/profile"
)

// finish ends profiling, and waits for the program's end, where it was started. failure is the loop's.
func (r *run) finish(failure error) (*Outcome, error) {
	cfg, p := r.cfg, r.subject
	// The program is told to end first: the kernel takes probes away only when each core has had time for it, and a target
	// that keeps all of them busy at a high priority leaves little.
	timeUp := r.loop.timeUp()
	told := timeUp && !p.Ended()
	if timeUp || p.Interrupted() {
		if err := p.tell(r.ledger); err != nil {
			cfg.Log.Warn(err.Error())
		}
	}
	err := errors.Join(failure, r.detach())
	end := r.totals()
	listing := r.units.listing(r.ledger.Totals(r.units.count()))
	r.watch.quotas.checkMachine()
	r.watch.debugInfo.interpreters()
	r.checkLater()
	r.checkTogether()
	if missing := r.probes.Missing(); err == nil && missing != nil {
		err = missing
	}
	runsOn := r.loop.settled() && cfg.RunsOn && p.alive(r.ledger)
	err = errors.Join(err, r.close())
	if runsOn {
		r.sayRunsOn()
	}
	status, waiting := p.wait()
	if waiting != nil {
		cfg.Log.Warn(waiting.Error())
	}
	end.Status, end.Ended = status, told && !p.Interrupted() && p.Done() != nil
	r.checkExits(end.Visits)
	r.checkBuilds()
	r.rec.end(end)
	return &Outcome{
		Status: status, Data: r.rec.data, Written: r.rec.lost == nil, Settled: r.loop.settled(),
		Ended: told && !p.Interrupted(), Listing: listing,
	}, errors.Join(err, r.rec.lost)
}

// totals is what was counted in all.
func (r *run) totals() profile.End {
	l := r.ledger
	end := profile.End{RealNS: int64(ledger.Now() - r.loop.start), Losses: losses(l.Totals(0))}
	lost := func(name string, n int64) {
		if end.Losses == nil {
			end.Losses = make(map[string]int64)
		}
		end.Losses[name] = n
	}
	if n := l.Missed(); n > 0 {
		lost(ledger.MissedEvents, n)
	}
	tables := l.TableUse()
	end.Tables = &profile.Tables{Rows: tables.Rows, MaxRows: tables.MaxRows, Bytes: tables.Bytes}
	// The last processes may have given names when they ended.
	if err := r.probes.Named(); err != nil {
		r.cfg.Log.Warn(err.Error())
	}
	r.loop.takePoints()
	for i := range r.probes.Points() {
		end.Visits = append(end.Visits, l.Visits(i))
		end.CountingNS = append(end.CountingNS, int64(l.Spent(i)))
	}
	if left := l.WaitsUnended(); left != 0 && l.Processes() == 0 {
		lost(ledger.WaitsLeft, left)
	}
	end.Sites = r.probes.Places()
	return end
}

// sayRunsOn says that experiments have ended, and what that leaves unknown. No delay, no sample and no probe is left by
// now.
func (r *run) sayRunsOn() {
	after := time.Duration(ledger.Now() - r.loop.start).Round(time.Second)
	r.rec.warn("settled", "experiments ended after %v: the leading units are known well enough. "+
		"The program runs on undisturbed, and its later work is not measured (with -d TIME or --repeat 1 it is)", after)
}

// checkExits warns of an exit point that nothing but the program itself has visited, once in each execution: all its
// experiments ended with it, and are discarded.
func (r *run) checkExits(visits []int64) {
	for i, spec := range r.probes.Points() {
		if spec.Kind == point.Exit && visits[i] > 0 && visits[i] <= int64(r.loop.executions) {
			r.rec.warn("exit-only-own", "progress point %s: no process ended but the program itself; "+
				"without -p each execution is one experiment, which is what a batch program needs", spec.Name)
		}
	}
}

// checkBuilds warns of programs that were built anew while they were measured, or are different in different
// containers: the same name stands for different units.
func (r *run) checkBuilds() {
	for path := range r.rec.data.BuildIDs() {
		if r.units.mixedBuilds(path) {
			r.rec.warn("two-builds", "several builds of %s ran: lines of the same number are taken for the same, so their "+
				"gains are mixed. Profile one build", path)
		}
	}
}
