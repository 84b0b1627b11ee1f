package debugfile

import (
	"hash/crc32"
	"path"

	"whatif/internal/code/symbol/object"
)

// Separate returns the file with the debug information that was stripped from the binary, and often the
// symbol table; nil if it is not found. It searches by build id, then by the name in .gnu_debuglink, in
// gdb's order, and last asks the fetcher.
func (f *Finder) Separate() *object.File {
	id := f.binary.BuildID()
	sameID := func(o *object.File) string {
		if o.BuildID() != id {
			return "has another build id"
		}
		return noDebugInfo(o)
	}
	if o := f.tryAll(f.binary, f.byBuildID(id), sameID); o != nil {
		return f.keep(o)
	}
	if name, sum, ok := debugLink(f.binary.Section(".gnu_debuglink")); ok {
		accept := func(o *object.File) string {
			switch other := o.BuildID(); {
			case id != "" && other != "" && other != id:
				return "has another build id"
			case id != "" && other == id:
				// The checksum need not be computed, which would read the whole file.
			case crc32.ChecksumIEEE(o.Image) != sum:
				return "has another checksum than .gnu_debuglink says"
			}
			return noDebugInfo(o)
		}
		if o := f.tryAll(f.binary, f.byLink(name), accept); o != nil {
			return f.keep(o)
		}
	}
	return f.keep(f.fetched(id, sameID))
}

// noDebugInfo returns why a file is of no use, "" if it is. An administrator may have linked to the binary
// itself under the name of its debug file.
func noDebugInfo(o *object.File) string {
	if o.Has(".debug_info") || o.Has(".symtab") {
		return ""
	}
	return "has no debug information"
}

// byLink returns the paths at which gdb searches a linked file.
func (f *Finder) byLink(name string) []string {
	var names []string
	for _, dir := range f.dirs {
		names = append(names, path.Join(dir, name), path.Join(dir, ".debug", name))
	}
	for _, global := range f.Global {
		for _, dir := range f.dirs {
			names = append(names, path.Join(global, dir, name))
		}
	}
	return names
}
