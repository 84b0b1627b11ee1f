// Package preload installs libraries that are to be preloaded into a program (LD_PRELOAD): that for COZ's macros, and
// the agent for Java. The libraries themselves are in packages coz and jvm.
//
// A library stays after the run. Processes that outlive the run have its path in LD_PRELOAD, and so have the programs
// that they start later. Without the file the dynamic linker would print an error for each, and another user could
// create a file of that name, with code for all of them. So the directory, and every directory above it, belongs to
// root or to the calling user, and no other user may write there. The file's name has a checksum of the content,
// because another version of whatif may have another library.
package preload

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"whatif/internal/hint"
)

// Install writes a library to a directory from which the program's processes can load it, and returns its path. The
// file's name begins with name. If the right file is already there, it is kept.
func Install(name string, library []byte) (path string, err error) {
	uid := os.Geteuid()
	var errs []error
	for _, dir := range directories(uid, os.Getenv) {
		path, err := install(dir, uid, name, library)
		if err == nil {
			return path, nil
		}
		errs = append(errs, err)
	}
	remedy := "mount a directory of root's at /run/whatif or /var/lib/whatif, without noexec"
	if uid != 0 {
		remedy = "set XDG_CACHE_HOME to a directory that is yours alone, and not mounted noexec"
	}
	return "", hint.New(errors.Join(errs...), remedy)
}

// directories returns the directories that the library may be in, best first. A file in /run lasts
// until the next boot, as the processes that need it do; but Debian mounts /run noexec.
func directories(uid int, getenv func(string) string) (dirs []string) {
	if uid == 0 {
		return []string{"/run/whatif", "/var/lib/whatif"}
	}
	if dir := getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		dirs = append(dirs, filepath.Join(dir, "whatif"))
	} else if dir := getenv("HOME"); filepath.IsAbs(dir) {
		dirs = append(dirs, filepath.Join(dir, ".cache", "whatif"))
	}
	return append(dirs, fmt.Sprintf("/run/user/%d/whatif", uid))
}

func install(dir string, uid int, name string, library []byte) (string, error) {
	// The dynamic linker splits LD_PRELOAD at blanks and colons, and replaces words with a dollar.
	if strings.ContainsAny(dir, " \t\n:$") {
		return "", fmt.Errorf("%s: LD_PRELOAD cannot have such a path", dir)
	}
	mode := os.FileMode(0o755) // the program may be another user's
	if uid != 0 {
		mode = 0o700
	}
	if err := os.MkdirAll(dir, mode); err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(dir) // check and use the links' target
	if err != nil {
		return "", err
	}
	for above := dir; ; above = filepath.Dir(above) {
		if err := unchangeable(above, uid); err != nil {
			return "", err
		}
		if above == "/" {
			break
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm()&mode != mode { // a umask of 077 cuts the mode
		if err := errors.Join(err, os.Chmod(dir, mode)); err != nil {
			return "", err
		}
	}
	var mount unix.Statfs_t
	if err := unix.Statfs(dir, &mount); err != nil || mount.Flags&unix.ST_NOEXEC != 0 {
		return "", errors.Join(err, fmt.Errorf("%s: code there cannot be executed", dir))
	}
	sum := sha256.Sum256(library)
	path := filepath.Join(dir, fmt.Sprintf("%s-%x.so", name, sum[:8]))
	if isInstalled(path, uid, library) {
		return path, nil
	}
	return path, write(path, library)
}

// unchangeable returns an error for a directory in which another user can create or rename files.
func unchangeable(dir string, uid int) error {
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return &fs.PathError{Op: "lstat", Path: dir, Err: err}
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFDIR:
		return fmt.Errorf("%s: not a directory", dir)
	case st.Uid != 0 && int(st.Uid) != uid:
		return fmt.Errorf("%s: it belongs to another user", dir)
	case st.Mode&0o022 != 0:
		return fmt.Errorf("%s: other users may write to it", dir)
	}
	return nil
}

// isInstalled reports whether the library is at the path, unchanged, from an earlier run.
func isInstalled(path string, uid int, library []byte) bool {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || int(st.Uid) != uid || st.Mode&(unix.S_IFMT|0o7777) != unix.S_IFREG|0o644 {
		return false
	}
	text, err := io.ReadAll(io.LimitReader(f, int64(len(library))+1))
	return err == nil && bytes.Equal(text, library)
}

// write writes the library under a temporary name, and renames the complete file: another run may
// look for it at the same time.
func write(path string, library []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".libwhatif-")
	if err != nil {
		return err
	}
	_, err = f.Write(library)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
