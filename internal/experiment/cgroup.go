package experiment

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"whatif/internal/ledger"
	"whatif/internal/target"
)

// cgroupFollower keeps the target to the processes that are in a cgroup, while they come and go.
type cgroupFollower struct {
	dir string

	following sync.WaitGroup
	stop      chan struct{}
	once      sync.Once // for stop
	mu        sync.Mutex
	gone      bool  // it is, or has been empty for a while
	failure   error // why it could not be followed
}

func (c *cgroupFollower) begin(m members) {
	c.following.Go(func() { c.follow(m) })
}

// end may be called any number of times.
func (c *cgroupFollower) end() {
	c.once.Do(func() { close(c.stop) })
	c.following.Wait()
}

func (c *cgroupFollower) isGone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gone
}

func (c *cgroupFollower) failed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failure
}

const (
	// cgroupGlance is how often the processes in a cgroup are looked up.
	cgroupGlance = 100 * time.Millisecond
	// cgroupPatience is how long a cgroup may be empty before profiling ends: a service that is started anew is gone for a
	// moment.
	cgroupPatience = 2 * time.Second
)

// follow takes in processes that come into the cgroup, and lets those go that leave it. The children of members need
// not be looked for. Processes that stay for less than cgroupGlance are missed.
func (c *cgroupFollower) follow(m members) {
	ticks := time.NewTicker(cgroupGlance)
	defer ticks.Stop()
	empty := 0
	for {
		select {
		case <-c.stop:
			return
		case <-ticks.C:
		}
		n, err := c.glance(m)
		if n > 0 {
			empty = 0
		} else {
			empty++
		}
		if err != nil || time.Duration(empty)*cgroupGlance >= cgroupPatience {
			c.mu.Lock()
			c.gone = true
			if !errors.Is(err, target.ErrNoCgroup) {
				c.failure = err
			}
			c.mu.Unlock()
			return
		}
	}
}

// glance gives how many processes the cgroup has. It asks for the target's members first: a process that is forked in
// between is in the cgroup only, and is a member already.
func (c *cgroupFollower) glance(m members) (int, error) {
	before, err := m.Members()
	if err != nil {
		return 0, err
	}
	now, err := target.CgroupMembers(c.dir)
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
	come, err := stillIn(c.dir, unknown)
	if len(come) > 0 {
		err = m.Join(choices(come))
	}
	if len(left) > 0 {
		err = errors.Join(err, m.Leave(slices.Collect(maps.Values(left))))
	}
	return len(now), err
}

// checkOwnCgroup refuses a cgroup that has other users' processes, too: those could not be profiled, and the user asked
// for all.
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

// stillIn looks up processes that were listed in a cgroup, and lists it again: in between, a number may have become
// that of another process outside of the cgroup.
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
