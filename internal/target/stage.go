package target

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stageName is the first argument of the stage, the process between fork and the program.
const stageName = "whatif: starting a program"

// stageReady is the first byte that the stage writes: from then on it may be traced.
const stageReady = "r"

// hasMain is set by Main. Without Main a stage would run the whole program again.
var hasMain bool

// Main must be the first call of main in every binary that calls Start: whatif, the accuracy suite, and tests in their
// TestMain. Start makes a child that executes the same binary, the stage. There Main becomes the program, and does not
// return. In every other process it returns at once.
func Main() {
	hasMain = true
	control, ok := stageControl()
	if !ok {
		return
	}
	stage(control)
	// Unlike os.Exit this calls no exit hooks, and writes nothing to the program's stderr.
	syscall.Exit(125)
}

// init keeps a stage's main function on the process's main thread: that thread is traced, so it has to exec. Only
// runtime.LockOSThread in an init function guarantees this.
func init() {
	if _, ok := stageControl(); ok {
		runtime.LockOSThread()
	}
}

// stageControl gives the number of the stage's socket, if this process is a stage.
func stageControl() (control int, ok bool) {
	if len(os.Args) != 2 || os.Args[0] != stageName {
		return 0, false
	}
	control, err := strconv.Atoi(os.Args[1])
	return control, err == nil
}

// A spec tells the stage which program to become, and how.
type spec struct {
	Paths cStrings // candidates, in the order of PATH
	Args  cStrings
	Env   cStrings
	Dir   []byte
	User  *User // nil: no change
	// DropAll clears the inheritable and ambient capabilities. Else only those go that whatif needs. KeepAll, for a
	// program that stays root, keeps all.
	DropAll, KeepAll bool
	Inherit          inheritance
	Place            Place
}

// A failure is the answer of a stage that could not become the program.
type failure struct {
	Step  string
	Path  []byte
	Errno syscall.Errno
}

const (
	stepSpec   = "reading its description"
	stepPlace  = "giving it a network and a disk of its own"
	stepUser   = "changing the user"
	stepCaps   = "dropping capabilities"
	stepLimits = "restoring resource limits"
	stepDir    = "changing the directory"
	stepExec   = "exec"
)

// cStrings are strings without NUL bytes. They are kept as bytes, because JSON would damage strings that are not UTF-8.
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

// stage becomes the program. It returns only if that fails.
func stage(control int) {
	unix.CloseOnExec(control)
	if _, err := unix.Write(control, []byte(stageReady)); err != nil {
		return
	}
	f := becomeProgram(control)
	if answer, err := json.Marshal(f); err == nil {
		_, _ = unix.Write(control, answer) // if this fails whatif is gone
	}
}

func becomeProgram(control int) failure {
	s, err := readSpec(control)
	if err != nil {
		return failure{Step: stepSpec, Errno: errnoOf(err)}
	}
	if err := s.Place.enter(); err != nil {
		return failure{Step: stepPlace, Errno: errnoOf(err)}
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

// enter brings this process there. The network is that of the calling thread: of the stage this is the one that execs.
func (p Place) enter() error {
	if p.Procs != "" {
		if err := os.WriteFile(p.Procs, []byte("0"), 0); err != nil { // 0 is the process that writes
			return err
		}
	}
	if p.Network == "" {
		return nil
	}
	fd, err := unix.Open(p.Network, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Setns(fd, unix.CLONE_NEWNET)
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
	if err := json.Unmarshal(text, s); err != nil { // whatif died before it had written all
		return nil, unix.EPIPE
	}
	return s, nil
}

// become switches the groups, and all three group and user ids, for good.
func become(u User) error {
	if u.UID == noUser || u.GID == noUser { // the program would stay root's
		return unix.EINVAL
	}
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

// needed lists the capabilities that whatif may have been given for its own use.
var needed = []int{
	unix.CAP_BPF, unix.CAP_PERFMON, unix.CAP_SYS_PTRACE, unix.CAP_SYS_ADMIN,
	unix.CAP_SYS_RESOURCE, unix.CAP_SYSLOG, unix.CAP_CHECKPOINT_RESTORE, unix.CAP_DAC_READ_SEARCH,
}

// dropCapabilities takes the needed capabilities, or all, from this thread's inheritable and ambient sets, which can
// survive an exec. The exec drops the permitted set.
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

// sigaction is the kernel's structure for rt_sigaction. Some 64-bit architectures have a restorer in the middle, others
// (arm64) do not. If handler is SIG_DFL or SIG_IGN and the rest is zero, the layouts agree.
type sigaction struct {
	handler, flags, restorer, mask uintptr
}

// restoreSignals gives all signals their default action, as an exec would do, and ignores those again that whatif's
// parent had ignored. Go's runtime handles no signal from here on, so this process must not fault.
func restoreSignals(in inheritance) {
	for sig := 1; sig <= numSignals; sig++ {
		var act sigaction
		if in.Ignored.has(sig) {
			act.handler = 1 // SIG_IGN
		}
		// EINVAL for SIGKILL and SIGSTOP.
		_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION,
			uintptr(sig), uintptr(unsafe.Pointer(&act)), 0, numSignals/8, 0, 0)
	}
	if in.Mask != nil {
		mask := *in.Mask
		_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK,
			unix.SIG_SETMASK, uintptr(unsafe.Pointer(&mask)), 0, numSignals/8, 0, 0)
	}
}

// execFirst executes the first candidate that can be executed, like execvp. If none can, the failure names one that is
// forbidden rather than one that is missing.
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
