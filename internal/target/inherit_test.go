package target

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// compare runs a command by itself and through whatif, and compares the outputs. setup is shell code that changes what
// both inherit.
func compare(t *testing.T, setup, command string) string {
	t.Helper()
	self := whatifPath(t)
	output := func(line string) string {
		cmd := exec.Command("bash", "-c", setup+"\n"+line)
		cmd.Env = append(os.Environ(), "SELF="+self, "LC_ALL=C")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return string(out)
	}
	plain := output(command)
	through := output("$SELF " + command)
	if plain != through {
		t.Errorf("after %q, %s prints\n%s\nthrough whatif\n%s", setup, command, plain, through)
	}
	return through
}

var ignoredMask = regexp.MustCompile(`SigIgn:\t[0-9a-f]{16}`)

// withoutInternal removes the signals 32 and 33 from the ignored ones. Children of glibc's posix_spawn, and so those of
// make, ignore them.
func withoutInternal(status string) string {
	return ignoredMask.ReplaceAllStringFunc(status, func(s string) string {
		mask, err := strconv.ParseUint(s[len("SigIgn:\t"):], 16, 64)
		if err != nil {
			panic(err) // cannot be: the expression has matched
		}
		return fmt.Sprintf("SigIgn:\t%016x", mask&^(1<<31|1<<32))
	})
}

func TestInheritsUnchanged(t *testing.T) {
	for _, test := range []struct{ setup, command, want string }{
		// Signals that Go's runtime does not handle, those that it handles unless they are ignored, and those that it
		// always handles.
		{"trap '' TSTP TTOU", "grep -E ^Sig(Ign|Blk) /proc/self/status", "280000"},
		{"trap '' HUP INT", "grep -E ^Sig(Ign|Blk) /proc/self/status", "0003"},
		{"trap '' PIPE TERM USR1 RTMIN+3 CHLD", "grep -E ^Sig(Ign|Blk) /proc/self/status", "1000015200"},
		{"", "grep -E ^Sig(Ign|Blk|Cgt) /proc/self/status", "SigIgn:\t0000000000000000"},
		{"ulimit -S -n 123; ulimit -c 0; ulimit -s 4096", "cat /proc/self/limits", "123"},
		{"ulimit -n 200; ulimit -l 64", "cat /proc/self/limits", "200"},
		{"exec 7</dev/null 200>/dev/null", "ls /proc/self/fd", "200\n"},
		{"exec 3<&-", "ls /proc/self/fd", "0\n1\n"},
		{"umask 027", "grep ^Umask /proc/self/status", "0027"},
		{"cd /usr", "pwd", "/usr"},
		{"renice -n 5 $$ >/dev/null", "nice", "5"},
		{"", "grep -E ^(TracerPid|NoNewPrivs|Seccomp|Groups|Uid|Gid|CapInh|CapPrm|CapEff|CapBnd|CapAmb): " +
			"/proc/self/status", "TracerPid:\t0"},
		{"", "cat /proc/self/personality", ""},
		{"", "cat /proc/self/oom_score_adj", ""},
		{"", "cat /proc/self/cgroup", ""},
		{"", "env", "LC_ALL=C"},
		{"export ODD=$'\\xff\\x01 x'", "env", "\xff\x01"},
		{"", "printf %s\\n a '' \xfe 'x y'", "\xfe"},
		{"taskset -cp 0 $$ >/dev/null", "grep Cpus_allowed_list /proc/self/status", "\t0\n"},
		{"", "readlink /proc/self/ns/mnt", "mnt:"},
	} {
		// The words are quoted for bash, which would act on ( and |.
		command := strings.NewReplacer("^Sig(Ign|Blk)", "'^Sig(Ign|Blk)'", "^Sig(Ign|Blk|Cgt)", "'^Sig(Ign|Blk|Cgt)'",
			"^(Tracer", "'^(Tracer", "CapAmb):", "CapAmb):'", "%s\\n", "'%s\\n'").Replace(test.command)
		var got string
		switch {
		case strings.Contains(command, "env"):
			got = compare(t, test.setup, `bash -c 'env | grep -v -e ^_='`)
		default:
			got = withoutInternal(compare(t, test.setup, command))
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("after %q, %s prints %q, not containing %q", test.setup, command, got, test.want)
		}
	}
}

// A program is whatif's child, in whatif's session and process group, with whatif's terminal.
func TestSameGroupAndSession(t *testing.T) {
	out, _ := run(t, Config{Args: []string{"cat", "/proc/self/stat"}})
	var pid, ppid, pgrp, session, tty int
	if _, err := fmt.Sscanf(out, "%d (cat) R %d %d %d %d", &pid, &ppid, &pgrp, &session, &tty); err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	sid, _ := unix.Getsid(0)
	if ppid != os.Getpid() || pgrp != unix.Getpgrp() || session != sid {
		t.Errorf("ppid %d, pgrp %d, session %d; whatif %d, %d, %d", ppid, pgrp, session, os.Getpid(), unix.Getpgrp(), sid)
	}
}

func TestBlockedMask(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3")
	}
	code := `import os,signal,sys
signal.pthread_sigmask(signal.SIG_BLOCK,[signal.SIGUSR2,signal.SIGCHLD,signal.SIGTRAP,signal.SIGURG])
os.execv(sys.argv[1],sys.argv[1:])`
	cmd := exec.Command(python, "-c", code, whatifPath(t), "grep", "^SigBlk", "/proc/self/status")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := signalSet(1<<(unix.SIGUSR2-1) | 1<<(unix.SIGCHLD-1) | 1<<(unix.SIGTRAP-1) | 1<<(unix.SIGURG-1))
	if got := strings.TrimSpace(strings.TrimPrefix(string(out), "SigBlk:")); got != fmt.Sprintf("%016x", uint64(want)) {
		t.Errorf("blocked %s, want %016x", got, uint64(want))
	}
}

// The program inherits none of the files that whatif has opened itself, whatever their numbers are.
func TestOwnFilesStayClosed(t *testing.T) {
	for range 40 {
		f, err := os.Open("/dev/null")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
	}
	out, _ := run(t, Config{Args: []string{"sh", "-c", "ls /proc/$$/fd"}})
	var given []string // the files that this test has inherited
	entries, _ := filepath.Glob("/proc/self/fd/*")
	for _, entry := range entries {
		var fd int
		_, _ = fmt.Sscan(filepath.Base(entry), &fd)
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			given = append(given, filepath.Base(entry))
		}
	}
	got := strings.Fields(out)
	if len(got) > len(given) {
		t.Errorf("the program has files %v, whatif was given %v", got, given)
	}
}

// The program does not inherit a limit that whatif lowers after its own start.
func TestLimitsOfTheStart(t *testing.T) {
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &old); err != nil {
		t.Fatal(err)
	}
	low := unix.Rlimit{Cur: old.Cur / 2, Max: old.Max}
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &low); err != nil {
		t.Fatal(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_MEMLOCK, &old)
	out, _ := run(t, Config{Args: []string{"sh", "-c", "ulimit -l"}})
	if old.Cur != unix.RLIM_INFINITY && strings.TrimSpace(out) != fmt.Sprint(old.Cur/1024) {
		t.Errorf("ulimit -l: %s, want %d", out, old.Cur/1024)
	}
}

func TestDirAndEnv(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/here", []byte("#!/bin/sh\necho $0 $ONLY; pwd; env | wc -l\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	out, _ := run(t, Config{Args: []string{"./here"}, Dir: dir, Env: []string{"ONLY=this"}})
	if !strings.HasPrefix(out, "./here this\n"+dir+"\n") {
		t.Errorf("%q", out)
	}
}
