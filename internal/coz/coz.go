// Package coz lets programs with COZ's macros (coz.h, Rust's coz crate) be profiled as
// they are. They look for a function, _coz_get_counter, in the running program; here is
// a tiny library that has it, to be preloaded. Its counters are read as those of
// whatif.h are.
//
// The library is committed, compiled for each architecture, so that building needs
// only Go; go generate makes it anew.
package coz

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"whatif/internal/hint"
)

//go:generate clang --target=x86_64-linux-gnu -O2 -Wall -Werror -ffreestanding -fPIC -fvisibility=hidden -fno-stack-protector -fno-ident -nostdlib -shared -fuse-ld=lld -Wl,--build-id=none,-soname,libwhatif-coz.so,-z,noexecstack -s -o coz_amd64.so library/coz.c
//go:generate clang --target=aarch64-linux-gnu -O2 -Wall -Werror -ffreestanding -fPIC -fvisibility=hidden -mno-outline-atomics -fno-stack-protector -fno-ident -nostdlib -shared -fuse-ld=lld -Wl,--build-id=none,-soname,libwhatif-coz.so,-z,noexecstack -s -o coz_arm64.so library/coz.c

// Library is the preloaded library as a file.
type Library struct {
	Path string
	dir  string
}

// Install writes the library where any user can load it.
func Install() (*Library, error) {
	const doing = "installing the library for COZ's macros"
	var errs []error
	for _, parent := range []string{"/run", os.TempDir(), "/var/tmp"} {
		if !executable(parent) {
			errs = append(errs, fmt.Errorf("%s: code there cannot be executed", parent))
			continue
		}
		l, err := installIn(parent)
		if err == nil {
			return l, nil
		}
		errs = append(errs, err)
	}
	return nil, hint.New(fmt.Errorf("%s: %w", doing, errors.Join(errs...)), "set TMPDIR to a directory that is not mounted noexec")
}

// executable tells whether what is in a directory may be mapped as code.
func executable(dir string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(dir, &fs) == nil && fs.Flags&unix.ST_NOEXEC == 0
}

func installIn(parent string) (*Library, error) {
	// A directory of its own, that nobody else can have put anything into.
	dir, err := os.MkdirTemp(parent, "whatif-")
	if err != nil {
		return nil, err
	}
	l := &Library{filepath.Join(dir, "libwhatif-coz.so"), dir}
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(l.Path, library, 0o644), os.Chmod(l.Path, 0o644)); err != nil {
		return nil, errors.Join(err, l.Remove())
	}
	return l, nil
}

// Remove removes the file. Processes that have loaded it keep it.
func (l *Library) Remove() error {
	if l == nil {
		return nil
	}
	if err := os.RemoveAll(l.dir); err != nil {
		return fmt.Errorf("removing the library for COZ's macros: %w", err)
	}
	return nil
}
