package openfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Found is a file that was found and is not opened yet, because opening a device or a named pipe has effects. It must
// be closed.
type Found struct {
	unix.Stat_t
	fd int // O_PATH
}

// Find finds the file with a name in a directory. If the name is a symbolic link, the link itself is found.
func Find(dir int, name string) (*Found, error) {
	return found(At(dir, name, unix.O_PATH|unix.O_NOFOLLOW, 0))
}

// found makes a Found of the result of an open with O_PATH.
func found(fd int, err error) (*Found, error) {
	if err != nil {
		return nil, err
	}
	f := &Found{fd: fd}
	if err := unix.Fstat(fd, &f.Stat_t); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Open opens exactly the file that was found, wherever its name leads now. name is the file's name in errors.
func (f *Found) Open(flags int, name string) (*os.File, error) {
	fd, err := At(unix.AT_FDCWD, Path(f.fd), flags, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// Path is a name that leads to the file itself, as long as f is open.
func (f *Found) Path() string { return Path(f.fd) }

// Close closes f, and no file that Open returned.
func (f *Found) Close() { unix.Close(f.fd) }

// At opens a file with openat(2), close-on-exec, and tries again if a signal interrupts the call.
func At(dir int, name string, flags int, mode uint32) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags|unix.O_CLOEXEC, mode)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}
