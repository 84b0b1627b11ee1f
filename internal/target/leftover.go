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

// Leftovers are processes that a program has started and that may outlive it. An example is a child of a shell, if only
// the shell was told to end.
type Leftovers struct {
	groups  []int          // the process groups that are told to end; daemons have left them
	own     map[int]uint64 // the start times of whatif's children, the program included, by number
	tracked []leftover
	adopts  bool // whatif becomes the parent of processes whose parent ends
}

type leftover struct {
	Running
	pidfd   int
	adopted time.Time // when whatif became its parent; zero: it is not
	told    bool      // SIGTERM was sent
	fails   bool      // SIGTERM cannot be sent
}

// newborn is how long an adopted process gets no signal. A shell's child forgets signals that come before it has undone
// the shell's traps.
const newborn = 50 * time.Millisecond

// Leftovers begins to track the processes pids, and the program's descendants. Terminate will end those that a Ctrl-C
// for the program would reach: those in whatif's process group, or in the program's. From now on whatif becomes the
// parent of a process whose parent ends, so that no process that is started later is missed. This is left out if whatif
// has children that are not the program's.
func (p *Process) Leftovers(pids []int) (Leftovers, error) {
	l := Leftovers{groups: []int{unix.Getpgrp(), p.pid}, own: make(map[int]uint64), adopts: true}
	for _, pid := range pids { // first, because these are only numbers
		if s, err := StatOf(pid); err == nil && pid != p.pid {
			l.track(pid, s)
		}
	}
	err := eachChild(func(pid int, s Stat) {
		l.own[pid] = s.Start
		// Another child may be that of a shell that became whatif (exec). What it leaves behind is not the program's.
		l.adopts = l.adopts && (pid == p.pid || slices.Contains(pids, pid) || s.Ended())
	})
	if l.adopts {
		if failed := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); failed != nil {
			err = errors.Join(err, fmt.Errorf("becoming the parent of what %s leaves behind: %w", p.name, failed))
		}
	}
	return l, errors.Join(err, l.trackBelow(p))
}

// trackBelow tracks a program's descendants, and adds the program's process group to the groups.
func (l *Leftovers) trackBelow(p *Process) error {
	p.mu.Lock()
	defer p.mu.Unlock() // until then no other process can get the program's number
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
		l.track(r.PID, Stat{Start: r.Start, Unique: r.Unique})
	}
	return err
}

// eachChild calls do for each child of whatif, including processes that whatif has become the parent of.
func eachChild(do func(pid int, s Stat)) error {
	pids, err := processes()
	for _, pid := range pids {
		if s, err := StatOf(pid); err == nil && s.Parent == os.Getpid() {
			do(pid, s)
		}
	}
	return err
}

// track opens a pidfd for a process, if the number still belongs to the process that was seen. It tells whether the
// process is newly tracked.
func (l *Leftovers) track(pid int, seen Stat) bool {
	if slices.ContainsFunc(l.tracked, func(t leftover) bool { return t.PID == pid && t.Start == seen.Start }) {
		return false
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false // the process has ended, or pid is the number of a thread
	}
	s, err := StatOf(pid)
	if err != nil || s.Start != seen.Start || s.Unique != seen.Unique {
		unix.Close(fd)
		return false
	}
	l.tracked = append(l.tracked, leftover{Running: runningOf(pid, s), pidfd: fd})
	return true
}

// adopt tracks the processes that have become whatif's children, and tells whether there are new ones. It reaps those
// that have ended, as their parent must.
func (l *Leftovers) adopt() (more bool) {
	if !l.adopts {
		return false
	}
	_ = eachChild(func(pid int, s Stat) { // without /proc nothing is tracked, either
		switch {
		case l.own[pid] == s.Start:
		case s.Ended():
			_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
		case l.track(pid, s):
			l.tracked[len(l.tracked)-1].adopted = time.Now()
			more = true
		}
	})
	return more
}

// Await waits for the end of the program, at most within, and tells whether the program has ended.
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

// restAfter is the pause until all processes are read again. A pass over many processes takes long, so the pause is 20
// times as long as the last pass.
func restAfter(began time.Time) time.Duration {
	return min(max(30*time.Millisecond, 20*time.Since(began)), time.Second)
}

// justTold is the time that remains for processes to which SIGTERM was sent in the last round.
const justTold = 100 * time.Millisecond

// Terminate sends SIGTERM to the tracked processes in the program's groups, and to those whose parent ends meanwhile.
// It waits for their ends, at most within. Processes that they run while they end get no signal. stubborn are processes
// that were told and go on; away are processes in other groups.
func (l *Leftovers) Terminate(within time.Duration) (stubborn, away []Running, err error) {
	told := false // in the last round
	for end := time.Now().Add(within); ; {
		began := time.Now()
		// The order matters: if a process ends after dropEnded, its children have become whatif's by the next round.
		l.dropEnded()
		going := slices.ContainsFunc(l.tracked, func(t leftover) bool { return t.told })
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
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) // cannot fail if it could be set
	for _, t := range l.tracked {
		unix.Close(t.pidfd)
		switch {
		case t.told:
			stubborn = append(stubborn, t.Running)
		case !t.fails:
			away = append(away, t.Running)
		}
	}
	l.tracked = nil
	return stubborn, away, err
}

// tell sends SIGTERM to those processes of the groups that have not had it yet, and tells whether there were any, or
// are some that are too young. The oldest comes first, because an older process may restart a younger one that ends.
func (l *Leftovers) tell() (told bool, err error) {
	slices.SortStableFunc(l.tracked, func(a, b leftover) int { return cmp.Compare(a.Start, b.Start) })
	for i := range l.tracked {
		t := &l.tracked[i]
		group, gone := unix.Getpgid(t.PID)
		if t.told || t.fails || gone != nil || !slices.Contains(l.groups, group) {
			continue
		}
		if time.Since(t.adopted) < newborn {
			told = true
			continue
		}
		sent := unix.PidfdSendSignal(t.pidfd, unix.SIGTERM, nil, 0)
		t.told = sent == nil
		told = told || t.told
		if sent != nil && !errors.Is(sent, unix.ESRCH) {
			t.fails = true
			err = errors.Join(err,
				fmt.Errorf("sending SIGTERM to process %d, which the program has started: %w", t.PID, sent))
		}
	}
	return told, err
}

// dropEnded forgets the processes that have ended.
func (l *Leftovers) dropEnded() {
	l.tracked = slices.DeleteFunc(l.tracked, func(t leftover) bool {
		ended := endsIn(t.pidfd, 0)
		if ended {
			unix.Close(t.pidfd)
		}
		return ended
	})
}
