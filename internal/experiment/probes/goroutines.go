package probes

import (
	"go/version"
	"slices"

	"whatif/internal/code/symbol"
	"whatif/internal/ledger"
	"whatif/internal/point"
	"whatif/internal/target"
)

// goSleep is the function that a goroutine sleeps in. It is in the runtime: package time only declares it.
const goSleep = "time.Sleep"

// followSleeps follows a binary's goroutines that sleep, where sleep counts as time of the code. No thread waits in the
// line that sleeps, so without it this time would be no line's. The caller holds mu, or no event is answered yet.
func (s *sites) followSleeps(b *symbol.Binary, id ledger.File) {
	if !s.options.Sleeps || !b.IsGo() || s.sleeps[id] {
		return
	}
	begins, ends := probesOn(b, goSleep, ledger.Sleeps), sleepEnds(b)
	if len(begins) == 0 || len(ends) == 0 {
		return // the program never sleeps, or its code cannot be read
	}
	probes := slices.Concat(ends, begins)
	err := s.ledger.MeasureProbes(probes, target.OwnCode)
	if err == nil {
		err = s.ledger.AttachSleeps(probes)
	}
	if err != nil {
		s.options.Log.Warn("what goroutines sleep in " + b.Path() + " is not counted: " + err.Error())
		return
	}
	s.sleeps[id], s.pinned[id] = true, true
	s.options.Log.Debug("goroutines' sleep followed", "binary", b.Path(), "returns", len(ends))
}

// sleepEnds are the probes on the returns of time.Sleep. Return probes of the kernel would not do: they put an address
// of their own on the stack, and Go's runtime finds it there.
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
	return unlessMany(ends)
}

// mostProbed bounds the probes on one function of Go's runtime, which has a few returns. A program that was made to
// keep whatif and the kernel busy may have thousands of the name.
const mostProbed = 64

// unlessMany gives the probes on one function of the runtime, and none if there are more than mostProbed.
func unlessMany(probes []ledger.Probe) []ledger.Probe {
	if len(probes) > mostProbed {
		return nil
	}
	return probes
}

// goHandovers are functions of Go's runtime. When one begins, something happens to a goroutine that others may wait
// for. A program has exitsyscallNoP, exitsyscall0 or neither. They are probed in this order, so that a goroutine that
// goes on is known as soon as one that waits.
var goHandovers = []struct {
	function string
	moment   ledger.Moment
	optional bool
}{
	{function: "runtime.execute", moment: ledger.Runs},
	{function: "runtime.runqput", moment: ledger.Ready},
	{function: "runtime.goexit1", moment: ledger.Ends},
	{function: "runtime.gopark", moment: ledger.Parks},
	{function: "runtime.goschedImpl", moment: ledger.Yields}, // of itself, or because it has run for long
	{function: "runtime.preemptPark", moment: ledger.Stops, optional: true},
	{function: "runtime.goyield_m", moment: ledger.Yields, optional: true},      // to a goroutine that it made ready
	{function: "runtime.exitsyscallNoP", moment: ledger.Yields, optional: true}, // after a long system call others run
	{function: "runtime.exitsyscall0", moment: ledger.Yields, optional: true},   // the same, before Go 1.26
}

// goRegisters is the first version of Go that passes arguments in registers on all processors that whatif runs on.
const goRegisters = "go1.18"

// Goroutines are the probes that follow a binary's goroutines which wait for each other: their threads do not. None: it
// is no program in Go, or one that cannot be followed.
func Goroutines(b *symbol.Binary) (probes []ledger.Probe) {
	if !b.IsGo() {
		return nil
	}
	if v := b.GoVersion(); version.IsValid(v) && version.Compare(v, goRegisters) < 0 {
		return nil
	}
	for _, h := range goHandovers {
		found := probesOn(b, h.function, h.moment)
		if len(found) == 0 && !h.optional {
			return nil // the code cannot be read
		}
		probes = append(probes, found...)
	}
	return probes
}

// followGoroutines follows a binary's goroutines. The caller holds mu, or no event is answered yet.
func (s *sites) followGoroutines(b *symbol.Binary, id ledger.File) {
	if s.followed[id] || !s.options.Goroutines || s.closed || s.following.hasEnded() {
		return
	}
	probes := Goroutines(b)
	if len(probes) == 0 {
		return
	}
	err := s.ledger.MeasureProbes(probes, target.OwnCode)
	if err == nil {
		err = s.ledger.AttachGoroutines(probes)
	}
	if err != nil {
		s.options.Log.Warn("goroutines of " + b.Path() + " that wait for each other are not followed: " + err.Error())
		return
	}
	s.followed[id], s.pinned[id] = true, true
	if s.following == nil {
		s.following = watchFollowing(s.ledger, s.options)
	}
	s.options.Log.Debug("goroutines followed", "binary", b.Path())
}

// probesOn are probes on the beginning of a function, where its arguments are in their registers.
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
	return unlessMany(probes)
}
