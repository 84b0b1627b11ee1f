package symbol

import (
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
)

// libraryDirs is where the dynamic linker looks when nothing else is said. Its
// cache, /etc/ld.so.cache, adds little to that in practice.
func (b *Binary) libraryDirs() []string {
	triple := map[elf.Machine]string{elf.EM_X86_64: "x86_64-linux-gnu", elf.EM_AARCH64: "aarch64-linux-gnu"}[b.Machine()]
	return []string{
		"/usr/local/lib/" + triple, "/usr/local/lib",
		"/lib/" + triple, "/usr/lib/" + triple, "/lib64", "/usr/lib64", "/lib", "/usr/lib",
	}
}

// Libraries lists the shared libraries that the dynamic linker will load for
// the binary, nearest first, theirs included, before it has: paths, as far as
// they can be found. searchPath is the program's LD_LIBRARY_PATH.
func (b *Binary) Libraries(searchPath string) []string {
	var found []string
	seen := map[string]bool{b.path: true}
	queue := b.needed(searchPath)
	const most = 1000 // of a hostile or circular set
	for len(queue) > 0 && len(seen) < most {
		path := queue[0]
		queue = queue[1:]
		if seen[path] {
			continue
		}
		seen[path] = true
		lib, err := Open(path)
		if err != nil {
			continue
		}
		found = append(found, path)
		queue = append(queue, lib.needed(searchPath)...)
		lib.Close()
	}
	return found
}

// maxDirs bounds the directories that are looked into for each library.
const maxDirs = 64

// needed lists the paths of the libraries that the binary itself names.
func (b *Binary) needed(searchPath string) (paths []string) {
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
