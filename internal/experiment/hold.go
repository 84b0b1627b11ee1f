package experiment

import (
	"time"

	"whatif/internal/ledger"
)

// With more than so many in a second it is worth what holding costs each system call of the machine.
const (
	manyTimeouts = 20
	manyErrands  = 5
)

// hold has those held, once there have been many of them, whose timeouts run out, and those who sleep by the clock and
// hand something out: see bpf/hold.h.
func (s *session) hold() {
	s.holdOnce("timeouts", s.ledger.Timeouts(), manyTimeouts, s.ledger.HoldExpired)
	s.holdOnce("errands", s.ledger.HandedOut(), manyErrands, s.ledger.HoldErrands)
}

func (s *session) holdOnce(what string, so, many int64, hold func() error) {
	seconds := max(1, time.Duration(ledger.Now()-s.start).Seconds())
	if s.holding[what] || s.cfg.Rests() || float64(so) <= float64(many)*seconds {
		return
	}
	s.holding[what] = true // or not to be had
	if err := hold(); err != nil {
		s.cfg.Log.Warn(err.Error())
	}
}
