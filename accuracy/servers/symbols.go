package main

import (
	"context"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"whatif/internal/hint"
)

// symbols returns the debug information of Debian's memcached, and makes it the first time. No common archive has it.
// But Debian's packages are reproducible, so building the source package makes the file that belongs to the installed
// program. The file's name has the program's build id, which proves it.
func symbols(ctx context.Context, root string, progress io.Writer) (string, error) {
	const program = "/usr/bin/memcached"
	id, err := buildID(program)
	if err != nil {
		return "", fmt.Errorf("finding symbols: %w", err)
	}
	dir := filepath.Join(root, "accuracy", "build", "servers")
	made := filepath.Join(dir, "symbols", "usr", "lib", "debug", ".build-id", id[:2], id[2:]+".debug")
	if _, err := os.Stat(made); err == nil {
		return made, nil
	}
	fmt.Fprintln(progress, "building Debian's source package memcached, for its symbols")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("making symbols: %w", err)
	}
	const build = `rm -rf memcached-*/ memcached-dbgsym_*.deb symbols &&
apt-get source -q memcached && cd memcached-*/ && DEB_BUILD_OPTIONS=nocheck dpkg-buildpackage -b -us -uc -d && cd .. &&
dpkg-deb -x memcached-dbgsym_*.deb symbols`
	cmd := exec.CommandContext(ctx, "sh", "-c", build)
	cmd.Dir = dir
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", hint.New(fmt.Errorf("making symbols: %w\n%s", err, output[max(0, len(output)-1000):]),
			`apt needs the source packages: a line that begins with "deb-src", or "Types: deb-src", in its sources, `+
				`then apt-get update`)
	}
	if _, err := os.Stat(made); err != nil {
		err := fmt.Errorf("making symbols: what was built is another program than %s, whose build id is %s", program, id)
		return "", hint.New(err, "upgrade the compiler and the libraries to those of Debian's own build, "+
			"or install memcached-dbgsym")
	}
	return made, nil
}

// buildID is the build id in an ELF file's note.
func buildID(file string) (string, error) {
	f, err := elf.Open(file)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", file, err)
	}
	defer f.Close()
	const name = ".note.gnu.build-id"
	s := f.Section(name)
	if s == nil {
		return "", fmt.Errorf("reading %s: it has no %s", file, name)
	}
	note, err := s.Data()
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", file, err)
	}
	const header = 16 // three sizes, and "GNU"
	if len(note) < header+2 || !strings.HasPrefix(string(note[12:]), "GNU\x00") {
		return "", fmt.Errorf("reading %s: its %s is damaged", file, name)
	}
	return hex.EncodeToString(note[header:]), nil
}
