package ledger

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
