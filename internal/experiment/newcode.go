package experiment

import (
	"time"

	"whatif/internal/profile"
)

// newCode discards experiments in which much of the code was met for the first time: the kernel side does not know yet
// to which unit it belongs, or how its callers are found. Such a sample delays no thread, so the program gains too
// little.
type newCode struct {
	allowed time.Duration // that experiments may take which are discarded for this; 0: none is
	used    time.Duration // of it
}

const (
	// tooMuchNew is the share of samples at new code from which an experiment is discarded. At most this share of its
	// delays is missing.
	tooMuchNew = 0.05
	// Code that is new all the time, as in compilers, must not leave a run without experiments. So they are discarded
	// for a part of the run only, and for longestNew at most: in that time the largest programs that were tried have
	// shown nearly all of their code.
	newParts   = 4
	longestNew = 3 * time.Second
)

// watchNewCode watches a run. It discards nothing where nothing is sped up, as no delay is missing there; and nothing
// where an experiment is a whole execution, as each of these meets all of its code anew.
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

// in judges an experiment that can be used otherwise: it gives codeUnknown if the experiment met too much new code.
func (n *newCode) in(e *profile.Experiment) reason {
	early := e.Losses[profile.LossTable] + e.Losses[profile.LossPlace]
	took := time.Duration(e.RealNS)
	if float64(early) < tooMuchNew*float64(e.Samples*int64(e.TicksEach())) || early == 0 || n.used+took > n.allowed {
		return usable
	}
	n.used += took
	return codeUnknown
}
