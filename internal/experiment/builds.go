package experiment

import (
	"cmp"

	"whatif/internal/code/symbol"
	"whatif/internal/openfile"
)

// A build is what is known of the binaries that processes have under one name.
type build struct {
	first   *symbol.Binary
	id      string // of the first: its build id, if it has one
	another bool   // another build of that name was met, too
	owner   uint32 // of the files; openfile.Nobody if they have several
}

// noteBuild remembers a binary's build id when it is opened: later the binary may be locked for as long as its debug
// information is read.
func (t *unitTable) noteBuild(b *symbol.Binary) {
	id := b.BuildID()
	known := t.builds[b.Name()]
	if known == nil {
		t.builds[b.Name()] = &build{first: b, id: id, owner: b.Owner()}
		return
	}
	if known.owner != b.Owner() {
		known.owner = openfile.Nobody
	}
	if known.first != b && (known.id != id || id == "" && known.first.ContentID() != b.ContentID()) {
		known.another = true
	}
}

// buildOf is the id of the binary of a name; "": it is no binary, such as the kernel.
func (t *unitTable) buildOf(name string) string {
	t.mu.Lock()
	b := t.builds[name]
	t.mu.Unlock()
	if b == nil {
		return ""
	}
	return cmp.Or(b.id, b.first.ContentID())
}

// ownerOf is the owner of the binary of a name.
func (t *unitTable) ownerOf(name string) uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if b := t.builds[name]; b != nil {
		return b.owner
	}
	return openfile.Nobody
}

// mixedBuilds tells whether there were several builds of a name.
func (t *unitTable) mixedBuilds(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.builds[name]
	return b != nil && b.another
}

// identify is the id of a program that the run begins with.
func identify(b *symbol.Binary) string { return cmp.Or(b.BuildID(), b.ContentID()) }
