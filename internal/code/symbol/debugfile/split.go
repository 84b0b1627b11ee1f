package debugfile

import (
	"path"
	"slices"

	"whatif/internal/code/symbol/object"
)

// Package returns the .dwp file with all of the binary's split debug information, nil if it is not found. It is
// beside the binary or its separate debug file, with the name of either, or in the same directory below a
// global one. debug is the separate debug file; it may be nil.
func (f *Finder) Package(debug *object.File) *object.File {
	names := slices.Clone(f.names)
	if debug != nil && debug != f.binary {
		names = append(names, absolute(debug.Path))
		if ext := path.Ext(debug.Path); ext != "" {
			without := absolute(debug.Path)
			names = append(names, without[:len(without)-len(ext)])
		}
	}
	for _, global := range f.Global {
		for _, name := range f.names {
			names = append(names, path.Join(global, name))
		}
	}
	for i := range names {
		names[i] += ".dwp"
	}
	return f.keep(f.tryAll(f.binary, names, func(o *object.File) string {
		if !o.Has(".debug_info.dwo") || !o.Has(".debug_cu_index") {
			return "is not a package of split debug information"
		}
		return ""
	}))
}

// Split returns a .dwo file, nil if it is not found. It is where the compiler wrote it, in the same place
// relative to the binary's directory, or beside the binary. Forget closes it. from is the file that names
// it.
func (f *Finder) Split(from *object.File, name, dir string, accept func(*object.File) bool) *object.File {
	if name == "" || len(name) > maxName || len(dir) > maxName {
		return nil
	}
	var names []string
	if path.IsAbs(name) {
		names = append(names, path.Clean(name))
	} else {
		names = append(names, path.Join("/", dir, name))
		for _, d := range f.dirs {
			names = append(names, path.Join(d, name))
		}
	}
	for _, d := range f.dirs {
		names = append(names, path.Join(d, path.Base(name)))
	}
	before := len(f.problems)
	o := f.tryAll(from, names, func(o *object.File) string {
		if !o.Has(".debug_info.dwo") {
			return "is not split debug information"
		}
		if !accept(o) {
			return "is from another compilation than the binary"
		}
		return ""
	})
	if o == nil {
		if len(f.problems) == before {
			f.problem("split debug information " + names[0] + " not found")
		}
		return nil
	}
	f.split = append(f.split, o)
	return o
}

// Forget closes the files of Split.
func (f *Finder) Forget() {
	for _, o := range f.split {
		o.Close()
	}
	f.split = nil
}
