// Package cpulist reads the kernel's lists of CPUs, such as 0-3,8: Text returns a list as the kernel writes it, and
// Parse returns the CPUs in it.
package cpulist

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// Text reads a list by its name, such as "online" or "isolated". system is the directory /sys/devices/system. An empty
// list is "". The error wraps fs.ErrNotExist if the kernel does not have the list.
func Text(system fs.FS, name string) (string, error) {
	text, err := fs.ReadFile(system, "cpu/"+name)
	if err != nil {
		return "", fmt.Errorf("listing the CPUs: %w", err)
	}
	list := strings.TrimSpace(string(text))
	if list == "(null)" { // the kernel's printf writes this for a list that was never set
		return "", nil
	}
	return list, nil
}

// Parse returns the numbers of the CPUs in a list that is not empty.
func Parse(list string) ([]int, error) {
	var cpus []int
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, err := strconv.Atoi(from)
		if err != nil {
			return nil, err
		}
		last, err := strconv.Atoi(to)
		if err != nil {
			return nil, err
		}
		for cpu := first; cpu <= last; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}
