package target

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"whatif/internal/hint"
)

// A Running is a process that runs already. Its number may become another's: it is
// this one only together with Start and Unique.
type Running struct {
	PID    int
	Start  uint64 // since boot, in 10 ms
	Unique uint64 // see Stat
	Args   []string
}

func runningOf(pid int, s Stat) Running {
	return Running{PID: pid, Start: s.Start, Unique: s.Unique, Args: argsOf(pid, s)}
}

// FindRunning looks up processes by number, to profile them. Each has to be one that can be.
func FindRunning(pids []int) ([]Running, error) {
	var all []Running
	for _, pid := range pids {
		r, err := findOne(pid)
		if err != nil {
			return nil, fmt.Errorf("attaching to process %d: %w", pid, err)
		}
		all = append(all, r)
	}
	return all, nil
}

func findOne(pid int) (Running, error) {
	s, err := StatOf(pid)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return Running{}, hint.New(errors.New("no such process"), "pgrep -a NAME gives numbers; whatif attach --name NAME looks by itself. In a container processes have other numbers than outside of it")
	}
	if err != nil {
		return Running{}, err
	}
	switch leader := leaderOf(pid); {
	case leader != 0 && leader != pid:
		return Running{}, hint.New(fmt.Errorf("it is a thread of process %d", leader), fmt.Sprintf("whatif attach %d profiles all threads of that", leader))
	case pid == os.Getpid():
		return Running{}, hint.New(errors.New("this is whatif itself"), "name the program that is to be profiled")
	case s.IsKernel():
		return Running{}, hint.New(fmt.Errorf("%s is a thread of the kernel", s.Name), "name a program; whatif system profiles all of them")
	case s.Ended():
		return Running{}, hint.New(errors.New("it has ended, and only its number is left"), fmt.Sprintf("its parent, process %d, has not asked yet how it ended", s.Parent))
	}
	if err := mayProfile(pid); err != nil {
		return Running{}, err
	}
	return runningOf(pid, s), nil
}

// leaderOf is the process that a thread belongs to, which /proc has by its number, too.
func leaderOf(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		var leader int
		if n, _ := fmt.Sscanf(line, "Tgid: %d", &leader); n == 1 {
			return leader
		}
	}
	return 0
}

// mayProfile refuses other users' processes, unless whatif is root's: who may slow a
// process down may also end it otherwise. Capabilities that whatif was given are not meant for that.
func mayProfile(pid int) error {
	var st unix.Stat_t
	// The directory of a process that is not to be dumped is root's: then only root may.
	if err := unix.Stat(fmt.Sprintf("/proc/%d", pid), &st); err != nil {
		return err
	}
	if uid := os.Geteuid(); uid != 0 && int(st.Uid) != uid {
		owner := fmt.Sprint(st.Uid)
		if u, err := LookupUser(owner); err == nil {
			owner = u.Name
		}
		return hint.New(fmt.Errorf("it belongs to %s", owner), "run whatif with sudo: root may profile everybody's processes")
	}
	if _, err := Maps(pid); err != nil {
		return hint.New(err, "run whatif with sudo; in a container, with --cap-add SYS_PTRACE")
	}
	return nil
}

// CheckOwn refuses a group of processes of which one may not be profiled.
func CheckOwn(pids []int) error {
	for _, pid := range pids {
		if err := mayProfile(pid); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("process %d: %w", pid, err)
		}
	}
	return nil
}

// argsOf is how a process was called, or its name where it has overwritten that.
func argsOf(pid int, s Stat) []string {
	for place := range placesOf(pid) {
		text, err := os.ReadFile(place + "/cmdline")
		if args := strings.Split(strings.TrimRight(string(text), "\x00"), "\x00"); err == nil && args[0] != "" {
			return args
		}
	}
	return []string{s.Name}
}

// FindNamed finds the processes whose name, program or first argument matches a
// pattern as in a shell.
func FindNamed(glob string) ([]Running, error) {
	if _, err := path.Match(glob, ""); err != nil || glob == "" {
		return nil, hint.New(fmt.Errorf("looking for processes by the name %q: not a pattern", glob), "a pattern is a name in which * stands for anything, ? for a letter")
	}
	pids, err := processes()
	if err != nil {
		return nil, err
	}
	var all []Running
	var others []string
	for _, pid := range pids {
		s, err := StatOf(pid)
		if err != nil || pid == os.Getpid() || s.IsKernel() || s.Ended() {
			continue
		}
		names := namesOf(pid, s)
		if !slices.ContainsFunc(names, func(name string) bool { ok, _ := path.Match(glob, name); return ok }) {
			others = append(others, names...)
			continue
		}
		// Where a name is the question, who may not be profiled is not meant.
		if mayProfile(pid) == nil {
			all = append(all, runningOf(pid, s))
		}
	}
	if len(all) == 0 {
		return nil, hint.New(fmt.Errorf("looking for processes by the name %s: none that whatif may profile has it", glob), nearestName(glob, others))
	}
	return all, nil
}

func namesOf(pid int, s Stat) []string {
	names := []string{s.Name, filepath.Base(argsOf(pid, s)[0])}
	if m, err := Executable(pid); err == nil {
		names = append(names, filepath.Base(m.Path))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// nearestName offers what may have been meant.
func nearestName(glob string, names []string) string {
	word := strings.ToLower(strings.Trim(glob, "*?"))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if oneSlip(glob, name) || len(word) > 2 && strings.Contains(strings.ToLower(name), word) {
			return fmt.Sprintf("did you mean %s? A * stands for anything: --name '%s*'", name, strings.Trim(glob, "*"))
		}
	}
	return "ps -e lists the names of all processes; a * stands for anything"
}

// Descendants are the processes that those given have started, directly or not, and that still are.
func Descendants(of []Running) ([]Running, error) {
	pids, err := processes()
	if err != nil {
		return nil, err
	}
	stats := make(map[int]Stat)
	for _, pid := range pids {
		if s, err := StatOf(pid); err == nil {
			stats[pid] = s
		}
	}
	roots := make(map[int]bool)
	for _, r := range of {
		// Looked at last: who still is the one that is meant was it when the others were read.
		if s, err := StatOf(r.PID); err == nil && s.Start == r.Start && s.Unique == r.Unique {
			roots[r.PID] = true
		}
	}
	var all []Running
	for _, pid := range pids {
		s, known := stats[pid]
		if !known || roots[pid] || s.Ended() || pid == os.Getpid() || !below(pid, roots, stats) || mayProfile(pid) != nil {
			continue
		}
		all = append(all, runningOf(pid, s))
	}
	return all, nil
}

func below(pid int, roots map[int]bool, stats map[int]Stat) bool {
	for range len(stats) { // what is read one after the other may be a circle
		s, known := stats[pid]
		if !known {
			return false
		}
		if roots[s.Parent] {
			return true
		}
		pid = s.Parent
	}
	return false
}

// PreferSelf gives this process precedence over those that it attaches to: beside hundreds of busy
// threads it would take minutes to attach. It is for a whatif that starts no program, which
// would inherit that; and only tried, because not everybody may.
func PreferSelf() {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	const precedence = -10
	// The system call gives 20 less the nice value.
	if has, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err != nil || 20-has <= precedence {
		return
	}
	for _, t := range threads {
		if tid, err := strconv.Atoi(t.Name()); err == nil {
			_ = unix.Setpriority(unix.PRIO_PROCESS, tid, precedence)
		}
	}
}

// Ancestors are this process's parent, its parent, and so on: shell, terminal, session.
func Ancestors() []Running {
	var all []Running
	for pid := os.Getppid(); pid > 0; {
		s, err := StatOf(pid)
		if err != nil {
			break
		}
		all = append(all, runningOf(pid, s))
		pid = s.Parent
	}
	return all
}
