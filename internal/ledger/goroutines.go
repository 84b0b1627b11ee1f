package ledger

import (
	"errors"
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

// AttachGoroutines follows goroutines that wait for each other, from where they park, by where they are put into a queue, to where a thread runs
// them: see bpf/parked.h. All are of one file.
func (l *Ledger) AttachGoroutines(parks, ready, runs []Probe) error {
	links, err := l.attachEach([]handled{
		{handlers{"on_go_run", "on_single_go_run"}, runs},
		{handlers{"on_go_ready", "on_single_go_ready"}, ready},
		{handlers{"on_go_park", "on_single_go_park"}, parks},
	})
	if err != nil {
		for _, k := range links {
			err = errors.Join(err, k.Close()) // some of them alone would mislead
		}
		return err
	}
	cost := max(l.ProbeCost(parks[0].Cost), l.ProbeCost(ready[0].Cost), l.ProbeCost(runs[0].Cost))
	l.followCost.Store(int64(cost))
	atomic.StoreUint32(&l.page.control.Follows, 1)
	if !l.goroutineLinks.add(links...) {
		atomic.StoreUint32(&l.page.control.Follows, 0) // they have been left since
	}
	return nil
}

// FollowVisits is how often probes that follow goroutines have been come to so far.
func (l *Ledger) FollowVisits() int64 { return int64(load(&l.page.control.FollowVisits)) }

// FollowCost is what each of these costs.
func (l *Ledger) FollowCost() time.Duration { return time.Duration(l.followCost.Load()) }

// LeaveGoroutines ends following goroutines, for good: their accounts are their threads' from now on.
func (l *Ledger) LeaveGoroutines() error {
	err := l.goroutineLinks.close()
	atomic.StoreUint32(&l.page.control.Follows, 0)
	return err
}
