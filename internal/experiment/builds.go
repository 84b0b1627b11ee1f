package experiment

import (
	"cmp"

	"whatif/internal/openfile"
	"whatif/internal/profile"
	"whatif/internal/symbol"
)

// A build is what is known of the binaries that processes have under one name.
type build struct {
	first   *symbol.Binary
	id      string // of the first: its build id, if it has one
	another bool   // another build of that name was met, too
	owner   uint32 // of the files; nobody, if they have several
}

// noteBuild remembers a binary's build id when it is opened; later its debug information may keep
// it busy.
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

// buildOf is the id of the binary of a name; "" for what is none, such as the kernel.
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

// mixedBuilds says whether there were several builds of a name.
func (t *unitTable) mixedBuilds(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.builds[name]
	return b != nil && b.another
}

// identify is the id of a program that the run begins with.
func identify(b *symbol.Binary) string { return cmp.Or(b.BuildID(), b.ContentID()) }

// tellBinary puts a binary's build into the file, before the first unit in it.
func (s *session) tellBinary(path string) {
	if _, known := s.data.Binaries[path]; known || s.buildIDs[path] != "" {
		return
	}
	id := s.units.buildOf(path)
	if id == "" {
		return
	}
	s.data.Binaries[path] = id
	s.write(profile.Record{Binary: &profile.Binary{Path: path, BuildID: id}})
}

// checkBuilds warns of programs that were built anew while they were measured, or are others in
// other containers: what their units are called is the same.
func (s *session) checkBuilds() {
	for path := range s.data.BuildIDs() {
		if s.units.mixedBuilds(path) {
			s.warn("two-builds", "several builds of %s ran: lines of the same number are taken for the same", path)
		}
	}
}
