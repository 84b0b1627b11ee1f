package target

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// AsInvokingUser calls f, which opens or creates files, with the rights of the user who called sudo. New files belong
// to that user. Without sudo it just calls f. Only the thread that calls f has these rights, so f must not start
// goroutines.
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

// withRightsOf calls f on a new thread that has a user's rights to files. taking begins the error if that fails.
func withRightsOf(u User, taking string, f func() error) error {
	done := make(chan error)
	go func() {
		// Never unlocked, so that the thread ends with this goroutine, and its rights with it.
		runtime.LockOSThread()
		if err := actAs(u); err != nil {
			done <- fmt.Errorf("%s: %w", taking, err)
			return
		}
		done <- f()
	}()
	return <-done
}

// actAs changes the calling thread's rights to files. With an fsuid other than 0, the kernel also removes the
// capabilities that override file permissions.
func actAs(u User) error {
	groups := append([]uint32{u.GID}, u.Groups...)
	// The wrappers of Go's libraries would change the groups of all threads.
	_, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(groups)), uintptr(unsafe.Pointer(&groups[0])), 0)
	if errno != 0 {
		return errno
	}
	for _, err := range []error{unix.Setfsgid(int(u.GID)), unix.Setfsuid(int(u.UID))} {
		if err != nil {
			return err
		}
	}
	// The kernel reports no error if it refuses. No id is -1, so these calls only read the present ids.
	gid, _ := unix.SetfsgidRetGid(-1)
	uid, _ := unix.SetfsuidRetUid(-1)
	if uint32(gid) != u.GID || uint32(uid) != u.UID {
		return unix.EPERM
	}
	return nil
}

// EnvironmentOf is whatif's own environment, with the variables that name a user changed to u.
func EnvironmentOf(u User) []string { return environmentFor(os.Environ(), &u) }
