package debugfile

import (
	"path"

	"whatif/internal/code/symbol/object"
)

// Alternate returns the file into which dwz moved the common parts of several files of debug information,
// nil if it is not found. from is the file that refers to it: the binary, or its separate debug file.
func (f *Finder) Alternate(from *object.File) *object.File {
	name, id, ok := altLink(from.Section(".gnu_debugaltlink"))
	if !ok {
		var is bool
		if name, id, is, ok = supplementary(from.Section(".debug_sup")); !ok || is {
			return nil
		}
	}
	accept := func(o *object.File) string {
		_, sum, is, ok := supplementary(o.Section(".debug_sup"))
		if o.BuildID() != id && !(ok && is && sum == id) {
			return "has another build id"
		}
		if !o.Has(".debug_info") {
			return "has no debug information"
		}
		return ""
	}
	var names []string
	if path.IsAbs(name) {
		names = append(names, path.Clean(name))
	} else {
		// The path is relative to the real directory of the file that has it.
		dirs := f.dirs
		if from != f.binary {
			dirs = []string{path.Dir(absolute(from.Path)), path.Dir(object.Real(from.Root, absolute(from.Path)))}
		}
		for _, dir := range dirs {
			names = append(names, path.Join(dir, name))
		}
	}
	names = append(names, f.byBuildID(id)...)
	for _, dir := range f.Global {
		names = append(names, path.Join(dir, ".dwz", path.Base(name)))
	}
	o := f.tryAll(from, names, accept)
	if o == nil {
		o = f.fetched(id, accept)
	}
	if o == nil {
		f.problem("dwz's file " + name + " not found")
	}
	return f.keep(o)
}
