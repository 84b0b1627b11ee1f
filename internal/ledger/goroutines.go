package ledger

import (
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cilium/ebpf/link"
)

// AttachSleeps follows the sleeping of a Go program's goroutines: begins is where time.Sleep begins,
// with its argument still in its register, ends is where it returns. All are of one file. It is for
// ledgers of which WaitSleep is one of the UnitWaits.
func (l *Ledger) AttachSleeps(begins, ends []Probe) error {
	// First the ends: a sleep that begins must not miss its own.
	links, err := l.attachEach([]handled{
		{handlers{"on_go_wake", "on_single_go_wake"}, ends},
		{handlers{"on_go_sleep", "on_single_go_sleep"}, begins},
	})
	l.links.add(links...)
	return err
}

// handled are probes, with what is run at them.
type handled struct {
	run    handlers
	probes []Probe
}

// attachEach sets them one after the other. Links that were made before an error are given with it.
func (l *Ledger) attachEach(all []handled) (made []link.Link, err error) {
	for _, each := range all {
		links, err := l.attach(each.run, 0, each.probes)
		made = append(made, links...)
		if err != nil {
			return made, err
		}
	}
	return made, nil
}

// Handovers are the probes that follow goroutines that wait for each other, all of one file: see bpf/parked.h.
type Handovers struct {
	Parks, Yields, Ends []Probe // where one leaves its thread
	Ready               []Probe // where one is put into a queue of those that can run
	Runs                []Probe // where a thread takes one
}

// All of them.
func (h *Handovers) All() []Probe { return slices.Concat(h.Parks, h.Yields, h.Ends, h.Ready, h.Runs) }

// AttachGoroutines follows goroutines that wait for each other.
func (l *Ledger) AttachGoroutines(h *Handovers) error {
	links, err := l.attachEach([]handled{
		{handlers{"on_go_run", "on_single_go_run"}, h.Runs},
		{handlers{"on_go_ready", "on_single_go_ready"}, h.Ready},
		{handlers{"on_go_end", "on_single_go_end"}, h.Ends},
		{handlers{"on_go_yield", "on_single_go_yield"}, h.Yields},
		{handlers{"on_go_park", "on_single_go_park"}, h.Parks},
	})
	if err != nil {
		for _, k := range links {
			err = errors.Join(err, k.Close()) // some of them alone would mislead
		}
		return err
	}
	var cost time.Duration
	for _, p := range h.All() {
		cost = max(cost, l.ProbeCost(p.Cost))
	}
	l.followCost.Store(int64(cost))
	atomic.StoreUint32(&l.page.control.Follows, 1)
	if !l.goroutineLinks.add(links...) {
		atomic.StoreUint32(&l.page.control.Follows, 0) // they have been left since
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
	atomic.StoreUint32(&l.page.control.Follows, 0) // first: who is let off for a goroutine's sake must find it followed
	return l.goroutineLinks.close()
}
