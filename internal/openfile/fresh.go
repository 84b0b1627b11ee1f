package openfile

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Fresh is a new directory of another user, for files that a process of that user opens by name. Only that user can
// reach what is in it. All is done with the rights of that user.
type Fresh struct {
	Path string // below the root that it was made in

	uid         uint32
	parent, dir *Found
}

// ErrOpenToAll means that other users could exchange what is in a directory.
var ErrOpenToAll = errors.New("other users may remove files from it")

// MakeFresh makes a directory of user uid; its parent is resolved as for Regular. There must be nothing of that name,
// and the parent must be a directory in which other users can rename and remove only their own files. It belongs to
// uid, to root, or to admin, the user who is root in the process's user namespace.
func MakeFresh(uid, admin uint32, root, path string) (f *Fresh, err error) {
	f = &Fresh{Path: path, uid: uid}
	err = inDirectory(uid, root, path, func(dir int, name string) error {
		if f.parent, err = Find(dir, "."); err != nil {
			return err
		}
		if owner := f.parent.Uid; owner != uid && owner != 0 && owner != admin {
			return ErrOpenToAll // whatever its mode
		}
		if f.parent.Mode&unix.S_ISVTX == 0 && f.parent.Mode&0o022 != 0 {
			return ErrOpenToAll
		}
		if err := unix.Mkdirat(dir, name, 0o700); err != nil {
			return err
		}
		if f.dir, err = Find(dir, name); err != nil {
			return err
		}
		if f.dir.Uid != uid || f.dir.Mode&unix.S_IFMT != unix.S_IFDIR {
			return ErrPlanted
		}
		return nil
	})
	if err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// Write makes a file.
func (f *Fresh) Write(name string, contents []byte) error {
	return Owner(f.uid).as(func() error {
		fd, err := At(f.dir.fd, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW, 0o600)
		if err != nil {
			return err
		}
		file := os.NewFile(uintptr(fd), name)
		_, err = file.Write(contents)
		return errors.Join(err, file.Close())
	})
}

// Listen makes a socket for connections with packets, which does not wait.
func (f *Fresh) Listen(name string) (fd int, err error) {
	fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, err
	}
	err = Owner(f.uid).as(func() error {
		return unix.Bind(fd, &unix.SockaddrUnix{Name: filepath.Join(f.dir.Path(), name)})
	})
	if err == nil {
		err = unix.Listen(fd, 2)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// Remove removes the directory, with files of these names. It is called once.
func (f *Fresh) Remove(names ...string) error {
	defer f.close()
	return Owner(f.uid).as(func() error {
		var errs []error
		for _, name := range names {
			if err := unix.Unlinkat(f.dir.fd, name, 0); !errors.Is(err, unix.ENOENT) {
				errs = append(errs, err)
			}
		}
		errs = append(errs, unix.Unlinkat(f.parent.fd, filepath.Base(f.Path), unix.AT_REMOVEDIR))
		return errors.Join(errs...)
	})
}

func (f *Fresh) close() {
	for _, found := range []*Found{f.parent, f.dir} {
		if found != nil {
			found.Close()
		}
	}
}
