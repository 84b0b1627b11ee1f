// Package coz lets programs with COZ's macros (coz.h, Rust's coz crate) be profiled as
// they are. They look for a function, _coz_get_counter, in the running program; here is
// a tiny library that has it, to be preloaded. Its counters are read as those of
// whatif.h are.
//
// The library is committed, compiled for each architecture, so that building needs
// only Go; go generate makes it anew.
package coz

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

//go:generate clang --target=x86_64-linux-gnu -O2 -Wall -Werror -ffreestanding -fPIC -fvisibility=hidden -fno-stack-protector -fno-ident -nostdlib -shared -fuse-ld=lld -Wl,--build-id=none,-soname,libwhatif-coz.so,-z,noexecstack -s -o coz_amd64.so library/coz.c
//go:generate clang --target=aarch64-linux-gnu -O2 -Wall -Werror -ffreestanding -fPIC -fvisibility=hidden -mno-outline-atomics -fno-stack-protector -fno-ident -nostdlib -shared -fuse-ld=lld -Wl,--build-id=none,-soname,libwhatif-coz.so,-z,noexecstack -s -o coz_arm64.so library/coz.c

// Install puts the library where the program's processes can load it, and gives its path.
//
// It stays there. Processes that outlive the run have the path in LD_PRELOAD, and so has every program that they start
// later: if the file were removed, the dynamic linker would complain on the standard error of each, and whoever made
// a file of that name would have his code in all of them. So no other user can make or change one: the directory
// is root's, or for another user that user's own, and so is every directory above it. The name has a checksum of
// the content: another version of whatif has another file.
func Install() (path string, err error) {
	uid := os.Geteuid()
	var errs []error
	for _, dir := range directories(uid, os.Getenv) {
		path, err := install(dir, uid)
		if err == nil {
			return path, nil
		}
		errs = append(errs, err)
	}
	remedy := "mount a directory of root's at /run/whatif or /var/lib/whatif, without noexec"
	if uid != 0 {
		remedy = "set XDG_CACHE_HOME to a directory that is yours alone, and not mounted noexec"
	}
	return "", hint.New(fmt.Errorf("installing the library for COZ's macros: %w", errors.Join(errs...)), remedy)
}

// directories are those that the library may be in, best first. What is in /run is gone when the processes are that
// could ask for it; Debian mounts it noexec.
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

func install(dir string, uid int) (string, error) {
	// The dynamic linker splits LD_PRELOAD at blanks and colons, and replaces what begins with a dollar.
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
	dir, err := filepath.EvalSymlinks(dir) // what a link leads to is checked, and used
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
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm()&mode != mode { // as a umask of 077 leaves it
		if err := errors.Join(err, os.Chmod(dir, mode)); err != nil {
			return "", err
		}
	}
	var mount unix.Statfs_t
	if err := unix.Statfs(dir, &mount); err != nil || mount.Flags&unix.ST_NOEXEC != 0 {
		return "", errors.Join(err, fmt.Errorf("%s: code there cannot be executed", dir))
	}
	sum := sha256.Sum256(library)
	path := filepath.Join(dir, fmt.Sprintf("libwhatif-coz-%x.so", sum[:8]))
	if isInstalled(path, uid) {
		return path, nil
	}
	return path, write(path)
}

// unchangeable refuses a directory in which another user could make or rename files.
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

// isInstalled tells whether an earlier run has put the library there, and nobody has changed it.
func isInstalled(path string, uid int) bool {
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

// write gives the file its name when it is complete: another run may look for it.
func write(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".libwhatif-coz-")
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
