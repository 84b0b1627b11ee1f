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
	groups []int          // of processes: who has left these, as daemons do, goes its own way
	own    map[int]uint64 // whatif's children, the program too: when they began, by number
	held   []leftover
	adopts bool // it is the parent of who loses his
}

type leftover struct {
	Running
	pidfd int
	told  bool // to end
	fails bool // it cannot be told
}

// Leftovers takes hold of these processes and of the program's descendants. Told to end will be those that a Ctrl-C for the program would reach: those in whatif's process
// group, or in the program's. From now on whatif is the parent of who loses his, so that what is started meanwhile is not missed, unless it has children that are not the program's.
func (p *Process) Leftovers(pids []int) (Leftovers, error) {
	l := Leftovers{groups: []int{unix.Getpgrp(), p.pid}, own: make(map[int]uint64), adopts: true}
	for _, pid := range pids { // at once: these are numbers, and no more
		if s, err := StatOf(pid); err == nil && pid != p.pid {
			l.hold(pid, s)
		}
	}
	err := eachChild(func(pid int, s Stat) {
		l.own[pid] = s.Start
		// Else it may be one of a shell that became whatif (exec): what that leaves behind is not the program's.
		l.adopts = l.adopts && (pid == p.pid || slices.Contains(pids, pid) || s.Ended())
	})
	if l.adopts {
		if failed := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); failed != nil {
			err = errors.Join(err, fmt.Errorf("becoming the parent of what %s leaves behind: %w", p.name, failed))
		}
	}
	return l, errors.Join(err, l.holdBelow(p))
}

// holdBelow takes hold of a program's descendants, and learns the program's process group.
func (l *Leftovers) holdBelow(p *Process) error {
	p.mu.Lock()
	defer p.mu.Unlock() // until then the number is the program's
	if p.Ended() {
		return nil
	}
	if group, err := unix.Getpgid(p.pid); err == nil {
		l.groups = append(l.groups, group)
	}
	self, err := StatOf(p.pid)
	if err != nil {
		return err
	}
	below, err := Descendants([]Running{{PID: p.pid, Start: self.Start, Unique: self.Unique}})
	for _, r := range below {
		l.hold(r.PID, Stat{Start: r.Start, Unique: r.Unique})
	}
	return err
}

// eachChild is about whatif's own children, and those that it has become the parent of.
func eachChild(do func(pid int, s Stat)) error {
	pids, err := processes()
	for _, pid := range pids {
		if s, err := StatOf(pid); err == nil && s.Parent == os.Getpid() {
			do(pid, s)
		}
	}
	return err
}

// hold takes hold of a process that was seen to be this one, and tells whether it was not held yet.
func (l *Leftovers) hold(pid int, seen Stat) bool {
	if slices.ContainsFunc(l.held, func(h leftover) bool { return h.PID == pid && h.Start == seen.Start }) {
		return false
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false // it has ended, or is a thread's number
	}
	s, err := StatOf(pid)
	if err != nil || s.Start != seen.Start || s.Unique != seen.Unique {
		unix.Close(fd)
		return false
	}
	l.held = append(l.held, leftover{Running: runningOf(pid, s), pidfd: fd})
	return true
}

// adopt takes hold of who has become whatif's child, and tells whether there was one. Who has ended is waited for, as its parent is to.
func (l *Leftovers) adopt() (more bool) {
	if !l.adopts {
		return false
	}
	_ = eachChild(func(pid int, s Stat) { // without /proc nothing was held, either
		switch {
		case l.own[pid] == s.Start:
		case s.Ended():
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
		default:
			more = l.hold(pid, s) || more
		}
	})
	return more
}

// Await waits for the program, but no longer than that, and tells whether it has ended.
func (l *Leftovers) Await(p *Process, within time.Duration) bool {
	for end := time.After(within); ; {
		began := time.Now()
		l.dropEnded()
		l.adopt()
		select {
		case <-p.done:
			return true
		case <-end:
			return p.Ended()
		case <-time.After(restAfter(began)):
		}
	}
}

// restAfter is until the next look at all processes, which may be many.
func restAfter(began time.Time) time.Duration {
	return min(max(30*time.Millisecond, 20*time.Since(began)), time.Second)
}

// justTold is what who was told only when the time was up has left.
const justTold = 100 * time.Millisecond

// Terminate sends SIGTERM to those that are still there, and to who loses his parent meanwhile, and waits for them, but no longer than that. What they run as they end is
// left alone. Stubborn are those that go on, and away those that were not told.
func (l *Leftovers) Terminate(within time.Duration) (stubborn, away []Running, err error) {
	told := false // in the last round
	for end := time.Now().Add(within); ; {
		began := time.Now()
		// In this order: who ends after that has lost its children when the next round begins.
		l.dropEnded()
		going := slices.ContainsFunc(l.held, func(h leftover) bool { return h.told })
		more := l.adopt()
		var failed error
		told, failed = l.tell()
		err = errors.Join(err, failed)
		if !going && !more && !told || began.After(end) {
			break
		}
		time.Sleep(min(restAfter(began), max(0, time.Until(end))))
	}
	if told {
		time.Sleep(justTold)
	}
	l.dropEnded()
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) // it could be set, or nothing was adopted
	for _, h := range l.held {
		unix.Close(h.pidfd)
		switch {
		case h.told:
			stubborn = append(stubborn, h.Running)
		case !h.fails:
			away = append(away, h.Running)
		}
	}
	l.held = nil
	return stubborn, away, err
}

// tell tells those of the groups that were not told yet, and whether there was one. Who was there first may start others anew, and is told first.
func (l *Leftovers) tell() (told bool, err error) {
	slices.SortStableFunc(l.held, func(a, b leftover) int { return cmp.Compare(a.Start, b.Start) })
	for i := range l.held {
		h := &l.held[i]
		group, gone := unix.Getpgid(h.PID)
		if h.told || h.fails || gone != nil || !slices.Contains(l.groups, group) {
			continue
		}
		sent := unix.PidfdSendSignal(h.pidfd, unix.SIGTERM, nil, 0)
		h.told = sent == nil
		told = told || h.told
		if sent != nil && !errors.Is(sent, unix.ESRCH) {
			h.fails = true
			err = errors.Join(err, fmt.Errorf("sending SIGTERM to process %d, which the program has started: %w", h.PID, sent))
		}
	}
	return told, err
}

func (l *Leftovers) dropEnded() {
	l.held = slices.DeleteFunc(l.held, func(h leftover) bool {
		ended := endsIn(h.pidfd, 0)
		if ended {
			unix.Close(h.pidfd)
		}
		return ended
	})
}
