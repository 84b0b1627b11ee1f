package pclntab

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"
	"time"

	"whatif/internal/code/symbol/object"
	"whatif/internal/testing/hostile"
)

// TestManyPointers looks for the module's description where many pointers lead to the table, and relocations are a
// hole of a gigabyte.
func TestManyPointers(t *testing.T) {
	hostile.Limited(t, 20*time.Second, func(t *testing.T) {
		// The file is loaded at address 0, so addresses are offsets.
		const dynamicAt, tableAt, dataAt, dataSize = 176, 224, 304, 1 << 20
		le := binary.LittleEndian
		words := func(all ...uint64) (b []byte) {
			for _, w := range all {
				b = le.AppendUint64(b, w)
			}
			return b
		}
		head := append([]byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8}, words(1, 1, 0x1000, 72, 72, 72, 72, 72)...)
		f := &hostile.File{
			Progs: []elf.Prog64{
				{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_W), Filesz: 8 << 30, Memsz: 8 << 30},
				{Type: uint32(elf.PT_DYNAMIC), Off: dynamicAt, Vaddr: dynamicAt, Filesz: 48, Memsz: 48},
			},
			Sections: []hostile.Section{
				{Name: ".dynamic", Type: elf.SHT_DYNAMIC, Data: words(
					uint64(elf.DT_RELA), dataAt+dataSize, uint64(elf.DT_RELASZ), 1<<30, uint64(elf.DT_NULL), 0)},
				{Name: ".gopclntab", Type: elf.SHT_PROGBITS, Addr: tableAt, Data: head},
				{Name: ".data", Type: elf.SHT_PROGBITS, Data: bytes.Repeat(words(tableAt), dataSize/8)},
				{Name: ".rela", Type: elf.SHT_PROGBITS, Hole: 1 << 30},
			},
		}
		o, err := object.Open(f.Write(t))
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		if at := o.ELF.Section(".data").Offset; at != dataAt {
			t.Fatalf("the data are at %d, not at %d", at, dataAt)
		}
		if table, err := Find(o.ELF, o.Image); table == nil || table.inlined || err != nil {
			t.Errorf("%+v, %v", table, err)
		}
	})
}

// TestHoles looks for a table, and for the version of Go, in segments that are all the same hole.
func TestHoles(t *testing.T) {
	hostile.Limited(t, 20*time.Second, func(t *testing.T) {
		for _, flags := range []elf.ProgFlag{elf.PF_R, elf.PF_R | elf.PF_W} {
			f := &hostile.File{
				Sections: []hostile.Section{{Name: ".x", Type: elf.SHT_PROGBITS, Hole: 64 << 30}},
				Same:     elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(flags), Filesz: 64 << 30, Memsz: 64 << 30},
				Times:    1000,
			}
			o, err := object.Open(f.Write(t))
			if err != nil {
				t.Fatal(err)
			}
			o.ELF.Sections = nil // as in a file without section headers
			if table, _ := Find(o.ELF, o.Image); table != nil || GoVersion(o.ELF, o.Image) != "" {
				t.Errorf("%+v", table)
			}
			o.Close()
		}
	})
}
