package target

import (
	"errors"
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

// NotExecuted is an error of Start: the program cannot be executed. Status is what a shell would end with, for scripts
// that tell a program that fails from one that is not there.
type NotExecuted struct {
	Err    error
	Status int // statusNotFound, or statusCannotExecute where there is such a file
}

const (
	statusCannotExecute = 126
	statusNotFound      = 127
)

func (e *NotExecuted) Error() string { return e.Err.Error() }

func (e *NotExecuted) Unwrap() error { return e.Err }

// notExecuted gives an error its status.
func notExecuted(err error, found bool) error {
	if found {
		return &NotExecuted{err, statusCannotExecute}
	}
	return &NotExecuted{err, statusNotFound}
}

// missing tells whether an error says that there is no such file.
func missing(err error) bool { return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) }

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
