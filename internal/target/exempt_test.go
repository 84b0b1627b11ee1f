package target

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

func TestExemptKinds(t *testing.T) {
	for _, test := range []struct {
		pid   int
		comm  string
		files []string
		kind  string // "": the process is not exempt
	}{
		{1, "bash", nil, "init"},
		{300, "systemd-logind", nil, "init"},
		{301, "systemd-journal", nil, "init"},
		{302, "systemd", nil, "init"},
		{400, "sshd", nil, "login"},
		{401, "sshd-session", nil, "login"},
		{402, "tmux: server", nil, "login"},
		{403, "tmux: client", nil, "login"},
		{404, "bash", nil, ""},
		{405, "anything", []string{"/etc/passwd", "/dev/ptmx"}, "login"},
		{406, "anything", []string{"/dev/pts/ptmx"}, "login"},
		{407, "vim", []string{"/dev/pts/3"}, ""},
		{500, "containerd-shim", nil, "container runtime"},
		{501, "runc:[2:INIT]", nil, ""}, // it becomes the container's own process
		{502, "conmon", nil, "container runtime"},
		{600, "anything", []string{"/dev/watchdog0"}, "watchdog"},
		{601, "watchdog", nil, "watchdog"},
		{602, "pacemaker-based", nil, "cluster"},
		{603, "keepalived", nil, "cluster"},
		{700, "pipewire-pulse", nil, "sound"},
		{800, "qemu-system-x86", nil, "virtual machine"},
		{801, "anything", []string{"anon_inode:kvm-vm"}, "virtual machine"},
		{900, "nginx", []string{"/dev/null", "socket:[1]"}, ""},
		{901, "sshdoor", nil, ""},
	} {
		got := ""
		if k := kindOf(test.pid, test.comm, test.files); k != nil {
			got = k.name
		}
		if got != test.kind {
			t.Errorf("process %d, %s, with %q open: %q, want %q", test.pid, test.comm, test.files, got, test.kind)
		}
	}
}

// The kernel keeps 15 bytes of a name, so a longer name in the list would never match.
func TestExemptNamesFit(t *testing.T) {
	for _, k := range exemptKinds {
		if k.why == "" || len(k.comms) == 0 {
			t.Errorf("%s: no reason, or no names", k.name)
		}
		for _, glob := range k.comms {
			if _, err := filepath.Match(glob, ""); err != nil || len(glob) > 15 && glob[len(glob)-1] != '*' {
				t.Errorf("%s: %q is no name that a process could have: %v", k.name, glob, err)
			}
		}
	}
}

func TestParseExemption(t *testing.T) {
	var e Exemptions
	for _, word := range []string{"12", "nginx", "post*"} {
		if err := e.Parse(word); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(e.PIDs, []int{12}) || !slices.Equal(e.Names, []string{"nginx", "post*"}) {
		t.Errorf("%+v", e)
	}
	for _, word := range []string{"", "0", "-3", "[a"} {
		if err := e.Parse(word); err == nil {
			t.Errorf("%q is taken", word)
		}
	}
}

// sleeper starts a copy of sleep with a given name and an open file.
func sleeper(t *testing.T, name string, open *os.File) int {
	t.Helper()
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	in, err := os.Open(sleep)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	out.Close()
	cmd := exec.Command(path, "1000")
	if open != nil {
		cmd.ExtraFiles = []*os.File{open}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd.Process.Pid
}

// Running processes are found by their names and open files, and those that the user exempts by number or by name. The
// load and its descendants are found only if the user exempts them.
func TestFindExempt(t *testing.T) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminal can be made here: ", err)
	}
	defer master.Close()
	byName, byFile := sleeper(t, "keepalived", nil), sleeper(t, "holder", master)
	byPID, byGlob := sleeper(t, "one", nil), sleeper(t, "whatif-test-x", nil)
	load, plain := sleeper(t, "corosync", nil), sleeper(t, "plain", nil)
	loadToo := sleeper(t, "whatif-test-y", nil)
	var e Exemptions
	for _, word := range []string{strconv.Itoa(byPID), "whatif-test-*", "none-has-this"} {
		if err := e.Parse(word); err != nil {
			t.Fatal(err)
		}
	}
	find := func(load int) map[int]string {
		t.Helper()
		all, missing, err := e.Find(load)
		if err != nil || !slices.Equal(missing, []string{"none-has-this"}) {
			t.Fatal(missing, err)
		}
		kinds := make(map[int]string)
		for _, x := range all {
			kinds[x.PID] = x.Kind
		}
		return kinds
	}
	kinds := find(load)
	for pid, want := range map[int]string{
		byName: "cluster", byFile: "login", byPID: ExemptByUser, byGlob: ExemptByUser, loadToo: ExemptByUser,
		load: "", plain: "", os.Getpid(): "", os.Getppid(): ExemptAncestor,
	} {
		if kinds[pid] != want {
			t.Errorf("process %d (%s): %q, want %q", pid, CommOf(pid), kinds[pid], want)
		}
	}
	if got := find(loadToo)[loadToo]; got != ExemptByUser {
		t.Errorf("the load, which the user exempts: %q", got)
	}
	e.PIDs = append(e.PIDs, 1<<30)
	if err := e.Check(); err == nil {
		t.Error("a process that does not exist is exempt")
	}
}

// The children of a watchdog are exempt, also later ones. Those of a terminal are not.
func TestExemptChildren(t *testing.T) {
	watchdog, login := shellWithChild(t, "watchdog"), shellWithChild(t, "dropbear")
	var e Exemptions
	all, _, err := e.Find(0)
	if err != nil {
		t.Fatal(err)
	}
	before := make(map[int]Exempt)
	for _, x := range all {
		before[x.PID] = x
	}
	for _, test := range []struct {
		parent int
		child  string
	}{{watchdog, "watchdog"}, {login, ""}} {
		child := childOf(t, test.parent)
		if got := before[child].Kind; before[test.parent].Kind == "" || got != test.child {
			t.Errorf("process %d is exempt as %q, its child as %q, want %q",
				test.parent, before[test.parent].Kind, got, test.child)
		}
		x, _ := e.FindLater(child, 0, before)
		if x.Kind != test.child {
			t.Errorf("later its child is exempt as %q, want %q", x.Kind, test.child)
		}
	}
	if x, ok := e.FindLater(watchdog, os.Getpid(), nil); ok {
		t.Errorf("what the load has started is exempt later: %+v", x)
	}
}

// shellWithChild starts a shell with a given name, and waits until it has a child.
func shellWithChild(t *testing.T, name string) int {
	t.Helper()
	// The child has the shell's name until it executes its own program.
	const script = `printf %s "$0" > /proc/$$/comm; sleep 1000 &
		until read comm < /proc/$!/comm && [ "$comm" = sleep ]; do :; done; echo started; wait`
	cmd := exec.Command("sh", "-c", script, name)
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
		cmd.Wait()
	})
	if _, err := io.ReadFull(stdout, make([]byte, len("started"))); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

func childOf(t *testing.T, parent int) int {
	t.Helper()
	pids, err := processes()
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if s, err := StatOf(pid); err == nil && s.Parent == parent {
			return pid
		}
	}
	t.Fatalf("process %d has no child", parent)
	return 0
}
