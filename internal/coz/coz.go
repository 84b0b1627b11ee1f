// Package coz makes programs with COZ's macros (coz.h, Rust's coz crate) work without COZ. The
// macros look for a function, _coz_get_counter, in the running program. Install writes a small
// library with that function to a safe directory; the caller puts its path into LD_PRELOAD. The
// profiler reads the library's counters like those of whatif.h.
//
// The library (library/coz.c) is committed in compiled form for each architecture, so that
// building whatif needs only Go. go generate compiles it again.
package coz

import (
	"fmt"

	"whatif/internal/preload"
)

//go:generate clang --target=x86_64-linux-gnu -O2 -Wall -Werror -ffreestanding -fPIC -fvisibility=hidden -fno-stack-protector -fno-ident -nostdlib -shared -fuse-ld=lld -Wl,--build-id=none,-soname,libwhatif-coz.so,-z,noexecstack -s -o coz_amd64.so library/coz.c
//go:generate clang --target=aarch64-linux-gnu -O2 -Wall -Werror -ffreestanding -fPIC -fvisibility=hidden -mno-outline-atomics -fno-stack-protector -fno-ident -nostdlib -shared -fuse-ld=lld -Wl,--build-id=none,-soname,libwhatif-coz.so,-z,noexecstack -s -o coz_arm64.so library/coz.c

// Install writes the library to a directory from which the program's processes can load it, and
// returns its path.
func Install() (path string, err error) {
	path, err = preload.Install("libwhatif-coz", library)
	if err != nil {
		err = fmt.Errorf("installing the library for COZ's macros: %w", err)
	}
	return path, err
}
