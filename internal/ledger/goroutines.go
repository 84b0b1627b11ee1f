package ledger

import (
	"errors"
	"sync/atomic"
	"time"

	"whatif/bpf"
)

// goroutines is the part of a Ledger that follows the goroutines of Go programs by probes on Go's runtime.
//
// All probes of a file share one link, if the kernel can do that. To end a link takes the kernel a grace period,
// however many probes it has, and until then a program whose profiler was killed is slowed.
type goroutines struct {
	*kernelSide
	probes      *probes
	cost        atomic.Int64 // of each visit of the probes in followLinks
	followLinks links        // of AttachGoroutines
}

// Moment is what happens to a goroutine at a probe.
type Moment = bpf.LedgerGoMoment

// The moments of goroutines.
const (
	Sleeps = bpf.LedgerGoMomentGO_SLEEPS
	Wakes  = bpf.LedgerGoMomentGO_WAKES
	Parks  = bpf.LedgerGoMomentGO_PARKS  // it begins to wait
	Yields = bpf.LedgerGoMomentGO_YIELDS // it could run on, but lets others run
	Stops  = bpf.LedgerGoMomentGO_STOPS  // it is stopped until another goroutine, as the collector, lets it continue
	Ends   = bpf.LedgerGoMomentGO_ENDS
	Ready  = bpf.LedgerGoMomentGO_READY // it, or a new goroutine, is put into a run queue
	Runs   = bpf.LedgerGoMomentGO_RUNS  // a thread begins to run it
)

// AttachSleeps follows the sleeps of goroutines, for ledgers with WaitSleep among their UnitWaits. All probes are in
// one file. Those where time.Sleep returns come first: a sleep that begins must not miss its own end. Then come those
// where it begins, with its argument still in the register.
func (g *goroutines) AttachSleeps(all []Probe) error {
	links, err := g.probes.setAllowed("go_sleep", all)
	g.links.add(links...)
	return err
}

// AttachGoroutines follows goroutines that wait for each other (bpf/wake/goroutine_account.h), by probes in one file.
func (g *goroutines) AttachGoroutines(all []Probe) error {
	links, err := g.probes.setAllowed("go_handover", all)
	if err != nil {
		for _, k := range links {
			err = errors.Join(err, k.Close()) // some of them alone would mislead
		}
		return err
	}
	var cost time.Duration
	for _, p := range all {
		cost = max(cost, g.probes.ProbeCost(p.Cost))
	}
	g.cost.Store(int64(cost))
	atomic.StoreUint32(&g.page.control.FollowsGoroutines, 1)
	if !g.followLinks.add(links...) { // LeaveGoroutines came first
		atomic.StoreUint32(&g.page.control.FollowsGoroutines, 0)
	}
	return nil
}

// FollowVisits is how often threads have come to the probes of AttachGoroutines.
type FollowVisits struct {
	Target int64
	Others int64 // by processes of the same binary that are not the target
}

// FollowVisits returns the visits so far.
func (g *goroutines) FollowVisits() FollowVisits {
	return FollowVisits{
		Target: int64(load(&g.page.control.FollowVisits)), Others: int64(load(&g.page.control.FollowVisitsOthers)),
	}
}

// FollowCost is what each of these visits costs.
func (g *goroutines) FollowCost() time.Duration { return time.Duration(g.cost.Load()) }

// LeaveGoroutines ends following goroutines for good. From then on their accounts are those of their threads.
func (g *goroutines) LeaveGoroutines() error {
	// First: a thread whose debt is deferred or forgiven for a goroutine's sake must find the goroutine followed.
	atomic.StoreUint32(&g.page.control.FollowsGoroutines, 0)
	return g.followLinks.close()
}
