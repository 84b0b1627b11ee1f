package target

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// AsInvokingUser calls f, which opens or creates files, with the rights of the user who called sudo,
// and simply calls it outside sudo. What f creates belongs to that user. Only f's own thread has them, so f must not
// start goroutines.
func AsInvokingUser(f func() error) error {
	u, other, err := InvokingUser()
	if err != nil {
		return err
	}
	if !other {
		return f()
	}
	return withRightsOf(u, "becoming "+u.Name, f)
}

// withRightsOf calls f on a thread of its own that has a user's rights to files; taking says what failed if it cannot.
func withRightsOf(u User, taking string, f func() error) error {
	done := make(chan error)
	go func() {
		// Never unlocked: the thread ends with the goroutine, and its rights with it.
		runtime.LockOSThread()
		if err := actAs(u); err != nil {
			done <- fmt.Errorf("%s: %w", taking, err)
			return
		}
		done <- f()
	}()
	return <-done
}

// actAs changes the calling thread's rights to files. Without fsuid 0 the kernel takes the
// capabilities that override them away, too.
func actAs(u User) error {
	groups := append([]uint32{u.GID}, u.Groups...)
	if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(groups)), uintptr(unsafe.Pointer(&groups[0])), 0); errno != 0 {
		return errno
	}
	for _, err := range []error{unix.Setfsgid(int(u.GID)), unix.Setfsuid(int(u.UID))} {
		if err != nil {
			return err
		}
	}
	// The kernel says nothing where it refuses. No id is -1, so this only asks.
	gid, _ := unix.SetfsgidRetGid(-1)
	uid, _ := unix.SetfsuidRetUid(-1)
	if uint32(gid) != u.GID || uint32(uid) != u.UID {
		return unix.EPERM
	}
	return nil
}

// EnvironmentOf is whatif's own environment, with what says who it belongs to changed to u.
func EnvironmentOf(u User) []string { return environmentFor(os.Environ(), &u) }
