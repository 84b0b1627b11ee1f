package openfile

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// This file has what another user's process leaves, or looks for, in a directory to which everybody may write, under a
// name that everybody can foretell. All is done with the rights of that user. The path is below root, as for Regular;
// links in its directory are followed, and the name itself must not be one.

// ErrPlanted means that somebody else than the owner may have put a file, or a link, where it is.
var ErrPlanted = errors.New("it is a link, or another user's file")

// OwnFile opens a regular file of user uid, with no other name.
func OwnFile(uid uint32, root, path string) (f *os.File, err error) {
	err = inDirectory(uid, root, path, func(dir int, name string) error {
		file, err := owned(uid, dir, name, unix.S_IFREG)
		if err != nil {
			return err
		}
		defer file.Close()
		f, err = file.Open(unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, path)
		return err
	})
	return f, err
}

// OwnSocket finds a socket of user uid.
func OwnSocket(uid uint32, root, path string) (socket *Found, err error) {
	err = inDirectory(uid, root, path, func(dir int, name string) error {
		socket, err = owned(uid, dir, name, unix.S_IFSOCK)
		return err
	})
	return socket, err
}

// MakeOwn makes an empty file of user uid, where there is none.
func MakeOwn(uid uint32, root, path string) error {
	return inDirectory(uid, root, path, func(dir int, name string) error {
		fd, err := At(dir, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW, 0o600)
		if err != nil {
			return err
		}
		return unix.Close(fd)
	})
}

// RemoveOwn removes a regular file of user uid.
func RemoveOwn(uid uint32, root, path string) error {
	return inDirectory(uid, root, path, func(dir int, name string) error {
		file, err := owned(uid, dir, name, unix.S_IFREG)
		if err != nil {
			return err
		}
		file.Close()
		return unix.Unlinkat(dir, name, 0)
	})
}

// inDirectory calls f with the directory of a path and the name in it, with the rights of user uid.
func inDirectory(uid uint32, root, path string, f func(dir int, name string) error) error {
	top, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(top)
	return Owner(uid).as(func() error {
		dir, err := resolve(Owner(uid), top, filepath.Dir(path))
		if err != nil {
			return err
		}
		defer dir.Close()
		return f(dir.fd, filepath.Base(path))
	})
}

// owned finds a file of a type that belongs to user uid.
func owned(uid uint32, dir int, name string, kind uint32) (*Found, error) {
	file, err := Find(dir, name)
	if err != nil {
		return nil, err
	}
	is := file.Mode & unix.S_IFMT
	switch {
	case is == unix.S_IFLNK, file.Uid != uid, file.Nlink > 1:
		err = ErrPlanted
	case is != kind:
		err = ErrNotRegular
	default:
		return file, nil
	}
	file.Close()
	return nil, err
}
