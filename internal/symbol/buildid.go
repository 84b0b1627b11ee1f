package symbol

import "encoding/hex"

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
	b.file.EachNote(func(name string, kind uint32, desc []byte) bool {
		switch {
		case name == "GNU" && kind == 3: // NT_GNU_BUILD_ID
			id = hex.EncodeToString(desc)
		case name == "Go" && kind == 4: // ELF_NOTE_GOBUILDID_TAG of cmd/link
			goID = string(desc)
		}
		return id == ""
	})
	if id != "" {
		return id
	}
	return goID
}
