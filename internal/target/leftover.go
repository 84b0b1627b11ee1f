package target

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Leftovers are processes that a program has started and that may outlive it: what a shell ran for it, say, when the shell was told to end.
type Leftovers struct {
	groups []int // of processes: who has left these, as daemons do, goes its own way
	held   []leftover
}

type leftover struct {
	Running
	pidfd int
	told  bool // to end
}

// Leftovers takes hold of those of these processes, and of the program's descendants, that a Ctrl-C for the program would reach, but for itself: those in whatif's
// process group, or in its own.
func (p *Process) Leftovers(pids []int) (Leftovers, error) {
	l := Leftovers{groups: []int{unix.Getpgrp()}}
	if own, err := unix.Getpgid(p.pid); err == nil {
		l.groups = append(l.groups, own)
	}
	for _, pid := range pids {
		if pid != p.pid {
			l.hold(pid)
		}
	}
	self, err := StatOf(p.pid)
	if err != nil {
		return l, nil // it has ended
	}
	return l, l.holdBelow([]Running{{PID: p.pid, Start: self.Start, Unique: self.Unique}})
}

func (l *Leftovers) holdBelow(these []Running) error {
	below, err := Descendants(these)
	for _, r := range below {
		l.hold(r.PID)
	}
	return err
}

func (l *Leftovers) hold(pid int) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return // it has ended, or is a thread's number
	}
	group, err := unix.Getpgid(pid)
	s, statErr := StatOf(pid)
	held := func(h leftover) bool { return h.PID == pid && h.Start == s.Start }
	if err != nil || statErr != nil || !slices.Contains(l.groups, group) || slices.ContainsFunc(l.held, held) {
		unix.Close(fd)
		return
	}
	l.held = append(l.held, leftover{Running: runningOf(pid, s), pidfd: fd})
}

// Terminate sends SIGTERM to those that are still there, and to what they have started meanwhile; waits for them, but no longer than that, and gives those that go on.
func (l *Leftovers) Terminate(within time.Duration) (goOn []Running, err error) {
	defer l.release()
	end := time.Now().Add(within)
	for told := true; told && err == nil && time.Now().Before(end); {
		err = l.holdBelow(l.running())
		told = l.tell(&err)
	}
	for _, h := range l.held {
		if !endsBefore(h.pidfd, end) {
			goOn = append(goOn, h.Running)
		}
	}
	return goOn, err
}

func (l *Leftovers) running() []Running {
	all := make([]Running, len(l.held))
	for i, h := range l.held {
		all[i] = h.Running
	}
	return all
}

// tell tells those that were not yet told, and whether there was one. Who was there first starts others anew, and is told first.
func (l *Leftovers) tell(err *error) bool {
	any := false
	slices.SortStableFunc(l.held, func(a, b leftover) int { return cmp.Compare(a.Start, b.Start) })
	for i := range l.held {
		h := &l.held[i]
		if h.told {
			continue
		}
		h.told, any = true, true
		if sent := unix.PidfdSendSignal(h.pidfd, unix.SIGTERM, nil, 0); sent != nil && !errors.Is(sent, unix.ESRCH) {
			*err = errors.Join(*err, fmt.Errorf("sending SIGTERM to process %d, which the program has started: %w", h.PID, sent))
		}
	}
	return any
}

func endsBefore(pidfd int, end time.Time) bool {
	for {
		left := max(0, time.Until(end))
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, int(left/time.Millisecond))
		if err != unix.EINTR {
			return n > 0
		}
	}
}

func (l *Leftovers) release() {
	for _, h := range l.held {
		unix.Close(h.pidfd)
	}
	l.held = nil
}
