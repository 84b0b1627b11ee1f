package debugfile

import (
	"os"
	"path/filepath"

	"whatif/internal/privilege"
)

// globalDirs returns the directories in which distributions install debug files: /usr/lib/debug and, on Nix,
// those in the variable that gdb uses there.
func globalDirs() []string {
	dirs := []string{"/usr/lib/debug"}
	for _, d := range filepath.SplitList(privilege.Getenv("NIX_DEBUG_INFO_DIRS")) {
		if filepath.IsAbs(d) {
			dirs = append(dirs, filepath.Clean(d))
		}
	}
	return dirs
}

func absolute(name string) string {
	if abs, err := filepath.Abs(name); err == nil {
		return abs
	}
	return name
}

func readlink(name string) string {
	to, err := os.Readlink(name)
	if err != nil || !filepath.IsAbs(to) {
		return ""
	}
	return to
}

// byBuildID returns the paths of a file with a build id in the global directories.
func (f *Finder) byBuildID(id string) []string {
	if len(id) < 4 {
		return nil
	}
	var names []string
	for _, dir := range f.Global {
		names = append(names, dir+"/.build-id/"+id[:2]+"/"+id[2:]+".debug")
	}
	return names
}
