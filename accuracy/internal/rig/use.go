package rig

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Use is what whatif used while it ran. wait4's figures would not do: they include the children that a process
// waited for, and whatif waits for the program.
type Use struct {
	PeakRSS int64         // bytes, the most it ever had resident
	Maps    int64         // bytes of its tables in the kernel, the most seen
	CPU     time.Duration // of its own threads, start-up included; read in ticks of 10 ms
}

// glance is how often a running whatif is looked at. What it uses in its last moments is missed, the
// peak before is not: the kernel keeps it.
const glance = 100 * time.Millisecond

// watch reads what process pid uses until the returned function is called.
func (u *Use) watch(pid int) (stop func()) {
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		ticker := time.NewTicker(glance)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				u.look(fmt.Sprintf("/proc/%d", pid))
			}
		}
	})
	return func() { close(done); watching.Wait() }
}

// look takes one reading. A process that has just ended cannot be read: the reading before stays.
func (u *Use) look(proc string) {
	if status, err := os.ReadFile(proc + "/status"); err == nil {
		u.PeakRSS = max(u.PeakRSS, kibibytes(status, "VmHWM:"))
	}
	if stat, err := os.ReadFile(proc + "/stat"); err == nil {
		u.CPU = max(u.CPU, cpuTime(stat))
	}
	u.Maps = max(u.Maps, mapMemory(proc+"/fdinfo"))
}

// mapMemory sums the memory of the BPF maps that are open.
func mapMemory(dir string) int64 {
	files, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	var sum int64
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err == nil && bytes.Contains(text, []byte("map_type:")) {
			sum += number(text, "memlock:")
		}
	}
	return sum
}

func kibibytes(text []byte, name string) int64 { return number(text, name) << 10 }

// number is the number after a name at the start of a line; 0 if there is none.
func number(text []byte, name string) int64 {
	for line := range bytes.Lines(text) {
		if f := bytes.Fields(line); len(f) > 1 && string(f[0]) == name {
			if n, err := strconv.ParseInt(string(f[1]), 10, 64); err == nil {
				return n
			}
		}
	}
	return 0
}

// cpuTime reads utime and stime of /proc/PID/stat, the fields 14 and 15: see proc_pid_stat(5).
func cpuTime(stat []byte) time.Duration {
	const tick = 10 * time.Millisecond // USER_HZ is 100 on every architecture that Go runs on
	// From field 3 on; a program's name, field 2, may itself contain brackets.
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(f) < 13 {
		return 0
	}
	var sum time.Duration
	for _, field := range f[11:13] {
		if n, err := strconv.ParseInt(field, 10, 64); err == nil {
			sum += time.Duration(n) * tick
		}
	}
	return sum
}
