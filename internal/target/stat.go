package target

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Stat is what /proc/PID/stat says of a process, as far as it matters here, and which one it is.
type Stat struct {
	Name    string // comm: 15 bytes at most
	State   byte   // R, S, …; Z and X: its first thread has ended
	Parent  int
	Flags   uint64
	Threads int    // with that one
	Start   uint64 // since boot, in 10 ms
	Unique  uint64 // since Linux 6.9, what no other process has or had; before, the same for all; 0: not known
}

// Of Stat.Flags.
const kernelThread = 0x200000 // PF_KTHREAD

// Ended tells whether all that is left of the process is its number. Its first thread may have come to its end
// before the others: by pthread_exit, or as one of them runs a new program just now, and takes its place.
func (s *Stat) Ended() bool { return (s.State == 'Z' || s.State == 'X') && s.Threads <= 1 }

// IsKernel tells whether it is a thread of the kernel's.
func (s *Stat) IsKernel() bool { return s.Flags&kernelThread != 0 }

// StatOf reads it. Which one it is comes first: if that has ended and another one has got its number, what
// is read of the other one is said of nobody that is alive.
func StatOf(pid int) (Stat, error) {
	for tries := 1; ; tries++ {
		unique := uniqueOf(pid)
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return Stat{}, fmt.Errorf("looking at process %d: %w", pid, err)
		}
		s, err := ParseStat(text)
		if err != nil {
			return Stat{}, fmt.Errorf("looking at process %d: %w", pid, err)
		}
		// The first thread was taken out while it was looked at: its number is another thread's by now, or nobody's.
		if s.Threads == 0 && tries < 10 {
			continue
		}
		s.Unique = unique
		return s, nil
	}
}

// uniqueOf is the inode of a process's pidfd.
func uniqueOf(pid int) uint64 {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return 0 // it may not be asked for here, or there is no such process
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0
	}
	return st.Ino
}

var errNoStat = errors.New("this is no /proc/PID/stat")

// ParseStat reads a line such as
//
//	1234 (a name) S 1 1234 1234 0 -1 4194560 …
//
// where the name is the process's own choice: it may contain blanks and parentheses.
func ParseStat(text []byte) (s Stat, err error) {
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return s, errNoStat
	}
	fields := strings.Fields(string(text[end+1:])) // state ppid pgrp session tty tpgid flags …
	const flags, threads, start = 6, 17, 19
	if len(fields) <= start || len(fields[0]) != 1 {
		return s, errNoStat
	}
	s.Name, s.State = string(text[open+1:end]), fields[0][0]
	var p fieldParser
	s.Parent = int(p.parse(fields[1], 10, 31))
	s.Flags, s.Start = p.parse(fields[flags], 10, 64), p.parse(fields[start], 10, 64)
	s.Threads = int(p.parse(fields[threads], 10, 31))
	return s, p.err
}

// placesOf are the directories of /proc that may show what a process has mapped, executes and was called as: its own,
// and, as nothing is to be seen there once its first thread has ended, those of its other threads. If one of
// those has taken the first one's place meanwhile it is the process's own again.
func placesOf(pid int) iter.Seq[string] {
	own := fmt.Sprintf("/proc/%d", pid)
	return func(yield func(string) bool) {
		if !yield(own) {
			return
		}
		if _, err := os.Readlink(own + "/exe"); errors.Is(err, os.ErrNotExist) {
			threads, err := os.ReadDir(own + "/task")
			if err != nil {
				return // the process has ended
			}
			for _, t := range threads {
				if t.Name() != strconv.Itoa(pid) && !yield(own+"/task/"+t.Name()) {
					return
				}
			}
		}
		yield(own)
	}
}

// processes are the numbers of all processes, in order.
func processes() ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("listing the processes: %w", err)
	}
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && e.IsDir() {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
