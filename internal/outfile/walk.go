package outfile

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"whatif/internal/hint"
	"whatif/internal/openfile"
)

// maxLinks is the number of symbolic links that a path may lead through, as in the kernel.
const maxLinks = 40

// user is the user for whom a file is written: the invoking user, or root.
type user struct {
	privileged bool // whatif has root's rights, so it does not trust what other users can change
	uid, gid   uint32
}

func (u user) trusts(uid uint32) bool { return !u.privileged || uid == 0 || uid == u.uid }

// parent opens the directory of the file at path, and returns the last component of path.
func (u user) parent(path string) (dir int, name string, err error) {
	i := strings.LastIndexByte(path, '/') + 1
	switch name = path[i:]; name {
	case "", ".", "..":
		if path == "" {
			return -1, "", unix.ENOENT
		}
		return -1, "", unix.EISDIR
	}
	dir, err = u.walk(path[:i])
	return dir, name, err
}

// nearest opens the directory at path, or the nearest one above it that exists.
func (u user) nearest(path string) (dir int, err error) {
	for {
		dir, err = u.walk(path)
		if above := filepath.Dir(path); errors.Is(err, fs.ErrNotExist) && above != path {
			path = above
			continue
		}
		return dir, err
	}
}

// walk opens the directory at path, one component after the other. So it enters exactly the directories that it has
// checked, even if another user renames and links meanwhile. An empty path is the current directory.
func (u user) walk(path string) (dir int, err error) {
	if dir, err = start(path); err != nil {
		return -1, err
	}
	links := 0
	for todo := strings.Split(path, "/"); len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		if name == "" || name == "." {
			continue
		}
		next, err := openfile.At(dir, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		if errors.Is(err, unix.ENOTDIR) {
			var text string
			if text, err = u.readLink(dir, name); err == nil {
				if links++; links > maxLinks {
					err = unix.ELOOP
				}
			}
			if err == nil {
				todo = append(strings.Split(text, "/"), todo...)
				if !filepath.IsAbs(text) {
					continue
				}
				next, err = start(text)
			}
		}
		unix.Close(dir)
		if err != nil {
			return -1, err
		}
		dir = next
	}
	return dir, nil
}

// start opens the directory at which path begins.
func start(path string) (int, error) {
	begin := "."
	if filepath.IsAbs(path) {
		begin = "/"
	}
	return openfile.At(unix.AT_FDCWD, begin, unix.O_PATH|unix.O_DIRECTORY, 0)
}

// readLink returns the text of a symbolic link in dir, if no other user can change the link.
func (u user) readLink(dir int, name string) (string, error) {
	fd, err := openfile.At(dir, name, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return "", err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFLNK {
		return "", unix.ENOTDIR
	}
	keeps, err := u.keepsEntries(dir)
	if err != nil {
		return "", err
	}
	if !keeps || !u.trusts(st.Uid) {
		return "", hint.New(fmt.Errorf("%s is a symbolic link that another user can change", name),
			"give a path without that link, or choose another file with -o FILE")
	}
	text := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(fd, "", text)
	return string(text[:max(n, 0)]), err
}

// keepsEntries tells whether no other user can replace an entry of dir that belongs to a trusted user.
func (u user) keepsEntries(dir int) (bool, error) {
	own, err := u.owns(dir)
	if own || err != nil {
		return own, err
	}
	var st unix.Stat_t
	err = unix.Fstat(dir, &st)
	return u.trusts(st.Uid) && st.Mode&unix.S_ISVTX != 0, err
}

// owns tells whether no other user can change dir. The user's own group may write to dir, because on many systems each
// user has a group.
func (u user) owns(dir int) (bool, error) {
	var st unix.Stat_t
	if err := unix.Fstat(dir, &st); err != nil {
		return false, err
	}
	group := st.Mode&0o020 != 0 && st.Gid != 0 && st.Gid != u.gid
	return !u.privileged || u.trusts(st.Uid) && !group && st.Mode&0o002 == 0, nil
}

// find finds a file in dir, and refuses one that must not be written.
func (u user) find(dir int, name string) (*openfile.Found, error) {
	f, err := openfile.Find(dir, name)
	if err != nil {
		return nil, err
	}
	if err := u.refuse(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// refuse says why f must not be written; nil: it may.
func (u user) refuse(f *openfile.Found) error {
	const another = "choose another file with -o FILE"
	switch kind := f.Mode & unix.S_IFMT; {
	case kind == unix.S_IFLNK:
		return hint.New(errors.New("it is a symbolic link, and whatif writes through none"),
			"give the path of the file itself with -o FILE")
	case kind == unix.S_IFDIR:
		return hint.New(unix.EISDIR, "give the path of a file with -o FILE")
	case isDevice(f):
		return nil
	case kind != unix.S_IFREG:
		return hint.New(errors.New("it is not a regular file"), another)
	case !u.trusts(f.Uid):
		return hint.New(fmt.Errorf("it belongs to another user (uid %d)", f.Uid), "delete it, or "+another)
	case u.privileged && f.Nlink > 1:
		return hint.New(fmt.Errorf("it has %d names (hard links)", f.Nlink), "delete it, or "+another)
	}
	return nil
}

// isDevice tells whether f is a device that may be written: /dev/null or /dev/full.
func isDevice(f *openfile.Found) bool {
	return f.Mode&unix.S_IFMT == unix.S_IFCHR && (f.Rdev == unix.Mkdev(1, 3) || f.Rdev == unix.Mkdev(1, 7))
}

// same tells whether two directories are the same, as are the root directory and the one above it.
func same(one, other int) (bool, error) {
	var a, b unix.Stat_t
	if err := unix.Fstat(one, &a); err != nil {
		return false, err
	}
	if err := unix.Fstat(other, &b); err != nil {
		return false, err
	}
	return a.Dev == b.Dev && a.Ino == b.Ino, nil
}
