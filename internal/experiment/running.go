package experiment

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"whatif/internal/hint"
	"whatif/internal/ledger"
	"whatif/internal/privilege"
	"whatif/internal/profile"
	"whatif/internal/target"
)

// Attach says which processes that run already are to be profiled.
type Attach struct {
	PIDs     []int
	Names    []string // patterns: those that run now
	Cgroup   string   // who is in it, or comes into it; "": none
	Children bool     // also the descendants that they have by now
}

// attachedTo are the processes that whatif was told to attach to.
type attachedTo struct {
	how    *Attach
	all    []target.Running // as they were found
	cgroup string           // its directory; "": none

	following sync.WaitGroup
	end       chan struct{}
	once      sync.Once // for end
	mu        sync.Mutex
	gone      bool  // the cgroup is, or has been empty for a while
	failure   error // why the cgroup could not be followed
}

// findRunning finds the processes to attach to.
func findRunning(cfg *Config) (*attachedTo, error) {
	a := &attachedTo{how: cfg.Attach, end: make(chan struct{})}
	all, err := target.FindRunning(a.how.PIDs)
	if err != nil {
		return nil, err
	}
	for _, glob := range a.how.Names {
		named, err := target.FindNamed(glob)
		if err != nil {
			return nil, err
		}
		all = append(all, named...)
	}
	if a.how.Cgroup != "" {
		if a.cgroup, err = target.FindCgroup(a.how.Cgroup); err != nil {
			return nil, err
		}
		members, err := inCgroup(a.cgroup)
		if err == nil && privilege.Lent() {
			err = checkOwnCgroup(a.cgroup)
		}
		if err != nil {
			return nil, err
		}
		if len(members) == 0 {
			return nil, hint.New(fmt.Errorf("attaching to the cgroup %s: no process in it that could be profiled", a.cgroup), "start what is to be profiled there first")
		}
		all = append(all, members...)
	}
	if a.how.Children {
		children, err := target.Descendants(all)
		if err != nil {
			return nil, err
		}
		all = append(all, children...)
	}
	a.all = slices.CompactFunc(slices.SortedFunc(slices.Values(all), func(x, y target.Running) int { return x.PID - y.PID }),
		func(x, y target.Running) bool { return x.PID == y.PID })
	return a, nil
}

// checkOwnCgroup refuses a cgroup that has other users' processes, too: what is asked for is not what would be
// profiled.
func checkOwnCgroup(dir string) error {
	pids, err := target.CgroupMembers(dir)
	if err == nil {
		err = target.CheckOwn(pids)
	}
	if err != nil {
		return fmt.Errorf("attaching to the cgroup %s: %w", dir, err)
	}
	return nil
}

func inCgroup(dir string) ([]target.Running, error) {
	pids, err := target.CgroupMembers(dir)
	if err != nil {
		return nil, err
	}
	return stillIn(dir, pids)
}

// stillIn looks up processes that were listed in a cgroup, and lists it again: a number may have become another
// process's, outside of it, in between.
func stillIn(dir string, pids []int) ([]target.Running, error) {
	var all []target.Running
	for _, pid := range pids {
		if r, ok := target.Lookup(pid); ok {
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	now, err := target.CgroupMembers(dir)
	if err != nil {
		return nil, err
	}
	slices.Sort(now)
	return slices.DeleteFunc(all, func(r target.Running) bool {
		_, in := slices.BinarySearch(now, r.PID)
		return !in
	}), nil
}

func (a *attachedTo) programs() ([]program, error) {
	programs := mapped(a.all)
	if len(programs) == 0 {
		return nil, fmt.Errorf("attaching to %d processes: none has a program that can be read any more", len(a.all))
	}
	return programs, nil
}

func (a *attachedTo) join(l *ledger.Ledger) error {
	if err := l.Join(choices(a.all)); err != nil {
		return err
	}
	if a.how.Children {
		if err := a.joinChildren(l); err != nil {
			return err
		}
	}
	if l.Processes() == 0 {
		return errors.New("attaching: all processes have ended meanwhile")
	}
	if a.cgroup != "" {
		a.following.Go(func() { a.follow(l) })
	}
	return nil
}

// joinChildren takes in children that were made while others were looked for, until
// there are no more. What a process makes once it has been taken in belongs to it.
func (a *attachedTo) joinChildren(l *ledger.Ledger) error {
	for {
		before := l.Joined()
		children, err := target.Descendants(a.all)
		if err != nil {
			return err
		}
		if err := l.Join(choices(children)); err != nil || l.Joined() == before {
			return err
		}
	}
}

// Release does nothing: they run.
func (a *attachedTo) Release() error { return nil }

func (a *attachedTo) Done() <-chan struct{} { return nil }

func (a *attachedTo) alive(l *ledger.Ledger) bool {
	if a.cgroup == "" {
		return l.Processes() > 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.gone
}

func (a *attachedTo) tell(*ledger.Ledger) error { return nil }

func (a *attachedTo) Ended() bool { return false }

func (a *attachedTo) Interrupted() bool { return false }

func (a *attachedTo) wait() (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return 0, a.failure
}

func (a *attachedTo) describe(r *profile.Run) {
	r.Subject = "attach"
	for _, p := range a.all {
		r.PIDs = append(r.PIDs, p.PID)
	}
	r.Args = a.all[0].Args
}

func (a *attachedTo) detach() {
	a.once.Do(func() { close(a.end) })
	a.following.Wait()
}

func (a *attachedTo) Close() error {
	a.detach()
	return nil
}

// How often it is looked who is in a cgroup, and how long it may be empty before
// profiling ends: a service that is started anew is gone for a moment.
const (
	cgroupGlance   = 100 * time.Millisecond
	cgroupPatience = 2 * time.Second
)

// follow takes in who comes into the cgroup and lets go who leaves it. What a member
// forks needs no look. Those that stay in it for less than a glance are missed.
func (a *attachedTo) follow(l *ledger.Ledger) {
	ticks := time.NewTicker(cgroupGlance)
	defer ticks.Stop()
	empty := 0
	for {
		select {
		case <-a.end:
			return
		case <-ticks.C:
		}
		n, err := a.glance(l)
		if n > 0 {
			empty = 0
		} else {
			empty++
		}
		if err != nil || time.Duration(empty)*cgroupGlance >= cgroupPatience {
			a.mu.Lock()
			a.gone = true
			if !errors.Is(err, target.ErrNoCgroup) {
				a.failure = err
			}
			a.mu.Unlock()
			return
		}
	}
}

// glance gives how many processes the cgroup has. Who belongs to the target is asked for first:
// one that is forked in between is in the cgroup only, and is a member already.
func (a *attachedTo) glance(l *ledger.Ledger) (int, error) {
	before, err := l.Members()
	if err != nil {
		return 0, err
	}
	now, err := target.CgroupMembers(a.cgroup)
	if err != nil {
		return 0, err
	}
	left := make(map[int]ledger.Process)
	for _, member := range before {
		left[member.PID] = member
	}
	var unknown []int
	for _, pid := range now {
		if _, member := left[pid]; !member {
			unknown = append(unknown, pid)
		}
		delete(left, pid)
	}
	come, err := stillIn(a.cgroup, unknown)
	if len(come) > 0 {
		err = l.Join(choices(come))
	}
	if len(left) > 0 {
		err = errors.Join(err, l.Leave(slices.Collect(maps.Values(left))))
	}
	return len(now), err
}
