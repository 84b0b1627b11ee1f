package target

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Leftovers are processes that a program has started and that may outlive it: what a shell ran for it, say, when the shell was told to end.
type Leftovers struct {
	groups []int  // of processes: who has left these, as daemons do, goes its own way
	since  uint64 // who begins later and has lost its parent is whatif's child, in 10 ms since boot
	held   []leftover
}

type leftover struct {
	Running
	pidfd int
	away  bool // has left the groups
	told  bool // to end
}

// Leftovers takes hold of these processes and of the program's descendants. Told to end are those that a Ctrl-C for the program would reach: those in whatif's process
// group, or in the program's. From now on whatif is the parent of who loses his, so that what is started meanwhile is not missed.
func (p *Process) Leftovers(pids []int) (Leftovers, error) {
	l := Leftovers{groups: []int{unix.Getpgrp(), p.pid}, since: sinceBoot()}
	if own, err := unix.Getpgid(p.pid); err == nil {
		l.groups = append(l.groups, own)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return l, fmt.Errorf("becoming the parent of what %s leaves behind: %w", p.name, err)
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
	return l, l.holdBelow(Running{PID: p.pid, Start: self.Start, Unique: self.Unique})
}

func sinceBoot() uint64 {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) // it fails for clocks that do not exist only
	return uint64(now.Nano() / int64(10*time.Millisecond))
}

func (l *Leftovers) holdBelow(these ...Running) error {
	below, err := Descendants(these)
	for _, r := range below {
		l.hold(r.PID)
	}
	return err
}

// holdAdopted takes hold of those that have become this process's children.
func (l *Leftovers) holdAdopted() error {
	self, err := StatOf(os.Getpid())
	if err != nil {
		return err
	}
	below, err := Descendants([]Running{{PID: os.Getpid(), Start: self.Start, Unique: self.Unique}})
	for _, r := range below {
		if r.Start >= l.since {
			l.hold(r.PID)
		}
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
	if err != nil || statErr != nil || slices.ContainsFunc(l.held, held) {
		unix.Close(fd)
		return
	}
	l.held = append(l.held, leftover{Running: runningOf(pid, s), pidfd: fd, away: !slices.Contains(l.groups, group)})
}

// Terminate sends SIGTERM to those that are still there, and to what was started meanwhile, and waits for them, but no longer than that. Stubborn are those that go on,
// and away those that were not told.
func (l *Leftovers) Terminate(within time.Duration) (stubborn, away []Running, err error) {
	defer l.release()
	end := time.Now().Add(within)
	for more := true; more && time.Now().Before(end); {
		var all []Running
		for _, h := range l.held {
			all = append(all, h.Running)
		}
		err = errors.Join(l.holdBelow(all...), l.holdAdopted())
		if more = l.tell(&err); err != nil {
			break
		}
	}
	for _, h := range l.held {
		switch {
		case h.away && !endsBefore(h.pidfd, time.Now()):
			away = append(away, h.Running)
		case !h.away && !endsBefore(h.pidfd, end):
			stubborn = append(stubborn, h.Running)
		}
	}
	return stubborn, away, err
}

// tell tells those that were not told yet, and whether there was one. Who was there first may start others anew, and is told first.
func (l *Leftovers) tell(err *error) (more bool) {
	slices.SortStableFunc(l.held, func(a, b leftover) int { return cmp.Compare(a.Start, b.Start) })
	for i := range l.held {
		h := &l.held[i]
		if h.away || h.told {
			continue
		}
		h.told, more = true, true
		if sent := unix.PidfdSendSignal(h.pidfd, unix.SIGTERM, nil, 0); sent != nil && !errors.Is(sent, unix.ESRCH) {
			*err = errors.Join(*err, fmt.Errorf("sending SIGTERM to process %d, which the program has started: %w", h.PID, sent))
		}
	}
	return more
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
