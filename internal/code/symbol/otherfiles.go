package symbol

import (
	"whatif/internal/code/symbol/dwarf"
	"whatif/internal/code/symbol/object"
)

// otherFiles opens, for package dwarf, the files to which the binary's debug information refers.
type otherFiles struct{ b *Binary }

func (x otherFiles) Alternate() dwarf.Sections {
	return sections(x.b.finder.Alternate(x.b.debugFile()))
}

func (x otherFiles) Package() dwarf.Sections {
	return sections(x.b.finder.Package(x.b.debugFile()))
}

func (x otherFiles) Split(name, dir string, accept func(dwarf.Sections) bool) dwarf.Sections {
	accepts := func(f *object.File) bool { return accept(sections(f)) }
	return sections(x.b.finder.Split(x.b.debugFile(), name, dir, accepts))
}

func (x otherFiles) Forget() { x.b.finder.Forget() }

// debugSections gives package dwarf the sections of a file; a nil file has none.
type debugSections struct{ *object.File }

func (s debugSections) Section(name string, end uint64) []byte {
	if s.File == nil {
		return nil
	}
	return s.SectionUpto(".debug_"+name, end)
}

func sections(f *object.File) dwarf.Sections {
	if f == nil {
		return nil
	}
	return debugSections{f}
}
