package experiment

import (
	"time"

	"whatif/internal/ledger"
)

// manyTimeouts, in a second: with so many it is worth what holding costs each system call of the machine.
const manyTimeouts = 20

// holdExpired has those held whose timeouts run out, once there have been many.
func (s *session) holdExpired() {
	seconds := max(1, time.Duration(ledger.Now()-s.start).Seconds())
	if s.holding || s.cfg.Rests() || float64(s.ledger.Timeouts()) <= manyTimeouts*seconds {
		return
	}
	s.holding = true // or not to be had
	if err := s.ledger.HoldExpired(); err != nil {
		s.cfg.Log.Warn(err.Error())
	}
}
