package openfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Fresh is a new directory of another user, for files that a process of that user opens by name. Only that user can
// reach what is in it. All is done with the rights of that user. As long as it is in use it is locked, so that
// RemoveStale can tell the directories that a killed process has left.
type Fresh struct {
	Path string // below the root that it was made in

	uid         uint32
	parent, dir *Found
	lock        *os.File // ends with this process
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
		for made := range mostMade {
			err := unix.Mkdirat(dir, name, 0o700)
			if made > 0 && errors.Is(err, unix.EEXIST) {
				time.Sleep(time.Duration(min(made, 10)) * time.Millisecond) // another whatif is about to remove it
				continue
			}
			if err != nil {
				return err
			}
			if f.dir, f.lock, err = lockOwn(uid, dir, name); !errors.Is(err, errGone) {
				return err
			}
		}
		return errGone
	})
	if err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// mostMade is how often a directory is made again that another whatif takes for one that nobody uses. With 10, one of
// some thousand was never made beside three threads that do nothing but look for such directories.
const mostMade = 50

// errGone means that somebody removes a directory, or uses it.
var errGone = errors.New("it is being removed")

// lockOwn finds a directory of user uid and locks it for this process alone.
func lockOwn(uid uint32, parent int, name string) (dir *Found, lock *os.File, err error) {
	// A user may have mounted a file system there that does not answer.
	dir, err = found(unix.Openat2(parent, name, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW,
		Resolve: unix.RESOLVE_NO_XDEV}))
	if errors.Is(err, unix.ENOENT) {
		return nil, nil, errGone
	}
	if err != nil {
		return nil, nil, err
	}
	if dir.Uid != uid || dir.Mode&unix.S_IFMT != unix.S_IFDIR {
		err = ErrPlanted
	} else if lock, err = dir.Open(unix.O_RDONLY|unix.O_DIRECTORY, name); err == nil {
		err = lockNow(lock)
	}
	if err == nil {
		return dir, lock, nil
	}
	dir.Close()
	if lock != nil {
		lock.Close()
	}
	return nil, nil, err
}

// lockNow locks a directory that is still there.
func lockNow(dir *os.File) error {
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return errGone
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(dir.Fd()), &st); err != nil || st.Nlink == 0 {
		return errGone
	}
	return nil
}

// mostLooked bounds how much of a directory RemoveStale looks through.
const mostLooked = 20_000

// RemoveStale removes directories that MakeFresh made for a process that has been killed, with the files of these
// names. They are those of user uid whose paths begin so, and that no process uses. What else is in them stays, and
// they with it. The directory above is resolved as for Regular.
func RemoveStale(uid uint32, root, begin string, files ...string) error {
	return inDirectory(uid, root, begin, func(dir int, begin string) error {
		return removeStale(uid, dir, begin, files)
	})
}

func removeStale(uid uint32, at int, begin string, files []string) error {
	fd, err := At(at, ".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	list := os.NewFile(uintptr(fd), ".")
	defer list.Close()
	names, err := list.Readdirnames(mostLooked)
	for _, name := range names {
		if !strings.HasPrefix(name, begin) {
			continue
		}
		dir, lock, err := lockOwn(uid, at, name)
		if err != nil {
			continue // it is in use, or another user's
		}
		for _, file := range files {
			_ = unix.Unlinkat(dir.fd, file, 0)
		}
		_ = unix.Unlinkat(at, name, unix.AT_REMOVEDIR)
		dir.Close()
		lock.Close()
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return err
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
	if f.lock != nil {
		f.lock.Close()
	}
}
