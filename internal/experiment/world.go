package experiment

import (
	"whatif/internal/ledger"
	"whatif/internal/profile"
)

// A world is a machine that experiments are about: this one or, with a standing speed-up, another.
type world struct {
	device  *profile.Standing // nil: this machine
	trials  *trials
	lengths *lengths
}

func newWorld(cfg *Config, device *profile.Standing, placebo func() uint32) *world {
	return &world{device: device, trials: newTrials(cfg, placebo, device == nil), lengths: newLengths(cfg.Experiment)}
}

// onDevice is a selection on another machine: whole classes of time are faster there relative to the slowest one, so
// they are sped up all the time, and the selection on top. A baseline has no selection on top.
func onDevice(d *profile.Standing, s ledger.Selection, percent int) ledger.Selection {
	// Weights differ with the percentage, and what is learned of threads with the weights.
	there := ledger.Selection{Number: standing | s.Number<<7 | uint32(percent), Code: d.CPU}
	for class, by := range standingWaits(d) {
		there.Waits[class] = by
	}
	if percent == 0 {
		return there
	}
	there.Units = s.Units
	for class, by := range s.Waits {
		there.Waits[class] = ledger.OnTop(there.Waits[class], by)
	}
	return there
}

// standing is in the numbers of selections on another machine: no unit has such a number.
const standing = 1 << 30

// standingWaits are the classes of waiting that are sped up all the time, and by how much. What ends by the clock, or
// by something that is in no class, takes as long on all machines.
func standingWaits(d *profile.Standing) map[ledger.WaitClass]float64 {
	waits := make(map[ledger.WaitClass]float64)
	for class, by := range map[ledger.WaitClass]float64{
		ledger.WaitDisk: d.Disk, ledger.WaitNet: d.Net, ledger.WaitSleep: d.Clock, ledger.WaitOther: d.Clock,
	} {
		if by > 0 {
			waits[class] = by
		}
	}
	return waits
}

// next is the world of the next trial. If there are two, their pairs of trials take turns.
func (l *trialLoop) next() *world {
	pair := l.drawn / 2
	l.drawn++
	if l.there != nil && pair%2 == 1 {
		return l.there
	}
	return l.here
}

// settled tells whether enough is known.
func (l *trialLoop) settled() bool {
	return l.here.trials.settled && (l.there == nil || l.there.trials.settled)
}
