// Package openfile opens files whose names strangers chose: names in ELF files, debug information and
// profiles, and those that /proc gives.
//
// Such a name may lead to anything. To open a device can have effects: a watchdog starts, a tape is wound
// back. To open a named pipe may wait. So a name is first looked up without opening what it
// leads to (O_PATH), and only a regular file with contents is opened then: that very file, by its descriptor.
//
// The name is looked up, and the file opened, with the rights of whoever chose the name (Rights): a name in
// a file of bob's leads nowhere that bob could not go.
package openfile

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"whatif/internal/target"
)

// Rights say with whose rights a file is opened.
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

// Own are the rights that whatif has. They are for names that the user gave, or the kernel.
func Own() Rights { return Rights{kind: own} }

// Invoker are those of the user who called sudo, whatif's own outside of it.
func Invoker() Rights { return Rights{kind: invokers} }

// Owner are those of a user, the owner of the file that has the name. A whatif that is not
// root's cannot have other rights than its own. The zero Rights are nobody's.
func Owner(uid uint32) Rights { return Rights{kind: owners, owner: uid} }

// Nobody is the user id that the kernel shows for those that have none.
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

// ErrNotRegular is the reason to open no device, directory, pipe or socket, and no file without contents,
// as those are that the kernel makes up.
var ErrNotRegular = errors.New("not a regular file with contents")

// Regular opens a file to be read. Below root, if that is not empty, symbolic links lead where they lead for a
// process that has that root directory, and never out of it. Links of the kernel's own, such as /proc/PID/root, are
// followed only where the rights are whatif's own and there is no root. The error leaves the path for the caller
// to say.
func Regular(rights Rights, root, path string) (f *os.File, err error) {
	dir := unix.AT_FDCWD
	if root != "" {
		// The way to another's root directory is whatif's own.
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

func regular(rights Rights, dir int, path string) (*os.File, error) {
	found, err := find(rights, dir, path)
	if err != nil {
		return nil, err
	}
	defer unix.Close(found)
	var st unix.Stat_t
	if err := unix.Fstat(found, &st); err != nil {
		return nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size == 0 {
		return nil, ErrNotRegular
	}
	// Not to wait for who has a lease on it.
	fd, err := unix.Open(Path(found), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// find looks a name up without opening what it leads to.
func find(rights Rights, dir int, path string) (fd int, err error) {
	const flags = unix.O_PATH | unix.O_CLOEXEC
	how := unix.OpenHow{Flags: flags, Resolve: unix.RESOLVE_NO_MAGICLINKS}
	switch {
	case dir != unix.AT_FDCWD:
		how.Resolve = unix.RESOLVE_IN_ROOT
	case rights.kind == own:
		return unix.Open(path, flags, 0)
	default:
		// What Bazel has compilers write for the directory that it is called in.
		if rest, ok := strings.CutPrefix(path, "/proc/self/cwd/"); ok {
			path = "./" + rest
		}
	}
	return unix.Openat2(dir, path, &how)
}

// Path is a name of an open file that leads to that very file, for this process.
func Path(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// Real is the path, below root, that path leads to when all symbolic links are followed, as the kernel says it.
func Real(root, path string) (string, error) {
	dir, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(dir)
	found, err := unix.Openat2(dir, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT})
	if err != nil {
		return "", err
	}
	defer unix.Close(found)
	return os.Readlink(Path(found))
}
