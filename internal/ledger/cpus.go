package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// CPUs are those of the machine that are on line, and of them those that it keeps free.
type CPUs struct {
	Online   []int
	Isolated []int // the scheduler moves no thread there by itself: isolcpus=, isolated partitions of cpusets
	Tickless []int // nohz_full=: while one thread runs there the kernel does not interrupt it
}

// ReadCPUs reads them where the kernel describes its devices, /sys/devices/system.
func ReadCPUs(system fs.FS) (c CPUs, err error) {
	for _, set := range []struct {
		path string
		cpus *[]int
	}{{"cpu/online", &c.Online}, {"cpu/isolated", &c.Isolated}, {"cpu/nohz_full", &c.Tickless}} {
		text, err := fs.ReadFile(system, set.path)
		if errors.Is(err, fs.ErrNotExist) && set.cpus != &c.Online {
			continue // this kernel cannot have any
		}
		if err != nil {
			return c, fmt.Errorf("listing the CPUs: %w", err)
		}
		cpus := strings.TrimSpace(string(text))
		if set.cpus != &c.Online && (cpus == "" || cpus == "(null)") { // none; the latter is printf's word for it
			continue
		}
		if *set.cpus, err = parseCPUs(cpus); err != nil {
			return c, fmt.Errorf("listing the CPUs: reading %s: %w", set.path, err)
		}
	}
	return c, nil
}

// WithClock chooses the CPUs on which a target is sampled whose threads may run on these sets of CPUs: all, but for
// those that are kept free of it. To an isolated one the scheduler moves no thread, so a thread runs there only if
// somebody chose its CPUs, and that one among them. A set of all CPUs is nobody's choice: it is what the cpusets of
// containers have by default. To a tickless one that is not isolated the scheduler moves whatever may run there.
func (c CPUs) WithClock(mayRun [][]int) []int {
	var clocks []int
	for _, cpu := range c.Online {
		isolated, tickless := slices.Contains(c.Isolated, cpu), slices.Contains(c.Tickless, cpu)
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
