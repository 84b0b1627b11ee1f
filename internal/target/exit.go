package target

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// Values of siginfo's si_code for SIGCHLD: what happened to a child.
const (
	cldExited = 1
	cldKilled = 2
	cldDumped = 3
)

// ExitState describes how a program ended.
type ExitState struct {
	// Status is the status that a shell would report: the exit status, or 128 + the signal.
	Status int
	Signal syscall.Signal // 0: the program exited by itself
	// Err is set if the program's end could not be observed. Status is then 125.
	Err error
}

// NotExecuted is the error of Start for a program that cannot be executed. Status is a shell's exit status in this
// case, by which scripts distinguish a program that fails from one that is missing.
type NotExecuted struct {
	Err    error
	Status int // statusNotFound, or statusCannotExecute if the file exists
}

const (
	statusCannotExecute = 126
	statusNotFound      = 127
)

func (e *NotExecuted) Error() string { return e.Err.Error() }

func (e *NotExecuted) Unwrap() error { return e.Err }

// notExecuted adds the status to an error; found tells whether the file exists.
func notExecuted(err error, found bool) error {
	if found {
		return &NotExecuted{err, statusCannotExecute}
	}
	return &NotExecuted{err, statusNotFound}
}

// missing tells whether an error means that there is no such file.
func missing(err error) bool { return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) }

// endsIn waits for the end of a process, at most ms milliseconds, and tells whether it has ended. With -1 it waits
// without a limit.
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
