// Package outfile opens the files that whatif writes. whatif runs as root in directories of other
// users, so a name that it is given may lead to a file that nobody meant.
//
// Append opens a file to which lines are added. Replace makes a file that is written as a whole.
// Own tells whether a directory is safe from other users. All of them obey these rules:
//
//   - Where an invoking user exists (sudo), the kernel checks that user's rights, not root's. A new
//     file belongs to that user from the moment it exists.
//   - The last component of a path is never a symbolic link.
//   - With root's rights, a symbolic link further up is followed only if neither the link nor its
//     place can be changed by anybody but root and the invoking user.
//   - The file is regular, or /dev/null or /dev/full. With root's rights, it belongs to root or to
//     the invoking user, and has one name only.
//
// A directory of somebody else is no reason to refuse: a new file in it takes nothing from anybody,
// and an old one has to obey the rules above.
package outfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"whatif/internal/hint"
	"whatif/internal/target"
)

const (
	// appended is the mode of a new file to which lines are added: a profile has command lines,
	// and people put secrets there.
	appended = 0o600
	// whole is the mode of a new file that is written as a whole: a report is made to be given away.
	whole = 0o644
)

// Append opens the file at path for reading, and for writing at its end. It is created if it is not there.
func Append(path string) (f *os.File, err error) {
	err = asUser(func(u user) error {
		f, err = u.append(path)
		return err
	})
	return f, err
}

func (u user) append(path string) (*os.File, error) {
	dir, name, err := u.parent(path)
	if err != nil {
		return nil, err
	}
	defer unix.Close(dir)
	for range 100 { // the file may come and go meanwhile, but not for ever
		old, err := u.look(dir, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			fd, err := openat(dir, name, unix.O_RDWR|unix.O_APPEND|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, appended)
			if errors.Is(err, fs.ErrExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			syncDirectory(dir)
			return os.NewFile(uintptr(fd), path), nil
		case err != nil:
			return nil, err
		}
		defer unix.Close(old.fd)
		return old.open(unix.O_RDWR|unix.O_APPEND, path)
	}
	return nil, unix.EBUSY
}

// Replace makes content the file at path. The old file stays as it was unless all of the new one is
// on the disk; its mode stays, and its owner where that is possible.
func Replace(path string, content []byte) error {
	return asUser(func(u user) error { return u.replace(path, content) })
}

func (u user) replace(path string, content []byte) error {
	dir, name, err := u.parent(path)
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(dir)
	mode := uint32(whole)
	old, err := u.look(dir, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return &fs.PathError{Op: "open", Path: path, Err: err}
	default:
		defer unix.Close(old.fd)
		// A file that may not be written is not replaced either.
		f, err := old.open(unix.O_WRONLY, path)
		if err != nil {
			return &fs.PathError{Op: "open", Path: path, Err: err}
		}
		defer f.Close()
		if old.isDevice() {
			_, err := f.Write(content)
			return err
		}
		mode &= old.Mode // what the old one hides is never seen in the new one
	}
	temp := ".whatif-" + strconv.FormatUint(rand.Uint64(), 36)
	fd, err := openat(dir, temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, mode)
	if err != nil {
		return fmt.Errorf("creating a file beside %s: %w", path, err)
	}
	f := os.NewFile(uintptr(fd), path)
	if _, err = f.Write(content); err == nil && old != nil {
		_ = unix.Fchown(fd, int(old.Uid), int(old.Gid)) // only root can
		err = unix.Fchmod(fd, old.Mode&0o777)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = unix.Renameat(dir, temp, dir, name)
	}
	if err != nil {
		_ = unix.Unlinkat(dir, temp, 0)
		return err
	}
	syncDirectory(dir)
	return nil
}

// Own tells whether only root and the invoking user can change the directory at path, or put another in its place. Of
// one that is not there yet, the directory above it counts.
func Own(path string) (own bool) {
	err := asUser(func(u user) error {
		dir, err := u.nearest(path)
		if err != nil {
			return err
		}
		defer func() { unix.Close(dir) }()
		if own, err = u.owns(dir); err != nil || !own {
			return err
		}
		for {
			above, err := openat(dir, "..", unix.O_PATH|unix.O_DIRECTORY, 0)
			if err != nil {
				return err
			}
			top, err := same(dir, above)
			unix.Close(dir)
			dir = above
			if top || err != nil {
				return err
			}
			if own, err = u.keepsEntries(dir); err != nil || !own {
				return err
			}
		}
	})
	return own && err == nil
}

// asUser calls f with the rights of the invoking user where there is one.
func asUser(f func(user) error) error {
	u := user{privileged: os.Geteuid() == 0}
	invoker, other, err := target.InvokingUser()
	if err != nil {
		return err
	}
	if other {
		u.uid, u.gid = invoker.UID, invoker.GID
	}
	err = target.AsInvokingUser(func() error { return f(u) })
	if other && hint.Of(err) == "" && errors.Is(err, fs.ErrPermission) {
		err = hint.New(err, "files are written with the rights of "+invoker.Name+", the user who called sudo: "+
			"choose another file with -o FILE")
	}
	return err
}

// syncDirectory puts the names in dir on the disk, as far as that can be done: dir may not be
// readable, and some file systems know no such thing.
func syncDirectory(dir int) {
	if fd, err := openat(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY, 0); err == nil {
		_ = unix.Fsync(fd)
		unix.Close(fd)
	}
}
