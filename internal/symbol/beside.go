package symbol

import (
	"whatif/internal/symbol/dwarf"
	"whatif/internal/symbol/object"
)

// beside opens for package dwarf the files that the binary's debug information
// refers to.
type beside struct{ b *Binary }

func (x beside) Alternate() dwarf.Sections {
	return sections(x.b.finder.Alternate(x.b.debugFile()))
}

func (x beside) Package() dwarf.Sections {
	return sections(x.b.finder.Package(x.b.debugFile()))
}

func (x beside) Split(name, dir string, accept func(dwarf.Sections) bool) dwarf.Sections {
	return sections(x.b.finder.Split(x.b.debugFile(), name, dir, func(f *object.File) bool { return accept(sections(f)) }))
}

func (x beside) Forget() { x.b.finder.Forget() }

// debugSections is a file as package dwarf reads it; nil is a file without any.
type debugSections struct{ *object.File }

func (s debugSections) Section(name string, end uint64) []byte {
	if s.File == nil {
		return nil
	}
	return s.Upto(".debug_"+name, end)
}

func sections(f *object.File) dwarf.Sections {
	if f == nil {
		return nil
	}
	return debugSections{f}
}
