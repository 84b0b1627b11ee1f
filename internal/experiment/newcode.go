package experiment

import (
	"time"

	"whatif/internal/profile"
)

// newCode discards experiments in which much of the code was met for the first time: the kernel side does not know yet
// which unit has it, or how its callers are found. Such a sample delays nobody, so the program gains too little.
type newCode struct {
	allowed time.Duration // that experiments may take which are discarded for this; 0: none is
	used    time.Duration // of it
}

const (
	// tooMuchNew is the share of samples from which an experiment is discarded: so much is missing of what it should
	// delay, at most.
	tooMuchNew = 0.05
	// Code that is new all the time, as in compilers, must not leave a run without experiments. So they are discarded
	// for a part of the run only, and for longestNew at most: in that time the largest programs that were tried have
	// shown nearly all of their code.
	newParts   = 4
	longestNew = 3 * time.Second
)

// watchNewCode watches a run. Where nothing is sped up nothing is delayed too little. A whole execution has its new
// code each time, so nothing would be left.
func watchNewCode(cfg *Config, wholeRuns bool) *newCode {
	n := &newCode{allowed: longestNew}
	switch {
	case wholeRuns || cfg.Rests():
		n.allowed = 0
	case cfg.Duration > 0:
		n.allowed = min(longestNew, cfg.Duration/newParts)
	}
	return n
}

// in says whether an experiment that can be used otherwise met too much new code.
func (n *newCode) in(e *profile.Experiment) reason {
	early := e.Losses[profile.LossTable] + e.Losses[profile.LossPlace]
	took := time.Duration(e.RealNS)
	if float64(early) < tooMuchNew*float64(e.Samples*int64(e.TicksEach())) || early == 0 || n.used+took > n.allowed {
		return usable
	}
	n.used += took
	return codeUnknown
}
