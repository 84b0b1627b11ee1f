// Package privilege is what whatif may do beyond the user who calls it, where that is not root.
//
// Capabilities come in two ways. An administrator gives them to one user's process, as ambient capabilities
// (systemd's AmbientCapabilities=): they are meant for that user. Or they are in whatif's file (setcap), and
// everybody who may run the file has them: whatif lends them. A lent capability is for profiling one's own processes
// and nothing else: no other user's process is stopped, no code that other users run gets a probe, and no file is
// read with it. Root is not concerned by any of this.
//
// Settle is called once, before anything is opened. After it the capabilities that overrule the protection of files
// and processes are not in effect; InTarget has them for a moment, where whatif looks at a process of the target.
package privilege

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"whatif/internal/hint"
)

// A Set is a set of capabilities, by number.
type Set uint64

func setOf(capabilities ...int) (s Set) {
	for _, c := range capabilities {
		s |= 1 << c
	}
	return s
}

// Has tells whether a capability is in a set.
func (s Set) Has(capability int) bool { return s>>capability&1 != 0 }

// inTarget are those that InTarget has: to read what a process of the target has mapped, to hold it before its first
// instruction, and to open a file that it has mapped and nobody else can reach.
var inTarget = setOf(unix.CAP_SYS_PTRACE, unix.CAP_CHECKPOINT_RESTORE)

// always are those that are in effect all the time. None opens a file or another user's process.
var always = setOf(unix.CAP_BPF, unix.CAP_PERFMON, unix.CAP_SYS_ADMIN,
	unix.CAP_SYS_RESOURCE, unix.CAP_SYSLOG, unix.CAP_SYS_NICE)

// had is what whatif had when it was started.
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

// Permitted are the capabilities that this process had when it was started, in effect or not.
func Permitted() Set { return had().permitted }

// Lent tells whether capabilities come from whatif's file. An exec by a user other than root leaves only those of the
// file and the ambient ones; and where the file has any, none are ambient. AT_SECURE says nearly the same, but also
// that a security module has changed the domain, as when systemd starts a program under SELinux.
func Lent() bool {
	h := had()
	return os.Geteuid() != 0 && h.permitted&^h.ambient != 0
}

// Remedy is what to do for what a capability install may not.
const Remedy = "run whatif with sudo; " +
	"one that has its capabilities from its file (setcap) profiles only your own processes and programs"

// Refuse is the error for what is not the caller's own, where capabilities are lent.
func Refuse(doing, why string) error {
	return hint.New(fmt.Errorf("%s: %s", doing, why), Remedy)
}

var errCgo = errors.New("this whatif was built with cgo, so it cannot take them from all its threads")

// Settle takes from this process the capabilities that it does not need now: all of them, unless it is going to
// profile. Set-user-ID installs are refused: the environment of the user would be root's.
func Settle(profiles bool) error {
	if os.Geteuid() == 0 {
		if os.Getuid() != 0 {
			return hint.New(errors.New("starting: whatif is installed set-user-ID, which it does not support"),
				"chmod u-s the file, and run it with sudo; or see whatif doctor for capabilities")
		}
		return nil
	}
	had() // before they are changed
	now, err := get()
	if err != nil || now.permitted == 0 {
		return nil // nothing to take
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
		return nil // they were given to this user, who does without the precaution
	case errors.Is(err, unix.ENOTSUP):
		err = errCgo
	}
	return hint.New(fmt.Errorf("dropping capabilities: %w", err),
		"build it with CGO_ENABLED=0, as make does; or take them from the file (setcap -r), and run whatif with sudo")
}

// InTarget calls f, on this thread, with the capabilities to look at a process of the target in effect.
func InTarget(f func()) {
	if os.Geteuid() == 0 || Permitted()&inTarget == 0 {
		f()
		return
	}
	// No thread is made of a locked one, so no other thread gets its capabilities.
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
		} // otherwise the thread ends with its goroutine
	}()
	f()
}

// With calls f on a thread that has these capabilities and no others, of those that it has: as a process would that
// was given them. Processes that f starts inherit none.
func With(capabilities []int, f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with its goroutine
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

// ignored are the variables that name directories or servers of which whatif takes what code is: symbols, libraries.
var ignored = []string{"NIX_DEBUG_INFO_DIRS", "DEBUGINFOD_URLS", "LD_LIBRARY_PATH"}

// Getenv is the value of a variable that says where symbols, debug information or libraries are: none, where
// capabilities are lent.
func Getenv(name string) string {
	if Lent() {
		return ""
	}
	return os.Getenv(name)
}

// Ignored are those of these variables that are set and not used.
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

// KernelVersion is for the description of programs on probes. The kernel ignores it since Linux 5.0, but where there is
// none the library that loads programs reads the version from this process's memory, and the kernel makes
// that root's file where capabilities come from whatif's file.
const KernelVersion = 1

// sets are those of a thread.
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

// inAllThreads sets those of all threads that there are. Go cannot where it shares them with C.
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
