// Package debugfile finds the files that hold a binary's debug information when
// the binary itself does not: separate debug files, dwz's supplementary files,
// split DWARF, mini debug information, and what debuginfod has.
//
// New says where to look for a binary; each method looks for one kind of file
// and opens it, and gives nil where there is none that belongs to the binary.
// Why a file that was there is not used, and what was missing, is kept for
// Problems. Close closes all that was opened.
//
// Where a process has another root directory (a container), its files are
// looked for below that first, then in whatif's own.
package debugfile

import (
	"path"
	"slices"
	"strings"

	"whatif/internal/openfile"
	"whatif/internal/symbol/object"
)

// Finder looks for the files of one binary.
type Finder struct {
	binary *object.File
	roots  []string // "" is whatif's own
	dirs   []string // the binary's directories, below any of the roots
	names  []string // the binary's paths, below any of the roots
	fetch  Fetcher

	// Global is the directories where debug files are installed.
	Global []string

	opened   []*object.File
	split    []*object.File
	problems []string
	pending  bool
}

// Fetcher gets a file by the build id in its name from elsewhere: the path of a
// file of whatif's, "" if there is none. It says pending if there may be one
// later, and it does not wait for that.
type Fetcher interface {
	Fetch(buildID string) (path string, pending bool)
}

// New gives a finder for an open binary. fetch may be nil.
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

// Inside is the binary's path as the processes have it whose files whatif reaches
// through /proc.
func (f *Finder) Inside() string { return f.names[0] }

// Problems says what was wrong with files that were found, and which were
// missing: a few words each.
func (f *Finder) Problems() []string {
	p := slices.Clone(f.problems)
	for _, o := range append(slices.Clone(f.opened), f.split...) {
		if err := o.Problem(); err != nil {
			p = append(p, err.Error())
		}
	}
	return p
}

// maxProblems bounds what is kept: a binary may have thousands of .dwo files,
// and the first few tell.
const maxProblems = 4

func (f *Finder) problem(text string) {
	if len(f.problems) < maxProblems && !slices.Contains(f.problems, text) {
		f.problems = append(f.problems, text)
	}
}

// Pending reports whether something was being fetched when it was asked for.
func (f *Finder) Pending() bool { return f.pending }

// Close closes all files that were opened.
func (f *Finder) Close() {
	f.Forget()
	for _, o := range f.opened {
		o.Close()
	}
	f.opened = nil
}

// try opens a file if it is there and accepted; a file that is there and is
// not is a problem.
func (f *Finder) try(rights openfile.Rights, root, name string, accept func(*object.File) string) *object.File {
	o, err := object.OpenIn(rights, root, name)
	if err != nil {
		return nil // nearly always: there is none
	}
	if why := accept(o); why != "" {
		f.problem(path.Join("/", root, name) + " " + why)
		o.Close()
		return nil
	}
	return o
}

// tryAll tries names, which a file has or which follow from its own, below all roots.
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

// fetched asks the fetcher.
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

// keep registers a file to be closed with the finder.
func (f *Finder) keep(o *object.File) *object.File {
	if o != nil {
		f.opened = append(f.opened, o)
	}
	return o
}

// locate splits a path by which whatif opens a file into the root directory of
// the process that it belongs to, "" for whatif's own, and the path below that.
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
		// A link that says where the file was when it was mapped.
		if was := readlink(name); was != "" {
			return root, strings.TrimSuffix(was, " (deleted)")
		}
	}
	return "", name
}
