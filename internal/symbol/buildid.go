package symbol

import (
	"encoding/hex"

	"whatif/internal/symbol/object"
)

// BuildID identifies the binary's contents wherever its file is: GNU's build
// id in hexadecimal, else Go's own, else "".
func (b *Binary) BuildID() (id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return ""
	}
	var err error
	defer guard("reading the build id", &err)()
	var goID string
	b.file.EachNote(func(n object.Note) bool {
		switch {
		case n.Name == "GNU" && n.Kind == 3: // NT_GNU_BUILD_ID
			id = hex.EncodeToString(n.Desc)
		case n.Name == "Go" && n.Kind == 4: // ELF_NOTE_GOBUILDID_TAG of cmd/link
			goID = string(n.Desc)
		}
		return id == ""
	})
	if id != "" {
		return id
	}
	return goID
}
