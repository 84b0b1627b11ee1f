package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/testing/realkernel"
)

// An install is a whatif that a user other than root runs, and the files of that user.
type install struct {
	*testing.T
	dir, whatif string
	env         []string
}

// installed copies whatif into a directory where everybody may run it, with capabilities in the file or another mode.
func installed(t *testing.T, capabilities string, mode os.FileMode) *install {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to give a file capabilities")
	}
	if _, err := exec.LookPath("setcap"); err != nil {
		t.Skip("needs setcap")
	}
	dir, err := os.MkdirTemp("/var/tmp", "whatif-lent") // files that are mounted nosuid lend no capabilities
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	in := &install{T: t, dir: dir, whatif: filepath.Join(dir, "whatif")}
	copyTo(t, realkernel.Whatif(t), in.whatif)
	home := filepath.Join(dir, "home")
	err = errors.Join(os.Chmod(dir, 0o755), os.Mkdir(home, 0o755), os.Chown(home, nobody, nobody),
		os.Chmod(in.whatif, mode))
	if err != nil {
		t.Fatal(err)
	}
	if capabilities != "" {
		if out, err := exec.Command("setcap", capabilities, in.whatif).CombinedOutput(); err != nil {
			t.Skipf("setcap: %v: %s", err, out)
		}
	}
	return in
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// command makes a whatif command that runs as another user, in a directory of that user.
func (in *install) command(args ...string) *exec.Cmd {
	cmd := exec.Command(in.whatif, args...)
	cmd.Dir = filepath.Join(in.dir, "home")
	cmd.Env = append([]string{"PATH=/usr/bin:/bin", "HOME=" + cmd.Dir}, in.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return cmd
}

// says runs a command, checks its exit status, and returns its output.
func (in *install) says(status int, args ...string) string {
	in.Helper()
	release, err := turnFor(append([]string{"whatif"}, args...)...)
	if err != nil {
		in.Fatal(err)
	}
	defer release()
	cmd := in.command(args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 20 * time.Second
	err = cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != status {
		in.Errorf("whatif %s: status %d, want %d: %v\n%s", strings.Join(args, " "), got, status, err, out.Bytes())
	}
	return out.String()
}

func (in *install) refuses(want string, args ...string) {
	in.Helper()
	said := in.says(125, args...)
	if !strings.Contains(said, want) || !strings.Contains(said, "\nwhatif: hint: ") {
		in.Errorf("whatif %s: want %q and a hint:\n%s", strings.Join(args, " "), want, said)
	}
}

const lent = "cap_bpf,cap_perfmon,cap_sys_ptrace=ep"

// TestLentCapabilities checks that a whatif with capabilities from its file profiles the caller's own processes, and
// lends the capabilities for nothing else.
func TestLentCapabilities(t *testing.T) {
	realkernel.NeedBeside(t)
	in := installed(t, lent, 0o755)
	theirs, mine := filepath.Join(in.dir, "theirs"), filepath.Join(in.dir, "home", "mine")
	program := filepath.Join(town(t), "server")
	copyTo(t, program, theirs)
	copyTo(t, program, mine)
	if err := os.Chown(mine, nobody, nobody); err != nil {
		t.Fatal(err)
	}

	if said := in.says(0, "doctor"); strings.Contains(said, "FAIL") || !strings.Contains(said, "from whatif's file") {
		t.Errorf("doctor:\n%s", said)
	}
	in.says(0, "run", "--quiet", "-p", "func:request_done", "-d", "300ms", "--", mine)
	if said := in.says(0, "report", "whatif.profile"); !strings.Contains(said, "request_done") {
		t.Errorf("one's own program: no visits:\n%s", said)
	}
	// With the kernel's own filter whatif counts only the target, and sets no probe.
	in.says(0, "run", "--quiet", "-o", "b.profile", "-p", "syscall:write", "-d", "300ms", "--", theirs)

	in.refuses("profiling the machine: that stops other users' processes, too", "system", "-p", "syscall:read", "-d", "1s")
	in.refuses("theirs: the file is not yours", "run", "--quiet", "-p", "func:request_done", "-d", "1s", "--", theirs)
	in.refuses("theirs: the file is not yours",
		"run", "--quiet", "-p", "func:"+theirs+":request_done", "-d", "1s", "--", mine)
	in.refuses("the file is not yours", "run", "--quiet", "-p", "func:"+in.whatif+":main.main", "-d", "1s", "--", mine)
	in.refuses("the file is not yours", "run", "--quiet", "-p", "func:/proc/self/exe:main.main", "-d", "1s", "--", mine)
	in.refuses("it belongs to root", "attach", "--quiet", "-p", "syscall:write", "-d", "1s", fmt.Sprint(os.Getpid()))
	if libc := libcOf(t); libc != "" {
		in.refuses("the file is not yours", "run", "--quiet", "-p", "func:"+libc+":malloc", "-d", "1s", "--", mine)
	}

	in.env = []string{"NIX_DEBUG_INFO_DIRS=/tmp", "DEBUGINFOD_URLS=http://127.0.0.1:1/", "LD_LIBRARY_PATH=/tmp"}
	said := in.says(0, "run", "--quiet", "-o", "c.profile", "-p", "func:request_done", "-d", "300ms", "--", mine)
	if want := "whatif: NIX_DEBUG_INFO_DIRS, DEBUGINFOD_URLS, LD_LIBRARY_PATH not used, "; strings.Count(said, want) != 1 {
		t.Errorf("want once %q:\n%s", want, said)
	}
}

// TestGroupCopy checks what a package installs: one whatif that everybody may run, and that has no capabilities, and a
// second one with capabilities, which goes on for the group that may run it.
func TestGroupCopy(t *testing.T) {
	realkernel.NeedBeside(t)
	in := installed(t, "", 0o755)
	plain := filepath.Join(in.dir, "bin", "whatif")
	second := filepath.Join(in.dir, "libexec", "whatif", "whatif")
	for _, dir := range []string{filepath.Dir(plain), filepath.Dir(second)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	copyTo(t, in.whatif, second)
	if err := os.Rename(in.whatif, plain); err != nil {
		t.Fatal(err)
	}
	in.whatif = plain
	group := func(id int) { // chown takes the capabilities away
		t.Helper()
		if err := errors.Join(os.Chown(second, 0, id), os.Chmod(second, 0o750)); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("setcap", lent, second).CombinedOutput(); err != nil {
			t.Skipf("setcap: %v: %s", err, out)
		}
	}

	group(0)
	said := in.says(125, "run", "-p", "syscall:write", "-d", "1s", "--", "/bin/true")
	if !strings.Contains(said, "sudo gpasswd -a $USER whatif") {
		t.Errorf("run by a stranger to the group:\n%s", said)
	}
	if said := in.says(125, "doctor"); !strings.Contains(said, "sudo gpasswd -a $USER whatif") {
		t.Errorf("doctor of a stranger to the group:\n%s", said)
	}
	in.says(0, "version")
	group(nobody)
	if said := in.says(0, "doctor"); strings.Contains(said, "FAIL") || !strings.Contains(said, "from whatif's file") {
		t.Errorf("doctor of a member of the group:\n%s", said)
	}
	mine := filepath.Join(in.dir, "home", "mine")
	copyTo(t, filepath.Join(town(t), "server"), mine)
	if err := os.Chown(mine, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	in.says(0, "run", "--quiet", "-p", "func:request_done", "-d", "300ms", "--", mine)
	in.refuses("profiling the machine: that stops other users' processes, too", "system", "-p", "syscall:read", "-d", "1s")
}

func libcOf(t *testing.T) string {
	out, err := exec.Command("sh", "-c", "ldd /bin/sh | sed -n 's/.*libc.so.* => \\([^ ]*\\).*/\\1/p'").Output()
	if err != nil {
		t.Logf("no libc: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// TestLentCgroup checks that whatif refuses a cgroup with processes of other users, and does not profile a part of it.
func TestLentCgroup(t *testing.T) {
	realkernel.NeedBeside(t)
	in := installed(t, lent, 0o755)
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	_, path, ok := strings.Cut(strings.TrimSpace(string(text)), "0::")
	if !ok {
		t.Skip("no cgroup of version 2")
	}
	in.refuses("it belongs to root", "attach", "--quiet", "-p", "syscall:write", "-d", "1s", "--cgroup", path)
}

// TestLentReading checks that no file is read with lent capabilities. The mappings of another user's process, for
// example, would reveal its randomised addresses.
func TestLentReading(t *testing.T) {
	in := installed(t, lent, 0o755)
	maps := fmt.Sprintf("/proc/%d/maps", os.Getpid())
	for _, args := range [][]string{
		{"report", maps}, {"diff", maps, maps}, {"check", "--min-gain", "1", maps},
		{"points", fmt.Sprintf("/proc/%d/exe", os.Getpid())},
	} {
		if said := in.says(125, args...); !strings.Contains(said, "permission denied") {
			t.Errorf("whatif %s:\n%s", strings.Join(args, " "), said)
		}
	}
}

// TestLentThreads checks the capabilities of all threads. A command that does not profile has none. A command that
// profiles has those that override protections only for moments.
func TestLentThreads(t *testing.T) {
	realkernel.NeedBeside(t)
	in := installed(t, lent, 0o755)
	if err := os.WriteFile(filepath.Join(in.dir, "home", "whatif.profile"), []byte(small), 0o644); err != nil {
		t.Fatal(err)
	}
	ptrace := uint64(1) << unix.CAP_SYS_PTRACE
	in.during([]string{"view"}, "said", "the page is at", func(permitted, effective uint64) bool {
		return permitted == 0 && effective == 0
	})
	run := []string{"run", "--quiet", "-o", "run.profile", "-p", "syscall:write", "--", "sleep", "100"}
	in.during(run, "home/run.profile", "\n{\"experiment\"", func(permitted, effective uint64) bool {
		return permitted&ptrace != 0 && effective != 0 && effective&ptrace == 0
	})
}

// during checks the threads of a command as soon as a file has the words, and then ends the command. What the command
// says is in the file "said".
func (in *install) during(args []string, file, words string, right func(permitted, effective uint64) bool) {
	in.Helper()
	release, err := turnFor(append([]string{"whatif"}, args...)...)
	if err != nil {
		in.Fatal(err)
	}
	defer release()
	cmd := in.command(args...)
	said, err := os.Create(filepath.Join(in.dir, "said"))
	if err != nil {
		in.Fatal(err)
	}
	defer said.Close()
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		in.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if text, _ := os.ReadFile(filepath.Join(in.dir, file)); strings.Contains(string(text), words) {
			break
		}
		if time.Now().After(end) {
			in.Errorf("whatif %v: no %q in %s", args, words, file)
			break
		}
	}
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", cmd.Process.Pid))
	if err != nil || len(threads) < 3 {
		in.Errorf("whatif %v: %d threads, %v", args, len(threads), err)
	}
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil {
			continue // ended
		}
		var permitted, effective uint64
		for line := range strings.Lines(string(text)) {
			_, _ = fmt.Sscanf(line, "CapPrm: %x", &permitted)
			_, _ = fmt.Sscanf(line, "CapEff: %x", &effective)
		}
		if !right(permitted, effective) {
			in.Errorf("whatif %v: %s: permitted %x, effective %x", args, thread, permitted, effective)
		}
	}
	_ = cmd.Process.Signal(unix.SIGINT)
	_ = cmd.Wait()
}

// TestSetUserID checks that a set-user-ID install refuses every command.
func TestSetUserID(t *testing.T) {
	in := installed(t, "", 0o755|os.ModeSetuid)
	in.refuses("installed set-user-ID, which it does not support", "run", "--user", "nosuch", "--", "true")
	in.refuses("installed set-user-ID, which it does not support", "report")
}
