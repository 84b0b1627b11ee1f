package privilege

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"whatif/internal/hint"
)

// The tests run this binary with other capabilities and the argument "say". It then prints what the package reports.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "say" {
		os.Exit(say())
	}
	os.Exit(m.Run())
}

func say() int {
	words := []string{"not lent"}
	if Lent() {
		words[0] = "lent"
	}
	words = append(words, "HOME="+os.Getenv("HOME"), "LD_LIBRARY_PATH="+Getenv("LD_LIBRARY_PATH"),
		strings.Join(Ignored(), "+"))
	if err := Settle(true); err != nil {
		words = append(words, err.Error(), hint.Of(err))
	}
	os.Stdout.WriteString(strings.Join(words, "|") + "\n")
	return 0
}

// ask runs this program as another user, directly or through a command, and returns its output.
func ask(t *testing.T, self string, through ...string) string {
	t.Helper()
	args := append(through, self, "say")
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/x", "LD_LIBRARY_PATH=/y", "DEBUGINFOD_URLS="}
	if len(through) == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestLent checks that capabilities of the file are distinguished from those that an administrator gave to the process.
func TestLent(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to give a file capabilities")
	}
	dir, err := os.MkdirTemp("/var/tmp", "whatif-privilege") // files that are mounted nosuid lend no capabilities
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	self := dir + "/self"
	// Built without cgo, like whatif: with cgo Settle cannot work.
	build := exec.Command("go", "test", "-c", "-o", self, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	const caps = "+bpf,+perfmon,+sys_ptrace"
	ambient := []string{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
		"--inh-caps=" + caps, "--ambient-caps=" + caps}
	const used, unused = "not lent|HOME=/x|LD_LIBRARY_PATH=/y|", "lent|HOME=/x|LD_LIBRARY_PATH=|LD_LIBRARY_PATH"
	if got := ask(t, self); got != used {
		t.Errorf("no capabilities: %s", got)
	}
	if _, err := exec.LookPath("setpriv"); err == nil {
		if got := ask(t, self, ambient...); got != used {
			t.Errorf("ambient capabilities: %s", got)
		}
	}
	for _, of := range []string{"cap_bpf,cap_perfmon,cap_sys_ptrace=ep", "cap_bpf,cap_perfmon,cap_sys_ptrace=p"} {
		if out, err := exec.Command("setcap", of, self).CombinedOutput(); err != nil {
			t.Skipf("setcap: %v: %s", err, out)
		}
		if got := ask(t, self); got != unused {
			t.Errorf("%s in the file: %s", of, got)
		}
		if _, err := exec.LookPath("setpriv"); err == nil {
			// The file's capabilities replace the ambient ones. A process with both has them from the file.
			if got := ask(t, self, ambient...); got != unused {
				t.Errorf("%s in the file, and ambient ones: %s", of, got)
			}
		}
	}
}

// TestWith checks that f has fewer capabilities, and that other threads keep theirs.
func TestWith(t *testing.T) {
	before, err := get()
	if err != nil {
		t.Fatal(err)
	}
	failure := errors.New("failed")
	err = With([]int{unix.CAP_BPF, unix.CAP_PERFMON}, func() error {
		now, err := get()
		want := before.permitted & setOf(unix.CAP_BPF, unix.CAP_PERFMON)
		if err != nil || now != (sets{effective: want, permitted: want}) {
			t.Errorf("%+v, want %x: %v", now, want, err)
		}
		return failure
	})
	if err != failure {
		t.Errorf("%v", err)
	}
	if after, err := get(); err != nil || after != before {
		t.Errorf("%+v, before %+v: %v", after, before, err)
	}
}

func TestSets(t *testing.T) {
	s := sets{setOf(unix.CAP_BPF, unix.CAP_SYS_PTRACE), setOf(unix.CAP_CHECKPOINT_RESTORE), setOf(unix.CAP_CHOWN)}
	d := s.data()
	if d[0].Effective != 1<<unix.CAP_SYS_PTRACE || d[1].Effective != 1<<(unix.CAP_BPF-32) ||
		d[0].Permitted != 0 || d[0].Inheritable != 1 {
		t.Errorf("%+v", d)
	}
	if !s.effective.Has(unix.CAP_BPF) || s.effective.Has(unix.CAP_PERFMON) {
		t.Errorf("%x", s.effective)
	}
	opens := setOf(unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH, unix.CAP_SETUID)
	if always&(inTarget|opens) != 0 {
		t.Error("what opens files is in effect all the time")
	}
}
