package target

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stageName is the first argument of the process between fork and the program.
const stageName = "whatif: starting a program"

// stageReady is the first byte the stage says: it may be traced now.
const stageReady = "r"

// The stage is whatif's own binary in the child, which it leaves by becoming the
// program. It lives in init, so that every binary that can call Start (whatif,
// the accuracy suite, tests) has it; init runs on the process's main thread,
// which is the one that is traced and that has to exec.
func init() {
	if len(os.Args) == 2 && os.Args[0] == stageName {
		if control, err := strconv.Atoi(os.Args[1]); err == nil {
			stage(control)
			// Not os.Exit: no exit hooks, nothing on the program's stderr.
			syscall.Exit(125)
		}
	}
}

// A spec tells the stage which program to become and how.
type spec struct {
	Paths cStrings // candidates, in the order of PATH
	Args  cStrings
	Env   cStrings
	Dir   []byte
	User  *User // nil: stay who we are
	// DropAll clears the inheritable and ambient capabilities, else only those
	// that whatif needs go; KeepAll (root stays root) leaves them alone.
	DropAll, KeepAll bool
	Inherit          inheritance
}

// A failure is what the stage answers when it could not become the program.
type failure struct {
	Step  string
	Path  []byte
	Errno syscall.Errno
}

const (
	stepSpec   = "reading its description"
	stepUser   = "changing the user"
	stepCaps   = "dropping capabilities"
	stepLimits = "restoring resource limits"
	stepDir    = "changing the directory"
	stepExec   = "exec"
)

// cStrings are strings without NUL, kept as bytes because JSON would damage what
// is not UTF-8.
type cStrings []byte

func packStrings(list []string) (cStrings, error) {
	var packed cStrings
	for _, s := range list {
		if strings.IndexByte(s, 0) >= 0 {
			return nil, fmt.Errorf("%q contains a NUL byte", s)
		}
		packed = append(append(packed, s...), 0)
	}
	return packed, nil
}

func (c cStrings) unpack() []string {
	if len(c) == 0 {
		return nil
	}
	return strings.Split(string(c[:len(c)-1]), "\x00")
}

// stage returns only when the program could not be started.
func stage(control int) {
	unix.CloseOnExec(control)
	if _, err := unix.Write(control, []byte(stageReady)); err != nil {
		return
	}
	f := becomeProgram(control)
	if answer, err := json.Marshal(f); err == nil {
		_, _ = unix.Write(control, answer) // nobody is left to tell
	}
}

func becomeProgram(control int) failure {
	s, err := readSpec(control)
	if err != nil {
		return failure{Step: stepSpec, Errno: errnoOf(err)}
	}
	if s.User != nil {
		if err := become(*s.User); err != nil {
			return failure{Step: stepUser, Errno: errnoOf(err)}
		}
	}
	if !s.KeepAll {
		if err := dropCapabilities(s.DropAll); err != nil {
			return failure{Step: stepCaps, Errno: errnoOf(err)}
		}
	}
	if err := restoreLimits(s.Inherit.Limits); err != nil {
		return failure{Step: stepLimits, Errno: errnoOf(err)}
	}
	if len(s.Dir) > 0 {
		if err := unix.Chdir(string(s.Dir)); err != nil {
			return failure{Step: stepDir, Path: s.Dir, Errno: errnoOf(err)}
		}
	}
	restoreSignals(s.Inherit)
	return execFirst(s)
}

func readSpec(control int) (*spec, error) {
	var text []byte
	buf := make([]byte, 64<<10)
	for {
		n, err := unix.Read(control, buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if n == 0 {
			break
		}
		text = append(text, buf[:n]...)
	}
	s := new(spec)
	if err := json.Unmarshal(text, s); err != nil { // whatif died half-way
		return nil, unix.EPIPE
	}
	return s, nil
}

// become switches all three ids of each kind for good. The groups are left alone
// where they are what is wanted: setting them needs CAP_SETGID.
func become(u User) error {
	groups := make([]int, len(u.Groups))
	for i, g := range u.Groups {
		groups[i] = int(g)
	}
	if err := syscall.Setgroups(groups); err != nil {
		return err
	}
	if err := syscall.Setresgid(int(u.GID), int(u.GID), int(u.GID)); err != nil {
		return err
	}
	return syscall.Setresuid(int(u.UID), int(u.UID), int(u.UID))
}

// needed are the capabilities that whatif may have been given for its own use.
var needed = []int{
	unix.CAP_BPF, unix.CAP_PERFMON, unix.CAP_SYS_PTRACE, unix.CAP_SYS_ADMIN,
	unix.CAP_SYS_RESOURCE, unix.CAP_SYSLOG, unix.CAP_CHECKPOINT_RESTORE, unix.CAP_DAC_READ_SEARCH,
}

// dropCapabilities takes from this thread's inheritable and ambient sets, the two
// that can survive an exec, what is whatif's own. The permitted set stays: the
// exec drops it.
func dropCapabilities(all bool) error {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&hdr, &data[0]); err != nil {
		return err
	}
	if data[0].Inheritable|data[1].Inheritable == 0 {
		return nil // ambient is a subset of inheritable
	}
	if all {
		data[0].Inheritable, data[1].Inheritable = 0, 0
	} else {
		for _, c := range needed {
			data[c/32].Inheritable &^= 1 << (c % 32)
		}
	}
	return unix.Capset(&hdr, &data[0]) // lowers ambient with it
}

func restoreLimits(limits map[int]unix.Rlimit) error {
	for which, want := range limits {
		var now unix.Rlimit
		if err := unix.Prlimit(0, which, nil, &now); err != nil || now == want {
			continue
		}
		if err := unix.Prlimit(0, which, &want, nil); err != nil {
			return err
		}
	}
	return nil
}

// sigaction is the kernel's, as rt_sigaction takes it on amd64, arm64 and the other
// 64-bit architectures with SA_RESTORER in the middle or without it: with a
// handler of SIG_DFL or SIG_IGN and the rest zero the layouts agree.
type sigaction struct {
	handler, flags, restorer, mask uintptr
}

// restoreSignals takes all signals from Go's runtime: handled ones go to their
// default, as an exec would do; those that whatif's parent had ignored are
// ignored again. From here on this process must not fault.
func restoreSignals(in inheritance) {
	for sig := 1; sig <= numSignals; sig++ {
		var act sigaction
		if in.Ignored.has(sig) {
			act.handler = 1 // SIG_IGN
		}
		// EINVAL for SIGKILL and SIGSTOP.
		_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&act)), 0, numSignals/8, 0, 0)
	}
	if in.Mask != nil {
		mask := *in.Mask
		_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&mask)), 0, numSignals/8, 0, 0)
	}
}

// execFirst does what execvp does: a candidate that is missing or forbidden does
// not hide the next one, but what forbade it is remembered.
func execFirst(s *spec) failure {
	f := failure{Step: stepExec, Errno: unix.ENOENT}
	args, env := s.Args.unpack(), s.Env.unpack()
	for _, path := range s.Paths.unpack() {
		errno := errnoOf(syscall.Exec(path, args, env))
		switch errno {
		case unix.EACCES:
			f.Errno, f.Path = errno, []byte(path)
		case unix.ENOENT, unix.ENOTDIR:
			if f.Path == nil {
				f.Errno, f.Path = errno, []byte(path)
			}
		default:
			return failure{Step: stepExec, Errno: errno, Path: []byte(path)}
		}
	}
	return f
}

func errnoOf(err error) syscall.Errno {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno
	}
	return unix.EIO
}
