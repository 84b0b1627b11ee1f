package dwarf

import (
	"encoding/binary"
	"testing"
	"time"
)

// FuzzLine reads arbitrary line tables of a unit.
func FuzzLine(f *testing.F) {
	v4 := []byte{
		4, 0, 16, 0, 0, 0, 1, 1, 1, 0xfb, 14, 4, 0, 1, 1, 'd', 0, 0, 'f', 0, 1, 0, 0, 0,
		0, 9, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 1, 1,
	}
	f.Add(append(binary.LittleEndian.AppendUint32(nil, uint32(len(v4))), v4...), []byte{})
	f.Add(header64(64, []byte{
		1, lnctPath, formLineStrp, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, lnctPath, formString, 1, 'f', 0, 0x20, 0x21,
	}), []byte("dir\x00"))
	f.Fuzz(func(t *testing.T, line, str []byte) {
		info, abbrev := oneUnit()
		began := time.Now()
		lookUp(map[string][]byte{"info": info, "abbrev": abbrev, "line": line, "line_str": str, "str": str})
		if d := time.Since(began); d > 5*time.Second {
			t.Errorf("took %v", d)
		}
	})
}

// FuzzRanges reads arbitrary .debug_aranges.
func FuzzRanges(f *testing.F) {
	set := []byte{2, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0}
	set = binary.LittleEndian.AppendUint64(set, 0x1000)
	set = binary.LittleEndian.AppendUint64(set, 0x100)
	f.Add(append(binary.LittleEndian.AppendUint32(nil, uint32(len(set))), set...))
	f.Fuzz(func(t *testing.T, ranges []byte) {
		info, abbrev := oneUnit()
		lookUp(map[string][]byte{"info": info, "abbrev": abbrev, "aranges": ranges})
	})
}
