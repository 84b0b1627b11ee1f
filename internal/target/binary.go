package target

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"whatif/internal/privilege"
)

// Runs tells whether a process executes the file of this path.
func Runs(pid int, path string) bool {
	exe, err := Executable(pid)
	return err == nil && exe.Path == path
}

// Executable describes the file that a process executes, as a mapping without addresses. For a script, that is the
// interpreter. A kernel thread or a zombie has none; the error then wraps os.ErrNotExist.
func Executable(pid int) (m Mapping, err error) {
	privilege.InTarget(func() { m, err = executable(pid) })
	return m, err
}

func executable(pid int) (Mapping, error) {
	var err error
	for place := range placesOf(pid) {
		link := place + "/exe"
		var path string
		if path, err = os.Readlink(link); errors.Is(err, os.ErrPermission) {
			break
		} else if errors.Is(err, unix.ENAMETOOLONG) {
			path = link // its own path is longer than any that can be opened
		} else if err != nil {
			continue
		}
		var st unix.Stat_t
		if err = unix.Stat(link, &st); err != nil {
			continue
		}
		m := Mapping{Dev: st.Dev, Inode: st.Ino}
		m.Path, m.Deleted = strings.CutSuffix(path, deletedMark)
		return m, nil
	}
	return Mapping{}, fmt.Errorf("finding the program of process %d: %w", pid, err)
}

// BinaryOf is a path by which whatif can open the file that pid executes: the ordinary path if that leads to the file,
// else one through /proc.
func BinaryOf(pid int) (string, error) {
	m, err := Executable(pid)
	if err != nil {
		return "", err
	}
	return Reachable(pid, m)
}

// MappedFile is a path by which whatif can open the file that pid has mapped, executable, at an address. If no file is
// mapped there, the error wraps os.ErrNotExist.
func MappedFile(pid int, address uint64) (string, error) {
	m, err := mappingAt(pid, address)
	if err != nil {
		return "", err
	}
	return Reachable(pid, m)
}

// OwnCode gives the file that has the code at pc of this process, and the code's offset in it.
func OwnCode(pc uint64) (path string, offset uint64, err error) {
	m, err := mappingAt(os.Getpid(), pc)
	if err != nil {
		return "", 0, err
	}
	return "/proc/self/exe", pc - m.Start + m.Offset, nil
}

func mappingAt(pid int, address uint64) (Mapping, error) {
	maps, err := Maps(pid)
	if err != nil {
		return Mapping{}, err
	}
	for _, m := range maps {
		if m.Start <= address && address < m.End {
			return m, nil
		}
	}
	return Mapping{}, fmt.Errorf("finding what process %d has at %#x: %w", pid, address, os.ErrNotExist)
}

// Inside converts whatif's path of a file to the process's path. They differ if the process has changed its root
// directory.
func Inside(pid int, path string) string {
	var root string
	privilege.InTarget(func() {
		for place := range placesOf(pid) {
			var err error
			if root, err = os.Readlink(place + "/root"); err == nil {
				break
			}
		}
	})
	if root == "" || root == "/" {
		return path
	}
	if rest, below := strings.CutPrefix(path, root+"/"); below {
		return "/" + rest
	}
	return path
}

// OpenMapped opens the file that pid has mapped, even if that file has been deleted or replaced, or is in another mount
// namespace.
func OpenMapped(pid int, m Mapping) (*os.File, error) {
	path, err := Reachable(pid, m)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening %s of process %d: %w", m.Path, pid, err)
	}
	return f, nil
}

var errOtherFile = errors.New("another file has taken its place")

// Reachable finds a path that leads to the mapped file itself. It tries, in this order:
//
//  1. the path of the mapping, if whatif finds the same file there,
//  2. that path below /proc/PID/root, for another mount namespace or a chroot,
//  3. /proc/PID/exe, if that is the file, even if it is deleted,
//  4. /proc/PID/map_files, which has every file, but needs CAP_CHECKPOINT_RESTORE or root, and is missing for a process
//     whose first thread has ended.
//
// The last three work only while the process lives.
func Reachable(pid int, m Mapping) (path string, err error) {
	privilege.InTarget(func() { path, err = reachable(pid, m) })
	return path, err
}

func reachable(pid int, m Mapping) (string, error) {
	why := error(errOtherFile)
	for place := range placesOf(pid) {
		for _, path := range pathsTo(place, m) {
			same, err := leadsTo(path, m)
			if same {
				return path, nil
			}
			if err != nil {
				why = err
			}
		}
	}
	return "", fmt.Errorf("opening %s of process %d: %w", m.Path, pid, why)
}

func pathsTo(place string, m Mapping) (paths []string) {
	if !m.Deleted {
		paths = append(paths, m.Path, place+"/root"+m.Path)
	}
	paths = append(paths, place+"/exe")
	if m.End != 0 {
		paths = append(paths, fmt.Sprintf("%s/map_files/%x-%x", place, m.Start, m.End))
	}
	return paths
}

// leadsTo tells whether path names the mapped file. It trusts the path in two cases. On btrfs (subvolumes) stat and
// maps have different device numbers, and overlayfs before Linux 6.8 shows the lower layer's inode in maps.
func leadsTo(path string, m Mapping) (bool, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return false, err
	}
	defer unix.Close(fd)
	return isMapped(fd, m)
}

// IsMapped tells whether an open file is the mapped one, with leadsTo's exceptions. The path that Reachable found may
// have led to another file when it was opened.
func IsMapped(f *os.File, m Mapping) bool {
	same, err := isMapped(int(f.Fd()), m)
	return same && err == nil
}

func isMapped(fd int, m Mapping) (bool, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return false, err
	}
	if st.Ino == m.Inode && st.Dev == m.Dev {
		return true, nil
	}
	var fs unix.Statfs_t
	if m.Deleted || st.Mode&unix.S_IFMT != unix.S_IFREG || unix.Fstatfs(fd, &fs) != nil {
		return false, nil
	}
	return fs.Type == unix.OVERLAYFS_SUPER_MAGIC || fs.Type == unix.BTRFS_SUPER_MAGIC && st.Ino == m.Inode, nil
}
