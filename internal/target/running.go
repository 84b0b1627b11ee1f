package target

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"whatif/internal/hint"
	"whatif/internal/privilege"
)

// A Running is a process that already runs. PID alone may later name another process; together with Start and Unique it
// does not.
type Running struct {
	PID    int
	Start  uint64 // since boot, in 10 ms
	Unique uint64 // see Stat
	Args   []string
}

func runningOf(pid int, s Stat) Running {
	return Running{PID: pid, Start: s.Start, Unique: s.Unique, Args: argsOf(pid, s)}
}

// FindRunning finds processes by number. It is an error if whatif cannot or may not profile one of them.
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
		return Running{}, hint.New(errors.New("no such process"),
			"pgrep -a NAME gives numbers; whatif attach --name NAME looks by itself. "+
				"In a container processes have other numbers than outside of it")
	}
	if err != nil {
		return Running{}, err
	}
	switch leader := leaderOf(pid); {
	case leader != 0 && leader != pid:
		return Running{}, hint.New(fmt.Errorf("it is a thread of process %d", leader),
			fmt.Sprintf("whatif attach %d profiles all threads of that", leader))
	case pid == os.Getpid():
		return Running{}, hint.New(errors.New("this is whatif itself"), "name the program that is to be profiled")
	case s.IsKernel():
		return Running{}, hint.New(fmt.Errorf("%s is a thread of the kernel", s.Name),
			"name a program; whatif system profiles all of them")
	case s.Ended():
		return Running{}, hint.New(errors.New("it has ended, and only its number is left"),
			fmt.Sprintf("its parent, process %d, has not asked yet how it ended", s.Parent))
	}
	if err := mayProfile(pid); err != nil {
		return Running{}, err
	}
	return runningOf(pid, s), nil
}

// leaderOf is the process that a thread belongs to; 0 if that is unknown. /proc has directories for threads, too.
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

// mayProfile refuses processes of other users, unless whatif has root's rights. whatif slows a process down, so it asks
// for the same right as for ending one. Capabilities that whatif was given do not include this right.
func mayProfile(pid int) error {
	var st unix.Stat_t
	// The directory of a process that must not be dumped belongs to root, so only root may profile such a process.
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
	if err := mayReadMaps(pid); err != nil {
		return hint.New(err, "run whatif with sudo; in a container, with --cap-add SYS_PTRACE")
	}
	return nil
}

// CheckOwn returns an error if whatif may not profile one of the processes.
func CheckOwn(pids []int) error {
	for _, pid := range pids {
		if err := mayProfile(pid); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("process %d: %w", pid, err)
		}
	}
	return nil
}

// argsOf is the command line of a process, or its name if the process has overwritten its command line.
func argsOf(pid int, s Stat) []string {
	for place := range placesOf(pid) {
		text, whole, err := Words(place+"/cmdline", mostArgs)
		if args := splitArgs(text, whole); err == nil && args[0] != "" {
			return args
		}
	}
	return []string{s.Name}
}

// All finds all processes, without whatif's own and the kernel's.
func All() (all []Running, err error) {
	err = each(func(pid int, s Stat) { all = append(all, runningOf(pid, s)) })
	return all, err
}

// each calls f with all processes, without whatif's own, the kernel's, and those that have ended.
func each(f func(pid int, s Stat)) error {
	pids, err := processes()
	if err != nil {
		return err
	}
	for _, pid := range pids {
		if s, err := StatOf(pid); err == nil && pid != os.Getpid() && !s.IsKernel() && !s.Ended() {
			f(pid, s)
		}
	}
	return nil
}

// FindNamed finds the processes whose name, program or first argument matches a shell pattern.
func FindNamed(glob string) ([]Running, error) {
	if _, err := path.Match(glob, ""); err != nil || glob == "" {
		return nil, hint.New(fmt.Errorf("looking for processes by the name %q: not a pattern", glob),
			"a pattern is a name in which * stands for anything, ? for a letter")
	}
	var all []Running
	var others []string
	err := each(func(pid int, s Stat) {
		names := namesOf(pid, s)
		if !slices.ContainsFunc(names, func(name string) bool { ok, _ := path.Match(glob, name); return ok }) {
			others = append(others, names...)
			return
		}
		// A name does not select processes that whatif may not profile.
		if mayProfile(pid) == nil {
			all = append(all, runningOf(pid, s))
		}
	})
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		err := fmt.Errorf("looking for processes by the name %s: none that whatif may profile has it", glob)
		return nil, hint.New(err, nearestName(glob, others))
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

// nearestName gives a hint with a similar name.
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

// Descendants lists the processes that the given ones have started, directly or not, and that still run.
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
		// This check comes after all reads: a process that is the same now was the same during the reads.
		if s, err := StatOf(r.PID); err == nil && s.Start == r.Start && s.Unique == r.Unique {
			roots[r.PID] = true
		}
	}
	ancestors := nearestAncestors(func(pid int) bool { return roots[pid] }, stats)
	var all []Running
	for _, pid := range pids {
		s := stats[pid]
		if _, below := ancestors[pid]; !below || roots[pid] || s.Ended() || pid == os.Getpid() || mayProfile(pid) != nil {
			continue
		}
		all = append(all, runningOf(pid, s))
	}
	return all, nil
}

// nearestAncestors gives, for each process with an ancestor among the roots, the nearest of these. The time that this
// takes grows with the number of processes, and not with how deep they are below each other. Processes change between
// reads, so parents may form a circle, and a process without a Stat ends the search.
func nearestAncestors(isRoot func(pid int) bool, stats map[int]Stat) map[int]int {
	children := make(map[int][]int)
	for pid, s := range stats {
		children[s.Parent] = append(children[s.Parent], pid)
	}
	nearest := make(map[int]int)
	var todo []int
	for pid := range children {
		if isRoot(pid) {
			todo = append(todo, pid)
		}
	}
	for len(todo) > 0 {
		pid := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		root := pid
		if !isRoot(pid) {
			root = nearest[pid]
		}
		for _, child := range children[pid] {
			if _, known := nearest[child]; known {
				continue
			}
			nearest[child] = root
			if !isRoot(child) {
				todo = append(todo, child)
			}
		}
	}
	return nearest
}

// PreferSelf raises the priority of whatif above that of the processes to which it attaches. Attaching to hundreds of
// busy threads would otherwise take minutes. A whatif that starts a program must not call it, because the program would
// inherit the priority. Errors are ignored, because not every user may raise a priority.
func PreferSelf() {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	const precedence = -10
	// The system call returns 20 minus the nice value.
	if has, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err != nil || 20-has <= precedence {
		return
	}
	for _, t := range threads {
		if tid, err := strconv.Atoi(t.Name()); err == nil {
			_ = unix.Setpriority(unix.PRIO_PROCESS, tid, precedence)
		}
	}
}

// Ancestors lists whatif's parent, its parent, and so on: shell, terminal, session.
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

// RunningFile lists the processes that whatif may profile and that run the program with this path, or this name in
// PATH.
func RunningFile(program string) (pids []int) {
	found, err := exec.LookPath(program)
	if err != nil {
		return nil
	}
	file, err := os.Stat(found)
	if err != nil {
		return nil
	}
	all, err := processes()
	if err != nil {
		return nil
	}
	for _, pid := range all {
		var runs os.FileInfo
		privilege.InTarget(func() { runs, err = os.Stat(fmt.Sprintf("/proc/%d/exe", pid)) })
		if err == nil && os.SameFile(file, runs) && mayProfile(pid) == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
