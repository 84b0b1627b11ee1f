package target

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// OpenMapped opens the file behind a mapping of pid: the very file that is mapped,
// also when it has been deleted or replaced, or lies in another mount
// namespace. In this order:
//
//  1. /proc/PID/map_files, which is exact but needs CAP_CHECKPOINT_RESTORE or root,
//  2. /proc/PID/exe, if that is the file: the only way to a deleted one without it,
//  3. the path below /proc/PID/root, if what is there now is the file.
func OpenMapped(pid int, m Mapping) (*os.File, error) {
	f, first := os.Open(fmt.Sprintf("/proc/%d/map_files/%x-%x", pid, m.Start, m.End))
	if first == nil {
		return f, nil
	}
	others := []string{fmt.Sprintf("/proc/%d/exe", pid)}
	if !m.Deleted {
		others = append(others, fmt.Sprintf("/proc/%d/root%s", pid, m.Path))
	}
	var last error
	for _, name := range others {
		f, err := openSame(name, m)
		if err == nil {
			return f, nil
		}
		last = err
	}
	if m.Deleted { // nothing but map_files could have helped
		last = first
	}
	return nil, fmt.Errorf("opening %s of process %d: %w", m.Path, pid, last)
}

var errOtherFile = errors.New("another file has taken its place")

func openSame(name string, m Mapping) (*os.File, error) {
	// The process may have mapped and then replaced its file with a FIFO: do not wait for a writer.
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	if !sameFile(fd, m) {
		unix.Close(fd)
		return nil, errOtherFile
	}
	return os.NewFile(uintptr(fd), m.Path), nil
}

// sameFile compares an open file with a mapping. On btrfs (subvolumes) stat has a
// device number of its own, and overlayfs before Linux 6.8 shows the inode of
// the layer below in maps: there the path has to be trusted.
func sameFile(fd int, m Mapping) bool {
	var st unix.Stat_t
	var fs unix.Statfs_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || unix.Fstatfs(fd, &fs) != nil {
		return false
	}
	switch fs.Type {
	case unix.OVERLAYFS_SUPER_MAGIC:
		return true
	case unix.BTRFS_SUPER_MAGIC:
		return st.Ino == m.Inode
	}
	return st.Ino == m.Inode && st.Dev == m.Dev
}
