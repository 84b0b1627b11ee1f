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

// Stat is the part of /proc/PID/stat that matters here, with what distinguishes the process from others that have had
// its number.
type Stat struct {
	Name    string // comm: 15 bytes at most
	State   byte   // R, S, …; Z and X: its first thread has ended
	Parent  int
	Flags   uint64
	Threads int    // the first thread included
	Start   uint64 // since boot, in 10 ms
	Unique  uint64 // since Linux 6.9 unique to a process for all time; before, the same for all; 0: unknown
}

// kernelThread is PF_KTHREAD, one of Stat.Flags.
const kernelThread = 0x200000

// Ended tells whether the process has ended and only its number is left. The first thread alone may end before the
// others: by pthread_exit, or because another thread executes a new program and takes its place.
func (s *Stat) Ended() bool { return (s.State == 'Z' || s.State == 'X') && s.Threads <= 1 }

// IsKernel tells whether the process is a thread of the kernel.
func (s *Stat) IsKernel() bool { return s.Flags&kernelThread != 0 }

// StatOf reads the Stat of a process. It reads Unique first. If the process then ends and another gets its number, the
// combination of Unique and the rest belongs to no living process.
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
		// The first thread disappeared during the read. Its number now belongs to another thread or to none.
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
		return 0 // pidfds are forbidden, or there is no such process
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0
	}
	return st.Ino
}

var errNoStat = errors.New("this is no /proc/PID/stat")

// ParseStat parses a line such as
//
//	1234 (a name) S 1 1234 1234 0 -1 4194560 …
//
// The process chooses its name, which may contain blanks and parentheses.
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

// placesOf lists the directories of /proc that may show the mappings, the program and the arguments of a process. The
// process's own directory comes first. It shows nothing once the first thread has ended; then those of the other
// threads follow. Another thread may meanwhile have taken the first one's place, so the own directory comes last again.
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

// processes lists the numbers of all processes, in order.
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
