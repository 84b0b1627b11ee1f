// Package debugfile finds the files with a binary's debug information outside of the binary: separate debug
// files, dwz's supplementary files, split DWARF, mini debug information, and files from debuginfod.
//
// Call New for a binary, then the method for the kind of file that is needed, and Close at the end. A method
// opens the first file that belongs to the binary, or returns nil. Problems says why files were not used,
// and which are missing.
//
// If a process has another root directory (a container), its files are searched below that first, then
// below whatif's own.
package debugfile

import (
	"path"
	"slices"
	"strings"

	"whatif/internal/code/symbol/object"
	"whatif/internal/openfile"
)

// Finder finds the files of one binary.
type Finder struct {
	binary *object.File
	roots  []string // "" is whatif's own
	dirs   []string // the binary's directories, below any of the roots
	names  []string // the binary's paths, below any of the roots
	fetch  Fetcher

	// Global has the directories in which debug files are installed.
	Global []string

	opened   []*object.File
	split    []*object.File
	problems []string
	pending  bool
}

// Fetcher fetches debug files from elsewhere.
type Fetcher interface {
	// Fetch returns the path of the local file for a build id, "" if there is none. pending says that
	// there may be one later; Fetch does not wait for it.
	Fetch(buildID string) (path string, pending bool)
}

// New returns a finder for an open binary. fetch may be nil.
func New(binary *object.File, fetch Fetcher) *Finder {
	f := &Finder{binary: binary, Global: globalDirs(), fetch: fetch}
	root, inside := locate(binary.Path)
	f.roots = []string{""}
	if root != "" {
		f.roots = []string{root, ""}
	}
	for _, p := range []string{inside, object.Real(root, inside)} {
		if !slices.Contains(f.names, p) {
			f.names = append(f.names, p)
			f.dirs = append(f.dirs, path.Dir(p))
		}
	}
	return f
}

// Inside returns the binary's path below the root directory of its processes, also if whatif opened it
// through /proc.
func (f *Finder) Inside() string { return f.names[0] }

// Problems returns, in a few words each, what was wrong with files that were found, and which files are
// missing.
func (f *Finder) Problems() []string {
	p := slices.Clone(f.problems)
	for _, o := range append(slices.Clone(f.opened), f.split...) {
		if err := o.Problem(); err != nil {
			p = append(p, err.Error())
		}
	}
	return p
}

// maxProblems bounds the problems that are kept: a binary may have thousands of .dwo files, and the first
// few say enough.
const maxProblems = 4

func (f *Finder) problem(text string) {
	if len(f.problems) < maxProblems && !slices.Contains(f.problems, text) {
		f.problems = append(f.problems, text)
	}
}

// Pending reports whether a file was still being fetched when it was needed.
func (f *Finder) Pending() bool { return f.pending }

// Close closes all files.
func (f *Finder) Close() {
	f.Forget()
	for _, o := range f.opened {
		o.Close()
	}
	f.opened = nil
}

// try opens a file and returns it if accept returns "". Otherwise it adds a problem.
func (f *Finder) try(rights openfile.Rights, root, name string, accept func(*object.File) string) *object.File {
	o, err := object.OpenIn(rights, root, name)
	if err != nil {
		return nil // nearly always, there is no such file
	}
	if why := accept(o); why != "" {
		f.problem(path.Join("/", root, name) + " " + why)
		o.Close()
		return nil
	}
	return o
}

// tryAll tries names below all roots, with the rights of the file from which the names come.
func (f *Finder) tryAll(from *object.File, names []string, accept func(*object.File) string) *object.File {
	for _, root := range f.roots {
		for _, name := range names {
			if o := f.try(from.Rights(), root, name, accept); o != nil {
				return o
			}
		}
	}
	return nil
}

// fetched returns the file from the fetcher.
func (f *Finder) fetched(buildID string, accept func(*object.File) string) *object.File {
	if f.fetch == nil || buildID == "" {
		return nil
	}
	name, pending := f.fetch.Fetch(buildID)
	f.pending = f.pending || pending
	if name == "" {
		return nil
	}
	return f.try(openfile.Invoker(), "", name, accept)
}

// keep registers a file, which may be nil, to be closed with the finder.
func (f *Finder) keep(o *object.File) *object.File {
	if o != nil {
		f.opened = append(f.opened, o)
	}
	return o
}

// locate splits a path of whatif's into a process's root directory and the path below it. The root is "" if
// it is whatif's own.
func locate(name string) (root, inside string) {
	rest, ok := strings.CutPrefix(name, "/proc/")
	if !ok {
		return "", absolute(name)
	}
	pid, rest, ok := strings.Cut(rest, "/")
	if !ok || pid == "" || strings.Trim(pid, "0123456789") != "" {
		return "", name
	}
	root = "/proc/" + pid + "/root"
	switch what, below, _ := strings.Cut(rest, "/"); what {
	case "root":
		return root, "/" + below
	case "exe", "map_files":
		// The link has the file's path when it was mapped.
		if was := readlink(name); was != "" {
			return root, strings.TrimSuffix(was, " (deleted)")
		}
	}
	return "", name
}
