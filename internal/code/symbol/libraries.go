package symbol

import (
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
)

// libraryDirs returns the dynamic linker's default directories. Its cache, /etc/ld.so.cache, adds little
// to them in practice.
func (b *Binary) libraryDirs() []string {
	triple := map[elf.Machine]string{elf.EM_X86_64: "x86_64-linux-gnu", elf.EM_AARCH64: "aarch64-linux-gnu"}[b.Machine()]
	return []string{
		"/usr/local/lib/" + triple, "/usr/local/lib",
		"/lib/" + triple, "/usr/lib/" + triple, "/lib64", "/usr/lib64", "/lib", "/usr/lib",
	}
}

// Libraries opens the shared libraries that the dynamic linker will load for the binary, as far as they
// can be found, before the program runs. Libraries of libraries are included; those that the binary
// names come first. searchPath is the program's LD_LIBRARY_PATH. A library is opened with the rights of
// the owner of the file that names it.
func (b *Binary) Libraries(searchPath string) []*Binary {
	const most = 1000 // a hostile set may be endless
	type library struct {
		path string
		from *Binary
	}
	var found []*Binary
	var queue []library
	left := maxTries
	add := func(from *Binary) {
		for _, path := range from.needed(searchPath, &left) {
			queue = append(queue, library{path, from})
		}
	}
	seen := map[string]bool{b.path: true}
	for add(b); len(queue) > 0 && len(seen) < most; {
		next := queue[0]
		queue = queue[1:]
		if seen[next.path] {
			continue
		}
		seen[next.path] = true
		lib, err := openWith(next.from.file.Rights(), next.path)
		if err != nil {
			continue
		}
		found = append(found, lib)
		add(lib)
	}
	return found
}

const (
	maxDirs  = 64      // directories that are searched for a library
	maxTries = 100_000 // paths that are tried for one program
)

// needed returns the paths of the libraries that the binary itself names.
func (b *Binary) needed(searchPath string, left *int) (paths []string) {
	var err error
	defer guard("reading the list of libraries", &err)()
	dirs := filepath.SplitList(searchPath)
	origin := strings.NewReplacer("$ORIGIN", filepath.Dir(b.path), "${ORIGIN}", filepath.Dir(b.path))
	for _, v := range b.dynamicStrings(elf.DT_RPATH, elf.DT_RUNPATH) {
		dirs = append(dirs, filepath.SplitList(origin.Replace(v))...)
	}
	dirs = append(dirs[:min(len(dirs), maxDirs)], b.libraryDirs()...)
	for _, name := range b.dynamicStrings(elf.DT_NEEDED) {
		if strings.Contains(name, "/") {
			paths = append(paths, name)
			continue
		}
		for _, dir := range dirs {
			if *left--; *left < 0 {
				return paths
			}
			path := filepath.Join(dir, name)
			if real, err := filepath.EvalSymlinks(path); err == nil {
				if st, err := os.Stat(real); err == nil && st.Mode().IsRegular() {
					paths = append(paths, real)
					break
				}
			}
		}
	}
	return paths
}
