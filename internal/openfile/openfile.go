// Package openfile opens files by names that other users chose: names in ELF files, debug information and profiles, and
// names from /proc.
//
// Such a name may lead to anything. Opening a device can have effects: a watchdog starts, a tape rewinds. Opening a
// named pipe may wait. So the name is first resolved without opening the file (O_PATH, see Found). Then that file
// itself is opened, by its descriptor, if it is a regular file with contents.
//
// Both steps use the rights of the user who chose the name (Rights): a name in a file of the user bob leads to no file
// that bob could not open.
//
// The normal use is Regular(rights, root, path).
package openfile

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"whatif/internal/target"
)

// Rights are the rights of a user, with which a file is opened. The zero Rights are those of Nobody.
type Rights struct {
	kind  kind
	owner uint32
}

type kind int

const (
	nobodys kind = iota
	own
	invokers
	owners
)

// Own are the rights that whatif has. They are for names from the user's command line or from the kernel.
func Own() Rights { return Rights{kind: own} }

// Invoker are the rights of the user who called sudo, or whatif's own without sudo.
func Invoker() Rights { return Rights{kind: invokers} }

// Owner are the rights of user uid, the owner of the file that has the name. Without root's rights whatif can only use
// its own.
func Owner(uid uint32) Rights { return Rights{kind: owners, owner: uid} }

// Nobody is the user id that the kernel shows for users without an id in this namespace.
const Nobody = 65534

// as calls f with the rights.
func (r Rights) as(f func() error) error {
	switch r.kind {
	case own:
		return f()
	case invokers:
		return target.AsInvokingUser(f)
	case owners:
		return target.AsOwner(r.owner, f)
	}
	return target.AsOwner(Nobody, f)
}

// ErrNotRegular means that the file is a device, directory, pipe or socket, or has no contents. The kernel's virtual
// files have none.
var ErrNotRegular = errors.New("not a regular file with contents")

// Regular opens a file for reading. If root is not empty, path is below root, and symbolic links lead where they lead
// for a process with that root directory; they never lead out of it. The kernel's magic links, such as /proc/PID/root,
// are followed only with whatif's own rights and without root. The error does not name the path.
func Regular(rights Rights, root, path string) (f *os.File, err error) {
	dir := unix.AT_FDCWD
	if root != "" {
		// whatif uses its own rights to reach the root directory of another process.
		if dir, err = unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
			return nil, err
		}
		defer unix.Close(dir)
	}
	err = rights.as(func() (err error) {
		f, err = regular(rights, dir, path)
		return err
	})
	return f, err
}

// ErrDevice means that the file is a device.
var ErrDevice = errors.New("it is a device")

// Named opens, with whatif's own rights, a file that the user has named, for reading. It may be a pipe, but no device
// other than /dev/null. The name may be that of a link which somebody else has made.
func Named(path string) (*os.File, error) {
	file, err := resolve(Own(), unix.AT_FDCWD, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	switch kind := file.Mode & unix.S_IFMT; {
	case kind == unix.S_IFBLK, kind == unix.S_IFCHR && file.Rdev != unix.Mkdev(1, 3):
		return nil, ErrDevice
	}
	return file.Open(unix.O_RDONLY|unix.O_NOCTTY, path)
}

func regular(rights Rights, dir int, path string) (*os.File, error) {
	file, err := resolve(rights, dir, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if file.Mode&unix.S_IFMT != unix.S_IFREG || file.Size == 0 {
		return nil, ErrNotRegular
	}
	// Another process may have a lease on the file. With O_NONBLOCK the kernel does not wait for it.
	return file.Open(unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, path)
}

// resolve finds the file that a name leads to.
func resolve(rights Rights, dir int, path string) (*Found, error) {
	const flags = unix.O_PATH | unix.O_CLOEXEC
	how := unix.OpenHow{Flags: flags, Resolve: unix.RESOLVE_NO_MAGICLINKS}
	switch {
	case dir != unix.AT_FDCWD:
		how.Resolve = unix.RESOLVE_IN_ROOT
	case rights.kind == own:
		return found(unix.Open(path, flags, 0))
	default:
		// Bazel makes compilers write this for the directory in which it is called.
		if rest, ok := strings.CutPrefix(path, "/proc/self/cwd/"); ok {
			path = "./" + rest
		}
	}
	return found(unix.Openat2(dir, path, &how))
}

// Path is a name of an open file that leads to exactly that file, for this process.
func Path(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// Real is the path below root that path leads to when the kernel follows all symbolic links.
func Real(root, path string) (string, error) {
	dir, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(dir)
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT}
	file, err := unix.Openat2(dir, path, &how)
	if err != nil {
		return "", err
	}
	defer unix.Close(file)
	return os.Readlink(Path(file))
}
