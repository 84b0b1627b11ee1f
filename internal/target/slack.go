package target

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// givenSlack is the timer slack that whatif was started with: the time by which a sleep may be longer. Some of whatif's
// threads have a larger slack, which the threads that they start inherit.
var givenSlack, errSlack = unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)

// restoreTimerSlack gives the calling thread givenSlack, so that the program it starts inherits that.
func restoreTimerSlack() error {
	if errSlack != nil {
		return fmt.Errorf("asking for the timer slack: %w", errSlack)
	}
	if now, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err == nil && now == givenSlack {
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(givenSlack), 0, 0, 0); err != nil {
		return fmt.Errorf("giving the program back its timer slack: %w", err)
	}
	return nil
}
