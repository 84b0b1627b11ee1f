package debugfile

import (
	"hash/crc32"
	"path"

	"whatif/internal/symbol/object"
)

// Separate finds the file with the debug information, and often the symbol
// table, that was stripped from the binary: by build id, then by the name in
// .gnu_debuglink, in gdb's order, then from the fetcher.
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
				// No need to read all of it for its checksum.
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

// noDebugInfo says that a file is of no use: the binary itself, which an
// administrator may have linked to under the name of its debug file.
func noDebugInfo(o *object.File) string {
	if o.Has(".debug_info") || o.Has(".symtab") {
		return ""
	}
	return "has no debug information"
}

// byLink is where gdb looks for a linked file.
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
