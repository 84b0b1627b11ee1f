package target

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Leftovers are processes that a program has started and that may outlive it: what a shell ran for it, say, when the shell was told to end.
type Leftovers []leftover

type leftover struct {
	pid, pidfd int
}

// Leftovers takes hold of those of these processes that a Ctrl-C for the program would reach, but for itself: those in whatif's process
// group, or in its own. Who has left them, as daemons do, goes its own way.
func (p *Process) Leftovers(pids []int) Leftovers {
	own, err := unix.Getpgid(p.pid)
	if err != nil {
		own = unix.Getpgrp() // it has ended
	}
	var left Leftovers
	for _, pid := range pids {
		if pid == p.pid {
			continue
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue // it has ended, or is a thread's number
		}
		if group, err := unix.Getpgid(pid); err != nil || group != own && group != unix.Getpgrp() {
			unix.Close(fd)
			continue
		}
		left = append(left, leftover{pid, fd})
	}
	return left
}

// Terminate sends SIGTERM to those that are still there, and lets go of all.
func (l Leftovers) Terminate() (err error) {
	for _, p := range l {
		if sent := unix.PidfdSendSignal(p.pidfd, unix.SIGTERM, nil, 0); sent != nil && !errors.Is(sent, unix.ESRCH) {
			err = errors.Join(err, fmt.Errorf("sending SIGTERM to process %d, which the program has started: %w", p.pid, sent))
		}
		unix.Close(p.pidfd)
	}
	return err
}
