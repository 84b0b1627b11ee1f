package experiment

import (
	"time"

	"whatif/internal/ledger"
)

// many, in a second: with more it is worth what holding costs each system call of the machine, some 100 ns for timekeepers and twice
// that for timeouts.
const many = 20

// hold has those held, once there have been many of them, whose timeouts run out, and those who keep time:
// see bpf/pay/return_delay.h.
func (s *session) hold() {
	s.holdOnce("timeouts", s.ledger.Timeouts(), s.ledger.HoldExpired)
	s.holdOnce("timekeepers", s.ledger.TimeKept(), s.ledger.HoldTimekeepers)
}

// holdOnce attaches what holds one kind, when more than many of it have happened in each second; never again, also if that failed.
func (s *session) holdOnce(kind string, happened int64, attach func() error) {
	seconds := max(1, time.Duration(ledger.Now()-s.start).Seconds())
	if s.holding[kind] || s.cfg.Rests() || float64(happened) <= many*seconds {
		return
	}
	s.holding[kind] = true
	if err := attach(); err != nil {
		s.cfg.Log.Warn(err.Error())
	}
}
