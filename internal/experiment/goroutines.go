package experiment

import (
	"debug/buildinfo"
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
		for _, at := range b.Returns(f) {
			ends = append(ends, probeAt(point.Site{Binary: b.Path(), Offset: at}, b, false))
		}
	}
	return probesOn(b, goSleep), ends
}

const (
	goPark     = "runtime.gopark"         // a goroutine begins to wait
	goYield    = "runtime.goschedImpl"    // it lets others run, or is preempted
	goReturn   = "runtime.exitsyscallNoP" // a system call took so long that others run in its place
	goReturned = "runtime.exitsyscall0"   // that, before Go 1.26
	goEnd      = "runtime.goexit1"
	goReady    = "runtime.runqput" // it, or a new one, is put into a queue of those that can run
	goRun      = "runtime.execute" // a thread begins to run it
)

// goRegisters is the first version of Go that gives arguments in registers on all processors that whatif runs on.
const goRegisters = "go1.18"

// followGoroutines has a binary's goroutines followed that wait for each other: no thread does. It is called with mu held.
func (s *sites) followGoroutines(b *symbol.Binary, id ledger.File) {
	if !b.IsGo() || s.followed[id] || !s.cfg.speedsUp() || s.closed || s.following != nil && s.following.ended.Load() != nil {
		return
	}
	if info, err := buildinfo.ReadFile(b.Path()); err == nil && version.IsValid(info.GoVersion) && version.Compare(info.GoVersion, goRegisters) < 0 {
		return
	}
	probes := ledger.Handovers{
		Parks:  probesOn(b, goPark),
		Yields: slices.Concat(probesOn(b, goYield), probesOn(b, goReturn), probesOn(b, goReturned)),
		Ends:   probesOn(b, goEnd),
		Ready:  probesOn(b, goReady),
		Runs:   probesOn(b, goRun),
	}
	if len(probes.Parks) == 0 || len(probes.Yields) == 0 || len(probes.Ends) == 0 || len(probes.Ready) == 0 || len(probes.Runs) == 0 {
		return // code that nobody here can read
	}
	err := s.ledger.MeasureProbes(probes.All(), target.OwnCode)
	if err == nil {
		err = s.ledger.AttachGoroutines(&probes)
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
func probesOn(b *symbol.Binary, function string) (probes []ledger.Probe) {
	functions, err := b.Functions(function)
	if err != nil {
		return nil
	}
	for _, f := range functions {
		if f.Symbol == function {
			probes = append(probes, probeAt(point.Site{Binary: b.Path(), Offset: f.FileOffset, Size: f.Size, Entry: true}, b, true))
		}
	}
	return probes
}
