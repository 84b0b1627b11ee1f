package experiment

import (
	"cmp"

	"whatif/internal/ledger"
	"whatif/internal/profile"
)

// watchers look at the machine and the target beside the experiments. They say why an experiment cannot be used, warn
// of what makes results wrong, and begin what costs too much to be done in each session.
type watchers struct {
	lease       *lease
	limits      *limits
	quotas      *quotas
	clocks      *clocks
	disturbance *disturbance
	newCode     *newCode
	following   *following
	delays      *returnDelays
	ticks       *finerTicks
	points      *pointWatch
	debugInfo   *debugInfo
}

// begin is called before each experiment.
func (w *watchers) begin() {
	w.delays.attach()
	w.ticks.refine()
	w.lease.begin() // last, as the others may take their time
}

// counted is called with an experiment, what it has counted, and what was counted in all.
func (w *watchers) counted(e *profile.Experiment, d, all ledger.Totals) {
	w.ticks.add(d, e.Latencies)
	w.debugInfo.check()
	w.points.checkCosts(all)
}

// judge says whether an experiment that has ended is to be discarded; why: it is, for another reason.
func (w *watchers) judge(e *profile.Experiment, why reason) reason {
	why = cmp.Or(why, w.following.ended(), w.exceeded())
	if why == usable {
		why = w.disturbance.in(e)
	}
	if why == usable {
		why = w.newCode.in(e)
	}
	return why
}

// exceeded says whether something has happened to the machine, or to whatif, that makes the last experiment useless.
func (w *watchers) exceeded() reason {
	suspended := w.limits.wasSuspended()
	w.quotas.check()
	hotplug := w.limits.otherCPUs()
	return cmp.Or(w.clocks.add(), hotplug, suspended, w.lease.interrupted)
}
