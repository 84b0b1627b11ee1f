package target

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// givenSlack is by how much the sleeps of what this process starts may be longer: what it was given itself. Some of its threads let
// theirs take longer, and threads inherit that.
var givenSlack, errSlack = unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)

// restoreTimerSlack gives it back to the calling thread, which starts a program.
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
