package experiment

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/ledger"
)

// clocks are on which CPUs the target is sampled: not on those that the machine keeps free, unless it runs there.
type clocks struct {
	cpus    ledger.CPUs
	without []int     // on line, and neither sampled nor stopped
	looked  time.Time // when it was last looked where the target may run
}

// startClocks starts the sampling clock.
func (s *session) startClocks() (err error) {
	if s.clocks.cpus, err = ledger.ReadCPUs(machine); err != nil {
		return err
	}
	wanted := s.clocks.cpus.WithClock(s.mayRun())
	s.clocks.without = without(s.clocks.cpus.Online, wanted)
	s.ledger.Await(s.clocks.without)
	barred, err := s.ledger.StartClock(wanted)
	if err != nil {
		return err
	}
	s.checkCPUs(barred)
	if left := s.clocks.without; len(left) > 0 {
		s.cfg.Log.Debug(fmt.Sprintf("CPUs %s are isolated or nohz_full, and the target is not put there: "+
			"they get no clock", listed(left)))
	}
	return nil
}

// addClocks starts the clock where the target has turned out to run, or may by now: until then it was not sampled
// there, nor stopped. It tells whether that makes the last experiment useless.
func (s *session) addClocks() bool {
	c := &s.clocks
	if len(c.without) == 0 {
		return false
	}
	ran := s.ledger.Ran(c.without)
	if s.cfg.System {
		// Whatever is pinned there is not the work that the user asks about; the machine keeps these CPUs free for it.
		if len(ran) > 0 {
			s.warn("isolated-cpus", "threads on the isolated or nohz_full CPUs %s are neither sampled nor stopped: "+
				"if the load waits for them, gains may be off. whatif attach profiles such threads", listed(ran))
			c.without = without(c.without, ran)
		}
		return false
	}
	const pause = time.Second
	if time.Since(c.looked) > pause {
		ran = append(ran, c.cpus.WithClock(s.mayRun())...)
	}
	more := slices.DeleteFunc(slices.Clone(c.without), func(cpu int) bool { return !slices.Contains(ran, cpu) })
	if len(more) == 0 {
		return false
	}
	c.without = without(c.without, more)
	barred, err := s.ledger.AddClocks(more)
	if err != nil {
		s.warn("isolated-cpus", "threads run on CPUs %s, and are neither sampled nor stopped there: %v", listed(more), err)
		return true
	}
	s.checkCPUs(barred)
	s.note("isolated-cpus", "threads may run on the isolated or nohz_full CPUs %s since the program is profiled: "+
		"from then on they are sampled and stopped there, and the experiment before is set aside", listed(more))
	return true
}

// mayRun is on which CPUs threads of the target may run; of everyone, on which the load may.
func (s *session) mayRun() [][]int {
	s.clocks.looked = time.Now()
	pids := []int{os.Getpid()} // a load inherits it
	if !s.cfg.System {
		members, err := s.ledger.Members()
		if err != nil {
			s.cfg.Log.Debug(err.Error())
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
			continue // it has ended
		}
		for _, t := range threads {
			var set unix.CPUSet
			tid, err := strconv.Atoi(t.Name())
			if err != nil || unix.SchedGetaffinity(tid, &set) != nil || known[set] {
				continue
			}
			known[set] = true
			var cpus []int
			for _, cpu := range s.clocks.cpus.Online {
				if set.IsSet(cpu) {
					cpus = append(cpus, cpu)
				}
			}
			sets = append(sets, cpus)
		}
	}
	return sets
}

// checkCPUs says what it means that whatif may not be on some of the CPUs: what it starts may not either.
func (s *session) checkCPUs(barred []int) {
	if len(barred) > 0 && (s.cfg.System || !s.cfg.Starts()) {
		s.warn("cpuset", "whatif may not be on %d of the CPUs, from number %d on, because of the cpuset that it is in: what runs there is neither sampled nor stopped, and what is found may be wrong. Run it where all CPUs may be used (docker: without --cpuset-cpus; systemd: AllowedCPUs=)", len(barred), barred[0])
	}
}

func without(all, these []int) []int {
	return slices.DeleteFunc(slices.Clone(all), func(cpu int) bool { return slices.Contains(these, cpu) })
}

func listed(cpus []int) string {
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(cpus)), ", "), "[]")
}
