package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"whatif/internal/privilege"
)

// neededCapabilities lists the needed capabilities (has), and those that include them (alt).
var neededCapabilities = []struct {
	name     string
	has, alt int
	what     string
}{
	{"cap_bpf", unix.CAP_BPF, unix.CAP_SYS_ADMIN, "load programs into the kernel"},
	{"cap_perfmon", unix.CAP_PERFMON, unix.CAP_SYS_ADMIN, "sample and trace"},
	{"cap_sys_ptrace", unix.CAP_SYS_PTRACE, unix.CAP_SYS_PTRACE, "read other processes' mappings"},
}

// Commands that give whatif its capabilities. A file with capabilities lends them to everybody who may run it, so only
// a group may.
const (
	oneRun = `sudo systemd-run --uid=$USER --pty --same-dir ` +
		`-p AmbientCapabilities="CAP_BPF CAP_PERFMON CAP_SYS_PTRACE" $(command -v whatif) run …`
	setcap = "sudo groupadd -f whatif; f=$(readlink -f $(command -v whatif)); " +
		"sudo chgrp whatif $f && sudo chmod 0750 $f && sudo setcap cap_bpf,cap_perfmon,cap_sys_ptrace=ep $f " +
		"(this lends the capabilities to the group's members, for their own processes only; " +
		"sudo gpasswd -a NAME whatif adds one)"
	// Where a package has installed a second whatif for the group.
	joinGroup = "sudo gpasswd -a $USER whatif, and log in again (whatif then profiles your own processes only)"
)

// capabilityRemedy lists the remedies for missing capabilities, the best one first.
func capabilityRemedy(root fs.FS) string {
	remedy := "run whatif with sudo; or, for one run as yourself: " + oneRun
	if strings.TrimSpace(read(root, "proc/1/comm")) != "systemd" {
		remedy = "run whatif with sudo"
	}
	if _, err := fs.Stat(root, strings.TrimPrefix(privilege.Copy(), "/")); err == nil {
		return remedy + "; or for good: " + joinGroup
	}
	return remedy + "; or for good, for a group that you trust: " + setcap
}

func capabilities(root fs.FS) answer {
	return judgeCapabilities(root, privilege.Permitted(), inUserNamespace(root), os.Geteuid() == 0)
}

func judgeCapabilities(root fs.FS, permitted privilege.Set, namespaced, isRoot bool) answer {
	var missing []string
	for _, c := range neededCapabilities {
		if !permitted.Has(c.has) && !permitted.Has(c.alt) {
			missing = append(missing, fmt.Sprintf("%s (to %s)", c.name, c.what))
		}
	}
	switch {
	case namespaced:
		return bad("run whatif outside the container, or in one without a user namespace (rootless containers have one)",
			"in a user namespace they do not count")
	case len(missing) > 0 && isRoot:
		return bad("start the container with --privileged, or --cap-add BPF --cap-add PERFMON --cap-add SYS_PTRACE",
			"root, but without %s", strings.Join(missing, ", "))
	case len(missing) > 0:
		return bad(capabilityRemedy(root), "missing: %s", strings.Join(missing, ", "))
	case isRoot:
		return good("root")
	case privilege.Lent():
		return good("cap_bpf, cap_perfmon, cap_sys_ptrace, from whatif's file: for your own processes only")
	}
	return good("cap_bpf, cap_perfmon, cap_sys_ptrace")
}

// inUserNamespace tells whether whatif is in a user namespace other than the first, which maps all ids to themselves.
func inUserNamespace(root fs.FS) bool {
	fields := strings.Fields(read(root, "proc/self/uid_map"))
	return len(fields) >= 3 && (fields[0] != "0" || fields[1] != "0" || fields[2] != "4294967295")
}

func lockdown(root fs.FS) answer {
	text := read(root, "sys/kernel/security/lockdown")
	_, mode, _ := strings.Cut(text, "[")
	mode, _, _ = strings.Cut(mode, "]")
	switch mode {
	case "":
		return good("none")
	case "confidentiality":
		return bad("boot without lockdown=confidentiality (integrity is fine), or without secure boot",
			"confidentiality: the kernel lets no program look into it")
	}
	return good("%s", mode)
}

func seccomp(root fs.FS) answer {
	if statusField(root, "Seccomp") != "2" {
		return good("no filter")
	}
	var blocked []string
	refused := func(errno unix.Errno) bool { return errno == unix.EPERM || errno == unix.ENOSYS }
	// These calls have invalid arguments and so no effect. A filter answers before the kernel checks the arguments.
	if _, _, errno := unix.Syscall(unix.SYS_BPF, 1<<16, 0, 0); refused(errno) {
		blocked = append(blocked, "bpf")
	}
	if _, _, errno := unix.Syscall6(unix.SYS_PERF_EVENT_OPEN, 0, 0, 0, 0, 1<<31, 0); refused(errno) {
		blocked = append(blocked, "perf_event_open")
	}
	if len(blocked) > 0 {
		return bad("start the container with --security-opt seccomp=unconfined",
			"a filter blocks %s", strings.Join(blocked, " and "))
	}
	return good("a filter that lets bpf and perf_event_open pass")
}

// memlock checks the limit of locked memory, which includes BPF maps before Linux 5.11.
func memlock(root fs.FS) answer {
	const enough = 64 << 20 // whatif's maps take some 40 MiB
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &l); err != nil {
		return bad("", "asking for the limit: %v", err)
	}
	if atLeast(root, 5, 11) {
		return good("not counted by this kernel")
	}
	if l.Max < enough {
		return bad("ulimit -l unlimited, as root", "%d KiB are too little for this kernel", l.Max>>10)
	}
	return good("%d KiB", l.Max>>10)
}

func ptraceScope(root fs.FS) answer {
	switch text := strings.TrimSpace(read(root, "proc/sys/kernel/yama/ptrace_scope")); text {
	case "3":
		return bad("reboot with kernel.yama.ptrace_scope=2 or less, or use whatif attach",
			"kernel.yama.ptrace_scope is 3: no program can be held before its first instruction")
	case "":
		return good("unrestricted")
	default:
		return good("kernel.yama.ptrace_scope is %s", text)
	}
}

// paranoid checks perf_event_paranoid, which cap_perfmon overrides.
func paranoid(root fs.FS) answer {
	text := strings.TrimSpace(read(root, "proc/sys/kernel/perf_event_paranoid"))
	if capabilities(root).ok {
		return good("%s, overruled by cap_perfmon", text)
	}
	if level, err := strconv.Atoi(text); err == nil && level > -1 {
		return bad("run whatif with sudo", "%s: without cap_perfmon nobody may sample a whole CPU", text)
	}
	return good("%s", text)
}

func kernelSymbols(root fs.FS) answer {
	text := strings.TrimSpace(read(root, "proc/sys/kernel/kptr_restrict"))
	if zeroAddresses(root) {
		return bad("for --kernel, run whatif as root with sysctl kernel.kptr_restrict=1",
			"kptr_restrict is %s and kernel functions have no addresses for this user", text)
	}
	return good("kptr_restrict is %s, and kernel functions have addresses", text)
}

func zeroAddresses(root fs.FS) bool {
	f, err := root.Open("proc/kallsyms")
	if err != nil {
		return true
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, err := f.Read(head)
	if err != nil {
		return true
	}
	// On a kernel with per-CPU symbols the first symbol may really be at 0, so any symbol with an address counts.
	for line := range strings.Lines(string(head[:n])) {
		if address, _, ok := strings.Cut(line, " "); ok && strings.Trim(address, "0") != "" {
			return false
		}
	}
	return true
}

// read returns the text of a small file; "" if the file cannot be read.
func read(root fs.FS, name string) string {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return ""
	}
	return string(text)
}

func statusField(root fs.FS, name string) string {
	for line := range strings.Lines(read(root, "proc/self/status")) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// permission tells whether an error means that the kernel refuses, and not that it lacks the feature.
func permission(err error) bool { return errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) }
