package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
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
		path string
		cpus *[]int
	}{{"cpu/online", &c.Online}, {"cpu/isolated", &c.isolated}, {"cpu/nohz_full", &c.tickless}} {
		text, err := fs.ReadFile(system, set.path)
		if errors.Is(err, fs.ErrNotExist) && set.cpus != &c.Online {
			continue // this kernel cannot have any
		}
		if err != nil {
			return c, fmt.Errorf("listing the CPUs: %w", err)
		}
		cpus := strings.TrimSpace(string(text))
		if set.cpus != &c.Online && (cpus == "" || cpus == "(null)") { // none; the kernel's printf writes "(null)"
			continue
		}
		if *set.cpus, err = parseCPUs(cpus); err != nil {
			return c, fmt.Errorf("listing the CPUs: reading %s: %w", set.path, err)
		}
	}
	return c, nil
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

// parseCPUs reads the kernel's notation for a set: 0-3,8.
func parseCPUs(s string) ([]int, error) {
	var cpus []int
	for _, part := range strings.Split(s, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		a, err := strconv.Atoi(from)
		if err != nil {
			return nil, err
		}
		b, err := strconv.Atoi(to)
		if err != nil {
			return nil, err
		}
		for ; a <= b; a++ {
			cpus = append(cpus, a)
		}
	}
	return cpus, nil
}
