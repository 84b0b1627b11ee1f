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
	program int
	groups  []int  // of processes: who has left these, as daemons do, goes its own way
	since   uint64 // when whatif became the parent of orphans, in 10 ms since boot
	held    []leftover
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
	l := Leftovers{program: p.pid, groups: []int{unix.Getpgrp(), p.pid}, since: sinceBoot()}
	if own, err := unix.Getpgid(p.pid); err == nil {
		l.groups = append(l.groups, own)
	}
	for _, pid := range pids {
		if s, err := StatOf(pid); err == nil {
			l.hold(pid, s)
		}
	}
	err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	if err != nil {
		err = fmt.Errorf("becoming the parent of what %s leaves behind: %w", p.name, err)
	}
	self, ended := StatOf(p.pid)
	if ended != nil {
		return l, err
	}
	below, failed := Descendants([]Running{{PID: p.pid, Start: self.Start, Unique: self.Unique}})
	for _, r := range below {
		l.hold(r.PID, Stat{Start: r.Start, Unique: r.Unique})
	}
	return l, errors.Join(err, failed)
}

func sinceBoot() uint64 {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) // it fails for clocks that do not exist only
	return uint64(now.Nano() / int64(10*time.Millisecond))
}

// hold takes hold of a process that was seen to be this one, and tells whether it was not held yet.
func (l *Leftovers) hold(pid int, seen Stat) bool {
	if pid == l.program || l.holds(pid, seen) {
		return false
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false // it has ended, or is a thread's number
	}
	group, err := unix.Getpgid(pid)
	// Looked at last: who still is the one that was seen was it when the others were read.
	s, statErr := StatOf(pid)
	if err != nil || statErr != nil || s.Start != seen.Start || s.Unique != seen.Unique {
		unix.Close(fd)
		return false
	}
	l.held = append(l.held, leftover{Running: runningOf(pid, s), pidfd: fd, away: !slices.Contains(l.groups, group)})
	return true
}

func (l *Leftovers) holds(pid int, s Stat) bool {
	return slices.ContainsFunc(l.held, func(h leftover) bool { return h.PID == pid && h.Start == s.Start })
}

// adopt takes hold of who has become this process's child, and tells whether there was one. Who has ended is waited for, as its parent is to.
func (l *Leftovers) adopt() (more bool) {
	pids, err := processes()
	if err != nil {
		return false // without /proc nothing was held, either
	}
	for _, pid := range pids {
		s, err := StatOf(pid)
		switch {
		case err != nil || pid == l.program || s.Parent != os.Getpid() || s.Start < l.since && !l.holds(pid, s): // whatif has children of its own, too
		case s.Ended():
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
		default:
			more = l.hold(pid, s) || more
		}
	}
	return more
}

// Await waits for the program, but no longer than that, and tells whether it has ended.
func (l *Leftovers) Await(done <-chan struct{}, within time.Duration) bool {
	for end := time.After(within); ; {
		began := time.Now()
		l.adopt()
		select {
		case <-done:
			return true
		case <-end:
			return false
		case <-time.After(restAfter(began)):
		}
	}
}

// restAfter is until the next look at all processes, which may be many.
func restAfter(began time.Time) time.Duration { return max(30*time.Millisecond, 20*time.Since(began)) }

// Terminate sends SIGTERM to those that are still there, and to who loses his parent meanwhile, and waits for them, but no longer than that. What they run as they end is
// left alone. Stubborn are those that go on, and away those that were not told.
func (l *Leftovers) Terminate(within time.Duration) (stubborn, away []Running, err error) {
	for end := time.Now().Add(within); ; {
		began := time.Now()
		more := l.adopt()
		err = errors.Join(err, l.tell())
		l.dropEnded()
		going := slices.ContainsFunc(l.held, func(h leftover) bool { return h.told })
		if !more && !going || began.After(end) {
			break
		}
		time.Sleep(restAfter(began))
	}
	for _, h := range l.held {
		unix.Close(h.pidfd)
		if h.away {
			away = append(away, h.Running)
		} else if h.told {
			stubborn = append(stubborn, h.Running)
		}
	}
	l.held = nil
	return stubborn, away, err
}

// tell tells those that were not told yet. Who was there first may start others anew, and is told first.
func (l *Leftovers) tell() (err error) {
	slices.SortStableFunc(l.held, func(a, b leftover) int { return cmp.Compare(a.Start, b.Start) })
	for i := range l.held {
		h := &l.held[i]
		if h.away || h.told {
			continue
		}
		sent := unix.PidfdSendSignal(h.pidfd, unix.SIGTERM, nil, 0)
		h.told = sent == nil
		if sent != nil && !errors.Is(sent, unix.ESRCH) {
			err = errors.Join(err, fmt.Errorf("sending SIGTERM to process %d, which the program has started: %w", h.PID, sent))
		}
	}
	return err
}

func (l *Leftovers) dropEnded() {
	l.held = slices.DeleteFunc(l.held, func(h leftover) bool {
		ended := hasEnded(h.pidfd)
		if ended {
			unix.Close(h.pidfd)
		}
		return ended
	})
}

func hasEnded(pidfd int) bool {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, 0)
		if err != unix.EINTR {
			return n > 0
		}
	}
}
