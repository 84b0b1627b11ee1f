// Package privilege limits what whatif does with capabilities, if a user other than root runs it.
//
// Capabilities come from two sources. An administrator gives them to the process of one user, as ambient capabilities
// (systemd's AmbientCapabilities=); these are meant for that user. Or whatif's file has them (setcap), and everybody
// who may run the file gets them: whatif lends them. A lent capability is only for profiling one's own processes. With
// it, whatif stops no process of another user, sets no probe on code that other users run, and reads no file. None of
// this applies to root.
//
// The normal sequence: Enter is called first, if the command profiles. Where a package has installed a second whatif
// for a group, Enter goes on as that one. Settle is called once, before anything is opened. After it, the capabilities
// that override the protection of files and processes are not in effect. InTarget puts them into effect for a moment,
// to read a process of the target.
package privilege

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"whatif/internal/hint"
)

// A Set is a set of capabilities: bit n stands for capability n.
type Set uint64

func setOf(capabilities ...int) (s Set) {
	for _, c := range capabilities {
		s |= 1 << c
	}
	return s
}

// Has tells whether a capability is in a set.
func (s Set) Has(capability int) bool { return s>>capability&1 != 0 }

// inTarget are the capabilities for InTarget: to read the mappings of a process of the target, to stop it before its
// first instruction, and to open a file that the process has mapped and that has no other path.
var inTarget = setOf(unix.CAP_SYS_PTRACE, unix.CAP_CHECKPOINT_RESTORE)

// always are the capabilities that are always in effect. None gives access to a file or to another user's process.
var always = setOf(unix.CAP_BPF, unix.CAP_PERFMON, unix.CAP_SYS_ADMIN,
	unix.CAP_SYS_RESOURCE, unix.CAP_SYSLOG, unix.CAP_SYS_NICE)

// had are the capabilities that whatif was started with.
var had = sync.OnceValue(func() (h struct{ permitted, ambient Set }) {
	if s, err := get(); err == nil {
		h.permitted = s.permitted
	}
	for c := range 64 {
		if !h.permitted.Has(c) {
			continue
		}
		set, err := unix.PrctlRetInt(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_IS_SET, uintptr(c), 0, 0)
		if err == nil && set == 1 {
			h.ambient |= 1 << c
		}
	}
	return h
})

// Permitted are the capabilities that this process was started with, in effect or not.
func Permitted() Set { return had().permitted }

// Lent tells whether capabilities come from whatif's file. After an exec by a user other than root, only the file's
// capabilities and the ambient ones remain, and there are no ambient ones if the file has any. AT_SECURE is nearly the
// same, but is also set if a security module has changed the domain, as when systemd starts a program under SELinux.
func Lent() bool {
	h := had()
	return os.Geteuid() != 0 && h.permitted&^h.ambient != 0
}

// Remedy is the hint for what a whatif with lent capabilities must not do.
const Remedy = "run whatif with sudo; " +
	"one that has its capabilities from its file (setcap) profiles only your own processes and programs"

// Refuse makes the error for a process or file that is not the user's own, if capabilities are lent.
func Refuse(doing, why string) error {
	return hint.New(fmt.Errorf("%s: %s", doing, why), Remedy)
}

var errCgo = errors.New("this whatif was built with cgo, so it cannot take them from all its threads")

// Settle drops the capabilities that this process does not need now: all of them, unless the command profiles. It
// refuses a set-user-ID install, because root would then use the user's environment.
func Settle(profiles bool) error {
	if os.Geteuid() == 0 {
		if os.Getuid() != 0 {
			return hint.New(errors.New("starting: whatif is installed set-user-ID, which it does not support"),
				"chmod u-s the file, and run it with sudo; or see whatif doctor for capabilities")
		}
		return nil
	}
	had() // reads them before they are changed
	now, err := get()
	if err != nil || now.permitted == 0 {
		return nil // nothing to drop
	}
	next := sets{}
	if profiles {
		next = now
		next.effective = now.permitted & always
		if Lent() {
			next.permitted &= always | inTarget
			next.inheritable = 0
		}
	}
	err = inAllThreads(next)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ENOTSUP) && !Lent():
		return nil // they were given to this user, so dropping them is only a precaution
	case errors.Is(err, unix.ENOTSUP):
		err = errCgo
	}
	return hint.New(fmt.Errorf("dropping capabilities: %w", err),
		"build it with CGO_ENABLED=0, as make does; or take them from the file (setcap -r), and run whatif with sudo")
}

// Copy is the path of a second whatif, which the packages install for the members of the group whatif: the same
// program, with capabilities in its file. Nobody else may execute it, while everybody may execute this one.
func Copy() string {
	own, err := os.Executable()
	if err != nil {
		return ""
	}
	return filepath.Join(filepath.Dir(own), "../libexec/whatif/whatif")
}

// Enter goes on as the second whatif, if this process has no capabilities and its user may execute that one. Otherwise
// Enter returns, and so it does if the kernel refuses, as in a container that lacks the capabilities. The second whatif
// is at another place, and has no second one itself.
func Enter(args, environment []string) {
	path := Copy()
	if path == "" || os.Geteuid() == 0 || os.Getuid() != os.Geteuid() || Permitted() != 0 ||
		unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS) != nil {
		return
	}
	_ = unix.Exec(path, args, environment) // returns only if the kernel refuses, and then this whatif goes on
}

// InTarget calls f on this thread. While f runs, the capabilities for reading a process of the target are in effect.
func InTarget(f func()) {
	if os.Geteuid() == 0 || Permitted()&inTarget == 0 {
		f()
		return
	}
	// Go creates no thread from a locked one, so no other thread inherits the capabilities.
	runtime.LockOSThread()
	before, err := get()
	raised := before
	raised.effective |= raised.permitted & inTarget
	if err != nil || raised == before || set(raised) != nil {
		runtime.UnlockOSThread()
		f()
		return
	}
	defer func() {
		if set(before) == nil {
			runtime.UnlockOSThread()
		} // else the thread stays locked, and ends with its goroutine
	}()
	f()
}

// With calls f on a thread that keeps only these of its capabilities, like a process that was given no others.
// Processes that f starts inherit none.
func With(capabilities []int, f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked, so that the thread ends with its goroutine
		keep := setOf(capabilities...)
		now, err := get()
		if err == nil {
			err = set(sets{effective: now.permitted & keep, permitted: now.permitted & keep})
		}
		if err == nil {
			err = f()
		}
		done <- err
	}()
	return <-done
}

// ignored are the variables that name directories or servers with symbols, debug information or libraries.
var ignored = []string{"NIX_DEBUG_INFO_DIRS", "DEBUGINFOD_URLS", "LD_LIBRARY_PATH"}

// Getenv is the value of a variable that says where symbols, debug information or libraries are. It is empty if
// capabilities are lent.
func Getenv(name string) string {
	if Lent() {
		return ""
	}
	return os.Getenv(name)
}

// Ignored lists the variables that are set, and not used because capabilities are lent.
func Ignored() (names []string) {
	if !Lent() {
		return nil
	}
	for _, name := range ignored {
		if os.Getenv(name) != "" {
			names = append(names, name)
		}
	}
	return names
}

// KernelVersion is a value for the description of programs on probes. The kernel ignores it since Linux 5.0. Without a
// value, the library that loads programs reads the version from this process's memory. It may not read that if
// capabilities come from whatif's file, because the kernel then makes root the owner.
const KernelVersion = 1

// sets are the capability sets of a thread.
type sets struct{ effective, permitted, inheritable Set }

func get() (s sets, err error) {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&hdr, &data[0]); err != nil {
		return s, fmt.Errorf("asking for capabilities: %w", err)
	}
	join := func(low, high uint32) Set { return Set(high)<<32 | Set(low) }
	s.effective = join(data[0].Effective, data[1].Effective)
	s.permitted = join(data[0].Permitted, data[1].Permitted)
	s.inheritable = join(data[0].Inheritable, data[1].Inheritable)
	return s, nil
}

func (s sets) data() *[2]unix.CapUserData {
	half := func(shift int) unix.CapUserData {
		return unix.CapUserData{
			Effective:   uint32(s.effective >> shift),
			Permitted:   uint32(s.permitted >> shift),
			Inheritable: uint32(s.inheritable >> shift),
		}
	}
	return &[2]unix.CapUserData{half(0), half(32)}
}

func set(s sets) error {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	return unix.Capset(&hdr, &s.data()[0])
}

// inAllThreads sets the capabilities of all threads. Go cannot do that in a program with cgo.
func inAllThreads(s sets) error {
	hdr := &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	data := s.data()
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_CAPSET,
		uintptr(unsafe.Pointer(hdr)), uintptr(unsafe.Pointer(data)), 0)
	runtime.KeepAlive(hdr)
	runtime.KeepAlive(data)
	if errno != 0 {
		return errno
	}
	return nil
}
