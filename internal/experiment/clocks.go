package experiment

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/ledger"
)

// clocks are the sampling clocks. CPUs that the machine keeps free (isolated or nohz_full) get one only when the target
// may run there.
type clocks struct {
	ledger *ledger.Ledger
	rec    *recorder
	log    *slog.Logger
	system bool // the target is all processes
	starts bool // whatif starts the program
	cpus   ledger.CPUs
	// without are CPUs that are online, and neither sampled nor stopped.
	without []int
	looked  time.Time // when it was last looked where the target may run
}

// startClocks starts the sampling clocks.
func startClocks(l *ledger.Ledger, rec *recorder, cfg *Config) (*clocks, error) {
	cpus, err := ledger.ReadCPUs(machine)
	if err != nil {
		return nil, err
	}
	c := &clocks{ledger: l, rec: rec, log: cfg.Log, system: cfg.System, starts: cfg.Starts(), cpus: cpus}
	wanted := cpus.WithClock(c.mayRun())
	c.without = without(cpus.Online, wanted)
	l.Await(c.without)
	barred, err := l.StartClock(wanted)
	if err != nil {
		return nil, err
	}
	c.warnOfBarred(barred)
	if len(c.without) > 0 {
		c.log.Debug(fmt.Sprintf("CPUs %s are isolated or nohz_full, and the target is not put there: "+
			"they get no clock", cpuList(c.without)))
	}
	return c, nil
}

// add starts the clock of CPUs where the target has turned out to run, or may run by now: until then it was not sampled
// there, nor stopped. So the last experiment may be useless.
func (c *clocks) add() reason {
	if len(c.without) == 0 {
		return usable
	}
	ran := c.ledger.Ran(c.without)
	if c.system {
		c.leaveAlone(ran)
		return usable
	}
	const pause = time.Second
	if time.Since(c.looked) > pause {
		ran = append(ran, c.cpus.WithClock(c.mayRun())...)
	}
	more := slices.DeleteFunc(slices.Clone(c.without), func(cpu int) bool { return !slices.Contains(ran, cpu) })
	if len(more) == 0 {
		return usable
	}
	c.without = without(c.without, more)
	barred, err := c.ledger.AddClocks(more)
	if err != nil {
		c.rec.warn("isolated-cpus", "threads run on CPUs %s, and are neither sampled nor stopped there: %v",
			cpuList(more), err)
		return noClock
	}
	c.warnOfBarred(barred)
	c.rec.note("isolated-cpus", "threads may run on the isolated or nohz_full CPUs %s since the program is profiled: "+
		"from then on they are sampled and stopped there, and the experiment before is discarded", cpuList(more))
	return noClock
}

// leaveAlone warns of threads on isolated CPUs where the target is all processes. A thread that is pinned there is not
// the work that the user asks about: the machine keeps these CPUs free for it.
func (c *clocks) leaveAlone(ran []int) {
	if len(ran) == 0 {
		return
	}
	c.rec.warn("isolated-cpus", "threads on the isolated or nohz_full CPUs %s are neither sampled nor stopped: "+
		"if the load waits for them, gains may be off. whatif attach profiles such threads", cpuList(ran))
	c.without = without(c.without, ran)
}

// mayRun is on which CPUs threads of the target may run; where the target is all processes, on which the load may.
func (c *clocks) mayRun() [][]int {
	c.looked = time.Now()
	pids := []int{os.Getpid()} // a load inherits it
	if !c.system {
		members, err := c.ledger.Members()
		if err != nil {
			c.log.Debug(err.Error())
		}
		pids = nil
		for _, m := range members {
			pids = append(pids, m.PID)
		}
	}
	var sets [][]int
	known := make(map[unix.CPUSet]bool) // most threads have the same
	for _, pid := range pids {
		threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		if err != nil {
			continue // the process has ended
		}
		for _, t := range threads {
			var set unix.CPUSet
			tid, err := strconv.Atoi(t.Name())
			if err != nil || unix.SchedGetaffinity(tid, &set) != nil || known[set] {
				continue
			}
			known[set] = true
			var cpus []int
			for _, cpu := range c.cpus.Online {
				if set.IsSet(cpu) {
					cpus = append(cpus, cpu)
				}
			}
			sets = append(sets, cpus)
		}
	}
	return sets
}

// warnOfBarred says what it means that whatif may not be on some of the CPUs. A program that whatif starts may not be
// there either.
func (c *clocks) warnOfBarred(barred []int) {
	if len(barred) == 0 || !c.system && c.starts {
		return
	}
	c.rec.warn("cpuset", "whatif may not be on %d of the CPUs, from number %d on, because of the cpuset that it is in: "+
		"what runs there is neither sampled nor stopped, and what is found may be wrong. "+
		"Run it where all CPUs may be used (docker: without --cpuset-cpus; systemd: AllowedCPUs=)", len(barred), barred[0])
}

func without(all, these []int) []int {
	return slices.DeleteFunc(slices.Clone(all), func(cpu int) bool { return slices.Contains(these, cpu) })
}

func cpuList(cpus []int) string {
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(cpus)), ", "), "[]")
}
