package target

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"whatif/internal/hint"
)

// An exemptKind is a kind of process that the machine depends on, or the user's access to the machine. `whatif system`
// never stops such a process.
type exemptKind struct {
	name     string
	comms    []string // patterns of the process's name, of which the kernel keeps 15 bytes
	files    []string // patterns of open files; they are read only of processes that run when whatif starts
	children bool     // its descendants are exempt, too
	why      string
}

// exemptKinds lists all kinds. What these processes start is usually the work of users, and is stopped like everything
// else. It is exempt for the kinds whose children do the same job.
var exemptKinds = []exemptKind{
	{
		name:  "init",
		comms: []string{"systemd", "systemd-*", "elogind*", "dbus-daemon", "dbus-broker*"}, // and PID 1
		why:   "logins and services wait for it; journald's and logind's watchdogs would restart them",
	},
	{
		name: "login",
		comms: []string{
			"sshd", "sshd-*", "dropbear", "login", "agetty", "mosh-server", "tmux*", "screen", "SCREEN", "zellij", "dtach",
			"abduco", "gnome-terminal*", "konsole", "xterm", "kitty", "alacritty", "foot", "wezterm*", "Xorg", "Xwayland",
			"gnome-shell", "kwin_*", "sway", "weston",
		},
		files: []string{"/dev/ptmx", "/dev/pts/ptmx"}, // the other end of a terminal
		why:   "it carries a terminal from which whatif, or the machine, is controlled",
	},
	{
		name: "container runtime",
		comms: []string{
			"dockerd", "containerd", "containerd-shim*", "runc", "crun", "crio", "conmon", "podman", "kubelet",
			"cri-dockerd", "lxc-start", "lxcfs", "incusd", "lxd",
		},
		why: "health checks and starts of containers wait for it; the containers' own processes are not exempt",
	},
	{
		name:     "watchdog",
		comms:    []string{"watchdog", "wd_keepalive", "sbd"},
		files:    []string{"/dev/watchdog*"},
		children: true,
		why:      "the machine is reset when it comes too late",
	},
	{
		name:     "cluster",
		comms:    []string{"corosync", "pacemakerd", "pacemaker-*", "keepalived", "heartbeat"},
		children: true,
		why:      "other machines take over, or fence this one, when its heartbeat comes too late",
	},
	{
		name:  "sound",
		comms: []string{"pipewire", "pipewire-*", "wireplumber", "pulseaudio", "jackd", "jackdbus"},
		why:   "the kernel ends it when it uses more CPU time than RLIMIT_RTTIME, and stops count as CPU time",
	},
	{
		name:  "virtual machine",
		comms: []string{"qemu-*", "kvm", "firecracker", "cloud-hyperviso", "VBoxHeadless", "VirtualBoxVM", "vmware-vmx"},
		files: []string{"anon_inode:kvm-vm"},
		why:   "a stop of a virtual CPU stalls whatever another system runs on it",
	},
}

// Kinds of processes that are exempt for other reasons than those of the list.
const (
	ExemptAncestor = "whatif's ancestors"
	ExemptByUser   = "--exempt"
)

// Exempt is a process that `whatif system` must not stop.
type Exempt struct {
	Running
	Kind     string
	Why      string
	Children bool // the processes that it starts are exempt, too
}

// Exemptions are the processes that the user exempts, in addition to those of the list.
type Exemptions struct {
	PIDs  []int
	Names []string // patterns, as for FindNamed
}

// Parse adds a value of --exempt: a number or a pattern.
func (e *Exemptions) Parse(word string) error {
	if pid, err := strconv.ParseInt(word, 10, 32); err == nil {
		if pid <= 0 {
			return fmt.Errorf("%q is not the number of a process", word)
		}
		e.PIDs = append(e.PIDs, int(pid))
		return nil
	}
	if _, err := path.Match(word, ""); err != nil || word == "" {
		return fmt.Errorf("%q is no number of a process, nor a pattern of names", word)
	}
	e.Names = append(e.Names, word)
	return nil
}

// Check returns an error if a process that is exempt by number does not exist.
func (e *Exemptions) Check() error {
	for _, pid := range e.PIDs {
		if s, err := StatOf(pid); err != nil || s.IsKernel() || s.Ended() {
			return hint.New(fmt.Errorf("exempting process %d: no such process", pid),
				"pgrep -a NAME gives numbers; --exempt NAME exempts by name")
		}
	}
	return nil
}

// Find lists the exempt processes. load is the number of the load's process, or 0. The load and its descendants are
// part of the measured work, whatever their names are: only the user can exempt them. missing are the user's patterns
// that match no process yet.
func (e *Exemptions) Find(load int) (all []Exempt, missing []string, err error) {
	pids, err := processes()
	if err != nil {
		return nil, nil, err
	}
	stats := make(map[int]Stat)
	for _, pid := range pids {
		if s, err := StatOf(pid); err == nil && !s.IsKernel() && !s.Ended() {
			stats[pid] = s
		}
	}
	missing = slices.Clone(e.Names)
	found := make(map[int]Exempt)
	for _, r := range Ancestors() {
		found[r.PID] = Exempt{Running: r, Kind: ExemptAncestor, Why: "whatif must stay under control"}
	}
	own := os.Getpid()
	ofLoad := nearestAncestors(func(pid int) bool { return pid == load && load != 0 }, stats)
	under := func(pid int) bool {
		_, below := ofLoad[pid]
		return below || pid == load
	}
	for pid, s := range stats {
		missing = slices.DeleteFunc(missing, func(glob string) bool { return matchesAny([]string{glob}, namesOf(pid, s)) })
		if _, known := found[pid]; known || pid == own {
			continue
		}
		if x, ok := e.of(pid, s, true); ok && (x.Kind == ExemptByUser || !under(pid)) {
			found[pid] = x
		}
	}
	for pid, ancestor := range nearestAncestors(func(pid int) bool { return found[pid].Children }, stats) {
		if _, known := found[pid]; known || pid == own || under(pid) {
			continue
		}
		x := found[ancestor]
		found[pid] = Exempt{Running: runningOf(pid, stats[pid]), Kind: x.Kind, Why: x.Why, Children: true}
	}
	for _, x := range found {
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b Exempt) int { return a.PID - b.PID })
	return all, missing, nil
}

// FindLater tells whether a process is exempt that did not exist at the time of Find, or has run another program since.
// It goes by the process's name and parent. before are the processes that were found so far; they stay exempt.
func (e *Exemptions) FindLater(pid, load int, before map[int]Exempt) (Exempt, bool) {
	s, err := StatOf(pid)
	if err != nil || s.IsKernel() || s.Ended() || pid == os.Getpid() {
		return Exempt{}, false
	}
	if x, ok := e.of(pid, s, false); ok && (x.Kind == ExemptByUser || !descends(s, load)) {
		return x, true
	}
	if x, ok := before[pid]; ok && x.Start == s.Start && x.Unique == s.Unique {
		return x, true
	}
	x, ok := before[s.Parent]
	if !ok || !x.Children {
		return Exempt{}, false
	}
	// The parent's number may meanwhile belong to another process.
	if p, err := StatOf(s.Parent); err != nil || p.Start != x.Start || p.Unique != x.Unique {
		return Exempt{}, false
	}
	x.Running = runningOf(pid, s)
	return x, true
}

// of tells whether one process is exempt by itself. It considers numbers and open files only if first is set: later a
// number may belong to another process, and a new process has not opened its files yet.
func (e *Exemptions) of(pid int, s Stat, first bool) (Exempt, bool) {
	if first && slices.Contains(e.PIDs, pid) || len(e.Names) > 0 && matchesAny(e.Names, namesOf(pid, s)) {
		return Exempt{Running: runningOf(pid, s), Kind: ExemptByUser, Why: "the user said so"}, true
	}
	var open []string
	if first {
		open = filesOf(pid)
	}
	if k := kindOf(pid, s.Name, open); k != nil {
		return Exempt{Running: runningOf(pid, s), Kind: k.name, Why: k.why, Children: k.children}, true
	}
	return Exempt{}, false
}

// kindOf finds a process in the list by its number, name or open files; nil: the list does not have it.
func kindOf(pid int, comm string, files []string) *exemptKind {
	if pid == 1 {
		return &exemptKinds[0]
	}
	for i := range exemptKinds {
		if k := &exemptKinds[i]; matchesAny(k.comms, []string{comm}) || matchesAny(k.files, files) {
			return k
		}
	}
	return nil
}

func matchesAny(globs, words []string) bool {
	for _, glob := range globs {
		for _, word := range words {
			if ok, _ := path.Match(glob, word); ok {
				return true
			}
		}
	}
	return false
}

// filesOf lists the paths of a process's open files, without those that cannot be read.
func filesOf(pid int) []string {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var files []string
	for _, e := range entries {
		if to, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil {
			files = append(files, to)
		}
	}
	return files
}

// descends tells whether a process is a descendant of the load, without a table of all processes.
func descends(s Stat, load int) bool {
	if load == 0 {
		return false
	}
	const deepest = 1000 // processes change between reads, so the parents could form a circle
	for range deepest {
		if s.Parent == load {
			return true
		}
		if s.Parent <= 1 {
			return false
		}
		p, err := StatOf(s.Parent)
		if err != nil {
			return false
		}
		s = p
	}
	return false
}

// CommOf is a process's name in the kernel; "" if the process has ended.
func CommOf(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(text), "\n")
}
