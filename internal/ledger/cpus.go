package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"golang.org/x/sys/unix"

	"whatif/internal/cpulist"
)

// CPUs are the CPUs of the machine that are on line, and among them those that it keeps free.
type CPUs struct {
	Online []int

	isolated []int // the scheduler moves no thread there by itself: isolcpus=, isolated partitions of cpusets
	tickless []int // nohz_full=: the kernel does not interrupt a thread that runs there alone
}

// ReadCPUs reads the CPUs from system, which is the directory /sys/devices/system.
func ReadCPUs(system fs.FS) (c CPUs, err error) {
	for _, set := range []struct {
		name string
		cpus *[]int
	}{{"online", &c.Online}, {"isolated", &c.isolated}, {"nohz_full", &c.tickless}} {
		list, err := cpulist.Text(system, set.name)
		mayLack := set.cpus != &c.Online
		if mayLack && (errors.Is(err, fs.ErrNotExist) || err == nil && list == "") {
			continue // this kernel cannot have any, or has none
		}
		if err != nil {
			return c, err
		}
		if *set.cpus, err = cpulist.Parse(list); err != nil {
			return c, fmt.Errorf("listing the CPUs: reading cpu/%s: %w", set.name, err)
		}
	}
	return c, nil
}

// Reachable is how many of the CPUs can have a clock: a cpuset, as of a container, may leave some out. On which CPUs
// whatif itself was told to run (taskset) does not matter.
func (c CPUs) Reachable() (n int) {
	onOwnThread(func() {
		var set unix.CPUSet
		for _, cpu := range c.Online {
			set.Set(cpu)
		}
		if unix.SchedSetaffinity(0, &set) == nil {
			_ = unix.SchedGetaffinity(0, &set) // it is what was set, where that fails
		}
		n = max(1, set.Count())
	})
	return n
}

// WithClock chooses the CPUs on which to sample a target whose threads may run on these sets of CPUs. They are all but
// the CPUs that are kept free of the target.
//
// To an isolated CPU the scheduler moves no thread. So a thread runs there only if its set was chosen, and the CPU is
// in the set. A set of all CPUs is no choice: the cpusets of containers have it by default. To a tickless CPU that is
// not isolated the scheduler moves any thread that may run there.
func (c CPUs) WithClock(mayRun [][]int) []int {
	var clocks []int
	for _, cpu := range c.Online {
		isolated, tickless := slices.Contains(c.isolated, cpu), slices.Contains(c.tickless, cpu)
		if !isolated && !tickless || slices.ContainsFunc(mayRun, func(set []int) bool {
			return slices.Contains(set, cpu) && (!isolated || !c.allIn(set))
		}) {
			clocks = append(clocks, cpu)
		}
	}
	return clocks
}

func (c CPUs) allIn(set []int) bool {
	return !slices.ContainsFunc(c.Online, func(cpu int) bool { return !slices.Contains(set, cpu) })
}
