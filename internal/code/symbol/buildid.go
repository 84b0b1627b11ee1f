package symbol

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"whatif/internal/code/symbol/object"
)

// maxBuildID bounds a build id, in bytes. Go's has four hashes in base64, and slashes.
const maxBuildID = 256

// BuildID returns a string that identifies the binary's contents: GNU's build id in hexadecimal, else
// Go's own, else "".
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
		case len(n.Desc) > maxBuildID:
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

// The pieces of a large file that ContentID reads.
const (
	sumPieces = 64
	sumPiece  = 256 << 10 // bytes
)

// ContentID returns a checksum of the file's size and content, for binaries without a build id; "" if
// the file cannot be read. Of a file above 16 MiB it reads pieces, evenly spaced, with the end among
// them: another build of so large a program differs in its tables, too.
func (b *Binary) ContentID() (id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return ""
	}
	var err error
	defer guard("reading the content", &err)()
	size := len(b.image)
	h := sha256.New()
	defer b.file.Touch(sumPieces * sumPiece) // it is not read again
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(size)))
	if size <= sumPieces*sumPiece {
		h.Write(b.image)
	} else {
		for i := range sumPieces {
			at := i * ((size - sumPiece) / (sumPieces - 1))
			if i == sumPieces-1 {
				at = size - sumPiece
			}
			h.Write(b.image[at : at+sumPiece])
		}
	}
	return "content-" + hex.EncodeToString(h.Sum(nil)[:16])
}
