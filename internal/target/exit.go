package target

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// What happened to a child, siginfo's si_code for SIGCHLD.
const (
	cldExited = 1
	cldKilled = 2
	cldDumped = 3
)

// ExitState is how a program ended.
type ExitState struct {
	// Status is what a shell would report: the exit status, or 128 + the signal.
	Status int
	Signal syscall.Signal // 0: it exited by itself
	// Err is not nil when the end of the program could not be learned; Status is
	// then 125.
	Err error
}

// endsIn waits for a process, so many milliseconds at most, and tells whether it has ended; -1: however long that takes.
func endsIn(pidfd, ms int) bool {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, ms)
		if err != unix.EINTR {
			return n > 0
		}
	}
}

func (p *Process) exitState(ws unix.WaitStatus, err error) ExitState {
	switch {
	case err != nil:
		return ExitState{Status: 125, Err: fmt.Errorf("waiting for %s: %w", p.name, err)}
	case ws.Signaled():
		return ExitState{Status: 128 + int(ws.Signal()), Signal: ws.Signal()}
	}
	return ExitState{Status: ws.ExitStatus()}
}
