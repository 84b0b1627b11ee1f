package ledger

import "time"

// AttachSleeps follows the sleeping of a Go program's goroutines: begins is where time.Sleep begins,
// with its argument still in its register, ends is where it returns. All are of one file. It is for
// ledgers of which WaitSleep is one of the UnitWaits.
func (l *Ledger) AttachSleeps(begins, ends []Probe) error {
	// First the ends: a sleep that begins must not miss its own.
	for _, each := range []struct {
		run    handlers
		probes []Probe
	}{
		{handlers{"on_go_wake", "on_single_go_wake"}, ends},
		{handlers{"on_go_sleep", "on_single_go_sleep"}, begins},
	} {
		links, err := l.attach(each.run, 0, each.probes)
		l.links.add(links...)
		if err != nil {
			return err
		}
	}
	return nil
}

// AttachGoroutines follows goroutines that wait for each other, from where they park, by where they are put into a queue, to where a thread runs
// them: see bpf/parked.h. All are of one file.
func (l *Ledger) AttachGoroutines(parks, ready, runs []Probe) error {
	for _, each := range []struct {
		run    handlers
		probes []Probe
	}{
		{handlers{"on_go_run", "on_single_go_run"}, runs},
		{handlers{"on_go_ready", "on_single_go_ready"}, ready},
		{handlers{"on_go_park", "on_single_go_park"}, parks},
	} {
		links, err := l.attach(each.run, 0, each.probes)
		l.following.add(links...)
		if err != nil {
			return err
		}
	}
	l.followingCost.Store(int64(l.ProbeCost(parks[0].Cost) + l.ProbeCost(ready[0].Cost) + l.ProbeCost(runs[0].Cost)))
	l.page.control.Follows = 1
	return nil
}

// Parks is how often goroutines that are followed have parked so far.
func (l *Ledger) Parks() int64 { return int64(load(&l.page.control.Parks)) }

// LeaveGoroutines ends following goroutines, for good: their accounts are their threads' from now on.
func (l *Ledger) LeaveGoroutines() error {
	l.page.control.Follows = 0
	return l.following.close()
}

// FollowingCost is what a goroutine's way from parking to running again takes in being followed.
func (l *Ledger) FollowingCost() time.Duration { return time.Duration(l.followingCost.Load()) }
