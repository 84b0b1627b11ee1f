package object

import (
	"debug/elf"
	"os"
	"testing"
	"time"

	"whatif/internal/testing/hostile"
)

// FuzzFile reads arbitrary files: headers, names of sections, notes.
func FuzzFile(f *testing.F) {
	for _, file := range []*hostile.File{
		{Sections: []hostile.Section{{
			Name: ".note", Type: elf.SHT_NOTE, Data: []byte("\x04\x00\x00\x00\x01\x00\x00\x00\x03\x00\x00\x00GNU\x00x"),
		}}},
		{Progs: []elf.Prog64{{Type: uint32(elf.PT_NOTE), Off: 64, Filesz: 40}}},
		{Claim: 7},
	} {
		data, err := os.ReadFile(file.Write(f))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		began := time.Now()
		o, err := New("x", data)
		if err != nil {
			return
		}
		defer o.Close()
		if len(o.ELF.Sections) > maxSections || len(o.ELF.Progs) > maxProgs {
			t.Errorf("%d sections, %d program headers", len(o.ELF.Sections), len(o.ELF.Progs))
		}
		n := 0
		o.EachNote(func(Note) bool { n++; return true })
		if o.BuildID(); n > maxNotes {
			t.Errorf("%d notes", n)
		}
		for _, s := range o.ELF.Sections[:min(len(o.ELF.Sections), 100)] {
			o.Section(s.Name)
		}
		if d := time.Since(began); d > 5*time.Second {
			t.Errorf("took %v", d)
		}
	})
}
