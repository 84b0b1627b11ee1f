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

// Use has the time and memory that whatif used. wait4's figures would also include the program, because whatif waits
// for it.
type Use struct {
	PeakRSS int64         // bytes: the peak of resident memory
	Maps    int64         // bytes: the peak of its tables in the kernel, as far as it was seen
	CPU     time.Duration // of its own threads, start-up included; read in ticks of 10 ms
}

// glance is the time between two readings. The last moments are missed, but not an earlier peak of memory, which the
// kernel keeps.
const glance = 100 * time.Millisecond

// watch reads the use of process pid until the returned function is called.
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
				u.read(fmt.Sprintf("/proc/%d", pid))
			}
		}
	})
	return func() { close(done); watching.Wait() }
}

// read takes one reading. A process that has just ended cannot be read; the figures then stay as they are.
func (u *Use) read(proc string) {
	if status, err := os.ReadFile(proc + "/status"); err == nil {
		u.PeakRSS = max(u.PeakRSS, kibibytes(status, "VmHWM:"))
	}
	if stat, err := os.ReadFile(proc + "/stat"); err == nil {
		u.CPU = max(u.CPU, cpuTime(stat))
	}
	u.Maps = max(u.Maps, mapMemory(proc+"/fdinfo"))
}

// mapMemory sums the memory of the open BPF maps.
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

// number finds a name at the start of a line, and returns the number after it; 0 if there is none.
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

// cpuTime is the sum of utime and stime in /proc/PID/stat, the fields 14 and 15: see proc_pid_stat(5).
func cpuTime(stat []byte) time.Duration {
	const tick = 10 * time.Millisecond // USER_HZ is 100 on every architecture that Go runs on
	// The fields from 3 on. The program's name, field 2, may itself contain parentheses.
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
