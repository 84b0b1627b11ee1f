// Package outfile opens the files that whatif writes. whatif runs as root in directories of other users, who may make
// the given name lead to another file.
//
// Append opens a file to which lines are added. Replace writes a whole file. Own tells whether a directory is safe from
// other users. All obey these rules:
//
//   - If there is an invoking user (sudo), the kernel checks that user's rights, not root's. A new file belongs to that
//     user from the moment it exists.
//   - The last component of a path is never a symbolic link.
//   - With root's rights, a symbolic link further up is followed only if no users but root and the invoking user can
//     change the link or its directory.
//   - The file is regular, or is /dev/null or /dev/full. With root's rights, it belongs to root or to the invoking
//     user, and has only one name.
//
// whatif also writes into a directory of another user: a new file there overwrites nothing, and an old file has to obey
// the rules above.
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
	"whatif/internal/openfile"
	"whatif/internal/target"
)

const (
	// appended is the mode of a new file to which lines are added. A profile has command lines, which may contain
	// secrets.
	appended = 0o600
	// whole is the mode of a new file that is written as a whole. A report is made to be passed on.
	whole = 0o644
)

// Append opens the file at path for reading, and for writing at its end. It creates a file that does not exist.
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
	for range 100 { // another process may create and remove the file meanwhile, but not for ever
		old, err := u.find(dir, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			fd, err := openfile.At(dir, name, unix.O_RDWR|unix.O_APPEND|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, appended)
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
		defer old.Close()
		return old.Open(unix.O_RDWR|unix.O_APPEND, path)
	}
	return nil, unix.EBUSY
}

// Replace writes content to the file at path. An old file stays as it was unless all of the new one is on the disk. The
// new file has the old one's mode, and its owner if possible.
func Replace(path string, content []byte) error {
	return asUser(func(u user) error { return u.replace(path, content) })
}

// Check returns the error that Replace would return for path, as far as that can be told without writing.
func Check(path string) error {
	return asUser(func(u user) error { return u.check(path) })
}

func (u user) check(path string) error {
	d, err := u.destination(path)
	if err != nil {
		return err
	}
	defer d.close()
	if d.isDevice() {
		return nil
	}
	return unix.Faccessat(d.dir, ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS)
}

// A destination is where a file is to be written as a whole.
type destination struct {
	dir  int
	name string
	old  *openfile.Found // nil: there is no such file yet
	file *os.File        // the old file, open for writing: one that may not be written must not be replaced, either
}

func (u user) destination(path string) (d *destination, err error) {
	d = &destination{}
	if d.dir, d.name, err = u.parent(path); err != nil {
		return nil, err
	}
	if d.old, err = u.find(d.dir, d.name); err == nil {
		d.file, err = d.old.Open(unix.O_WRONLY, path)
	} else if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

func (d *destination) isDevice() bool { return d.old != nil && isDevice(d.old) }

func (d *destination) close() {
	unix.Close(d.dir)
	if d.old != nil {
		d.old.Close()
	}
	if d.file != nil {
		d.file.Close()
	}
}

func (u user) replace(path string, content []byte) error {
	d, err := u.destination(path)
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer d.close()
	if d.isDevice() {
		_, err := d.file.Write(content)
		return err
	}
	mode := uint32(whole)
	if d.old != nil {
		mode &= d.old.Mode // at no moment may more users read the new file than the old one
	}
	temp := ".whatif-" + strconv.FormatUint(rand.Uint64(), 36)
	fd, err := openfile.At(d.dir, temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, mode)
	if err != nil {
		return fmt.Errorf("creating a file beside %s: %w", path, err)
	}
	f := os.NewFile(uintptr(fd), path)
	if _, err = f.Write(content); err == nil && d.old != nil {
		_ = unix.Fchown(fd, int(d.old.Uid), int(d.old.Gid)) // only root can
		err = unix.Fchmod(fd, d.old.Mode&0o777)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = unix.Renameat(d.dir, temp, d.dir, d.name)
	}
	if err != nil {
		_ = unix.Unlinkat(d.dir, temp, 0)
		return err
	}
	syncDirectory(d.dir)
	return nil
}

// Own tells whether only root and the invoking user can change the directory at path, or replace it. If the directory
// does not exist yet, the one above it counts.
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
			above, err := openfile.At(dir, "..", unix.O_PATH|unix.O_DIRECTORY, 0)
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

// asUser calls f with the rights of the invoking user if there is one.
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

// syncDirectory writes the names in dir to the disk. Errors are ignored: dir may be unreadable, and some file systems
// cannot do it.
func syncDirectory(dir int) {
	if fd, err := openfile.At(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY, 0); err == nil {
		_ = unix.Fsync(fd)
		unix.Close(fd)
	}
}
