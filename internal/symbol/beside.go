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
	return sections(x.b.finder.Split(name, dir, func(f *object.File) bool { return accept(sections(f)) }))
}

func (x beside) Release() {
	x.b.file.Release()
	x.b.finder.Release()
}

func (x beside) Forget() { x.b.finder.Forget() }

func sections(f *object.File) dwarf.Sections {
	if f == nil {
		return nil
	}
	return func(name string) []byte { return f.Section(".debug_" + name) }
}
