package experiment

import (
	"go/version"
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
	begins, ends := probesOn(b, goSleep, ledger.Sleeps), sleepEnds(b)
	if len(begins) == 0 || len(ends) == 0 {
		return // it never sleeps; or it is code that nobody here can read
	}
	probes := slices.Concat(ends, begins)
	err := s.ledger.MeasureProbes(probes, target.OwnCode)
	if err == nil {
		err = s.ledger.AttachSleeps(probes)
	}
	if err != nil {
		s.cfg.Log.Warn("what goroutines sleep in " + b.Path() + " is not counted: " + err.Error())
		return
	}
	s.sleeps[id], s.held[id] = true, true
	s.cfg.Log.Debug("goroutines' sleep followed", "binary", b.Path(), "returns", len(ends))
}

// sleepEnds are the probes on the returns of time.Sleep: those that wait for the return
// themselves put an address of theirs on the stack, which Go's runtime finds there.
func sleepEnds(b *symbol.Binary) (ends []ledger.Probe) {
	functions, err := b.Functions(goSleep)
	if err != nil {
		return nil
	}
	for _, f := range functions {
		if f.Symbol != goSleep {
			continue
		}
		for _, at := range b.Returns(f) {
			p := probeAt(point.Site{Binary: b.Path(), Offset: at}, b, false)
			p.Of = uint32(ledger.Wakes)
			ends = append(ends, p)
		}
	}
	return ends
}

// goHandovers are the functions of Go's runtime at whose beginning something happens to a goroutine that others may wait for. Of the
// last two it has one or the other, or neither. They are probed in this order: who goes on is known as soon as who waits.
var goHandovers = []struct {
	function string
	moment   ledger.Moment
	optional bool
}{
	{function: "runtime.execute", moment: ledger.Runs},
	{function: "runtime.runqput", moment: ledger.Ready},
	{function: "runtime.goexit1", moment: ledger.Ends},
	{function: "runtime.gopark", moment: ledger.Parks},
	{function: "runtime.goschedImpl", moment: ledger.Yields}, // of itself, or as it has run for long
	{function: "runtime.preemptPark", moment: ledger.Stops, optional: true},
	{function: "runtime.goyield_m", moment: ledger.Yields, optional: true},      // it has let another go on, that takes its place
	{function: "runtime.exitsyscallNoP", moment: ledger.Yields, optional: true}, // a system call took so long that others run in its place
	{function: "runtime.exitsyscall0", moment: ledger.Yields, optional: true},   // that, before Go 1.26
}

// goRegisters is the first version of Go that gives arguments in registers on all processors that whatif runs on.
const goRegisters = "go1.18"

// followGoroutines has a binary's goroutines followed that wait for each other: no thread does. It is called with mu held.
func (s *sites) followGoroutines(b *symbol.Binary, id ledger.File) {
	if !b.IsGo() || s.followed[id] || !s.cfg.speedsUp() || s.closed || s.following != nil && s.following.ended.Load() != nil {
		return
	}
	if v := b.GoVersion(); version.IsValid(v) && version.Compare(v, goRegisters) < 0 {
		return
	}
	var probes []ledger.Probe
	for _, h := range goHandovers {
		found := probesOn(b, h.function, h.moment)
		if len(found) == 0 && !h.optional {
			return // code that nobody here can read
		}
		probes = append(probes, found...)
	}
	err := s.ledger.MeasureProbes(probes, target.OwnCode)
	if err == nil {
		err = s.ledger.AttachGoroutines(probes)
	}
	if err != nil {
		s.cfg.Log.Warn("goroutines of " + b.Path() + " that wait for each other are not followed: " + err.Error())
		return
	}
	s.followed[id], s.held[id] = true, true
	if s.following == nil {
		s.following = watchFollowing(s.ledger, s.cfg)
	}
	s.cfg.Log.Debug("goroutines followed", "binary", b.Path())
}

// probesOn are those on the beginning of a function, with its arguments in their registers.
func probesOn(b *symbol.Binary, function string, moment ledger.Moment) (probes []ledger.Probe) {
	functions, err := b.Functions(function)
	if err != nil {
		return nil
	}
	for _, f := range functions {
		if f.Symbol == function {
			p := probeAt(point.Site{Binary: b.Path(), Offset: f.FileOffset, Size: f.Size, Entry: true}, b, true)
			p.Of = uint32(moment)
			probes = append(probes, p)
		}
	}
	return probes
}
