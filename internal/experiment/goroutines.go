package experiment

import (
	"slices"

	"whatif/internal/ledger"
	"whatif/internal/point"
	"whatif/internal/symbol"
	"whatif/internal/target"
)

// goSleep is what a goroutine sleeps in. It is the runtime's own: package time only declares it.
const goSleep = "time.Sleep"

// followSleeps has the sleeping of a binary's goroutines followed, where that counts. No thread of the program
// waits in the line that sleeps, so without it no line would. It is called with mu held.
func (s *sites) followSleeps(b *symbol.Binary, id ledger.File) {
	if !slices.Contains(s.cfg.Waiting, ledger.WaitSleep) || !b.IsGo() || s.sleeps[id] {
		return
	}
	begins, ends := sleepProbes(b)
	if len(begins) == 0 || len(ends) == 0 {
		return // it never sleeps; or it is code that nobody here can read
	}
	err := s.ledger.MeasureProbes(slices.Concat(begins, ends), target.OwnCode)
	if err == nil {
		err = s.ledger.AttachSleeps(begins, ends)
	}
	if err != nil {
		s.cfg.Log.Warn("what goroutines sleep in " + b.Path() + " is not counted: " + err.Error())
		return
	}
	s.sleeps[id], s.held[id] = true, true
	s.cfg.Log.Debug("goroutines' sleep followed", "binary", b.Path(), "returns", len(ends))
}

// sleepProbes are those on the beginning of time.Sleep and on its returns: probes that wait for the return
// themselves put an address of theirs on the stack, which Go's runtime finds there.
func sleepProbes(b *symbol.Binary) (begins, ends []ledger.Probe) {
	functions, err := b.Functions(goSleep)
	if err != nil {
		return nil, nil
	}
	for _, f := range functions {
		if f.Symbol != goSleep {
			continue
		}
		begins = append(begins, probeAt(point.Site{Binary: b.Path(), Offset: f.FileOffset, Size: f.Size, Entry: true}, b, true))
		for _, at := range b.Returns(f) {
			ends = append(ends, probeAt(point.Site{Binary: b.Path(), Offset: at}, b, false))
		}
	}
	return begins, ends
}
