package ledger

import (
	"errors"
	"sync/atomic"
	"time"

	"whatif/bpf"
)

// Moment is what happens to a goroutine at a probe. All of a file share a link, where the kernel can: to end a link takes it a grace period, however many probes
// it has, and until then a program whose profiler was killed is slowed.
type Moment = bpf.LedgerGoMoment

const (
	Sleeps = bpf.LedgerGoMomentGO_SLEEPS
	Wakes  = bpf.LedgerGoMomentGO_WAKES
	Parks  = bpf.LedgerGoMomentGO_PARKS  // it begins to wait
	Yields = bpf.LedgerGoMomentGO_YIELDS // it could run on, but others do
	Stops  = bpf.LedgerGoMomentGO_STOPS  // it is stopped, as by who collects garbage, until that lets it go on
	Ends   = bpf.LedgerGoMomentGO_ENDS
	Ready  = bpf.LedgerGoMomentGO_READY // it, or a new one, is put into a queue of those that can run
	Runs   = bpf.LedgerGoMomentGO_RUNS  // a thread begins to run it
)

// AttachSleeps follows the sleeping of a Go program's goroutines, by probes where time.Sleep returns, and then those where it begins, with
// its argument still in its register: a sleep that begins must not miss its own end. All are of one file. It is for
// ledgers of which WaitSleep is one of the UnitWaits.
func (l *Ledger) AttachSleeps(probes []Probe) error {
	links, err := l.attachAllowed("go_sleep", probes)
	l.links.add(links...)
	return err
}

// AttachGoroutines follows goroutines that wait for each other (bpf/wake/goroutine_account.h), by probes of one file.
func (l *Ledger) AttachGoroutines(probes []Probe) error {
	links, err := l.attachAllowed("go_handover", probes)
	if err != nil {
		for _, k := range links {
			err = errors.Join(err, k.Close()) // some of them alone would mislead
		}
		return err
	}
	var cost time.Duration
	for _, p := range probes {
		cost = max(cost, l.ProbeCost(p.Cost))
	}
	l.followCost.Store(int64(cost))
	atomic.StoreUint32(&l.page.control.FollowsGoroutines, 1)
	if !l.goroutineLinks.add(links...) {
		atomic.StoreUint32(&l.page.control.FollowsGoroutines, 0) // they have been left since
	}
	return nil
}

// FollowVisits is how often probes that follow goroutines have been come to, by whom.
type FollowVisits struct {
	Target int64
	Others int64 // processes of the same binary that are not the target
}

// FollowVisits are those so far.
func (l *Ledger) FollowVisits() FollowVisits {
	return FollowVisits{Target: int64(load(&l.page.control.FollowVisits)), Others: int64(load(&l.page.control.FollowVisitsOthers))}
}

// FollowCost is what each of these costs.
func (l *Ledger) FollowCost() time.Duration { return time.Duration(l.followCost.Load()) }

// LeaveGoroutines ends following goroutines, for good: their accounts are their threads' from now on.
func (l *Ledger) LeaveGoroutines() error {
	atomic.StoreUint32(&l.page.control.FollowsGoroutines, 0) // first: who is let off for a goroutine's sake must find it followed
	return l.goroutineLinks.close()
}
