package object

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"whatif/internal/testing/hostile"
)

// refused checks that a file is refused.
func refused(t *testing.T, f *hostile.File) {
	t.Helper()
	if o, err := Open(f.Write(t)); err == nil {
		o.Close()
		t.Error("it was opened")
	}
}

// TestManySections opens a file whose section 0 states eight gigabytes of headers, which are a hole.
func TestManySections(t *testing.T) {
	hostile.Limited(t, 30*time.Second, func(t *testing.T) { refused(t, &hostile.File{Claim: 8 << 30 / 64}) })
}

func TestManyProgs(t *testing.T) {
	refused(t, &hostile.File{Same: elf.Prog64{Type: uint32(elf.PT_NOTE)}, Times: 65534})
}

// TestLongSectionNames opens a file with many sections, whose names are all ends of one long string.
func TestLongSectionNames(t *testing.T) {
	hostile.Limited(t, 30*time.Second, func(t *testing.T) {
		f := &hostile.File{}
		name := string(bytes.Repeat([]byte{'a'}, 1<<20))
		f.Sections = append(f.Sections, hostile.Section{Name: name, Type: elf.SHT_PROGBITS})
		path := f.Write(t)
		o, err := Open(path)
		if err == nil {
			o.Close()
			t.Error("a name of a megabyte was read")
		}
		f.Sections = nil
		for range 20_000 {
			f.Sections = append(f.Sections, hostile.Section{Name: name[:1000], Type: elf.SHT_PROGBITS})
		}
		refused(t, f)
	})
}

// TestPackedSectionNames opens a file with compressed section names: a megabyte that becomes a gigabyte.
func TestPackedSectionNames(t *testing.T) {
	hostile.Limited(t, 30*time.Second, func(t *testing.T) {
		packed := hostile.Packed(elf.COMPRESS_ZLIB, 1<<30, zeros(t, 1<<30))
		data := image(section{".names", elf.SHT_STRTAB, elf.SHF_COMPRESSED, packed})
		binary.LittleEndian.PutUint16(data[62:], 1) // they are in .names
		if _, err := New("x", data); err == nil {
			t.Error("it was opened")
		}
	})
}

// TestHeadersStay changes a file after its headers were checked.
func TestHeadersStay(t *testing.T) {
	data := image(section{".text", elf.SHT_PROGBITS, 0, []byte{0x90}})
	checked, err := checkHeaders(data)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		data[i] = 0xff
	}
	f, err := elf.NewFile(checked)
	if err != nil || f.Section(".text") == nil || len(f.Sections) != 3 {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestShrinks opens a file again and again, of which the length changes between nothing and all.
func TestShrinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "library")
	data := image(section{".text", elf.SHT_PROGBITS, 0, make([]byte, 1<<20)})
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var changes sync.WaitGroup
	changes.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				_ = errors.Join(os.Truncate(path, 0), os.WriteFile(path, data, 0o600))
			}
		}
	})
	for range 20_000 {
		if o, err := Open(path); err == nil {
			o.Close()
		}
	}
	close(done)
	changes.Wait()
}

// zeros returns a zlib stream of n zeros.
func zeros(t *testing.T, n int) []byte {
	t.Helper()
	var stream bytes.Buffer
	z, err := zlib.NewWriterLevel(&stream, zlib.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	for part := make([]byte, 1<<20); n > 0; n -= len(part) {
		if _, err := z.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return stream.Bytes()
}

// TestManyFinds asks a file with many sections for one, as often as its strings are read.
func TestManyFinds(t *testing.T) {
	hostile.Limited(t, 10*time.Second, func(t *testing.T) {
		f := &hostile.File{}
		for range 60_000 {
			f.Sections = append(f.Sections, hostile.Section{Name: ".a", Type: elf.SHT_PROGBITS})
		}
		f.Sections = append(f.Sections, hostile.Section{Name: ".debug_str", Type: elf.SHT_PROGBITS, Data: []byte("ab")})
		o, err := Open(f.Write(t))
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		for end := range uint64(200_000) {
			if got := o.SectionUpto(".debug_str", end); string(got) != "ab" {
				t.Fatalf("%q", got)
			}
		}
	})
}

// TestManyNotes reads a thousand segments of the same empty notes.
func TestManyNotes(t *testing.T) {
	const size = 16 << 20
	f := &hostile.File{
		Sections: []hostile.Section{{Name: ".note", Type: elf.SHT_NOTE, Hole: size}},
		Same:     elf.Prog64{Type: uint32(elf.PT_NOTE), Off: 70_000, Filesz: size}, Times: maxProgs,
	}
	o, err := Open(f.Write(t))
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	n := 0
	o.EachNote(func(Note) bool { n++; return true })
	if n > maxNotes {
		t.Errorf("%d notes were looked at", n)
	}
	n = 0
	o.EachSegmentNote(func(*elf.Prog, Note) bool { n++; return true })
	if n > maxNotes {
		t.Errorf("%d notes of segments were looked at", n)
	}
}

// TestLongNoteName reads a note whose owner has a name of a gigabyte.
func TestLongNoteName(t *testing.T) {
	hostile.Limited(t, 30*time.Second, func(t *testing.T) {
		f := &hostile.File{Sections: []hostile.Section{{
			Name: ".note", Type: elf.SHT_NOTE, Data: []byte{0, 0, 0, 0x40, 0, 0, 0, 0, 3, 0, 0, 0}, Hole: 2 << 30,
		}}}
		o, err := Open(f.Write(t))
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		o.EachNote(func(n Note) bool {
			if len(n.Name) > maxNoteName {
				t.Errorf("a name of %d bytes", len(n.Name))
			}
			return true
		})
	})
}

// TestRatio reads a section of a quarter of a megabyte that decompresses to 256 MiB.
func TestRatio(t *testing.T) {
	var stream bytes.Buffer
	z := zlib.NewWriter(&stream)
	for range 256 {
		if _, err := z.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	packed := hostile.Packed(elf.COMPRESS_ZLIB, 256<<20, stream.Bytes())
	o, err := New("x", image(section{".debug_info", elf.SHT_PROGBITS, elf.SHF_COMPRESSED, packed}))
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if got := o.Section(".debug_info"); got != nil || o.Problem() == nil {
		t.Errorf("%d bytes of %d, %v", len(got), stream.Len(), o.Problem())
	}
}

// TestShareOfDisk checks that one file does not use all of maxDisk.
func TestShareOfDisk(t *testing.T) {
	const size = 1 << 30 // claimed, of as much that is no stream
	data := hostile.Packed(elf.COMPRESS_ZLIB, size, []byte("\x78\x9c"))
	f := &hostile.File{}
	for _, name := range []string{".debug_info", ".debug_line", ".debug_str", ".debug_abbrev", ".debug_ranges"} {
		f.Sections = append(f.Sections, hostile.Section{
			Name: name, Type: elf.SHT_PROGBITS, Flags: elf.SHF_COMPRESSED, Data: data, Hole: size / largeRatio,
		})
	}
	o, err := Open(f.Write(t))
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	for _, s := range f.Sections {
		o.SectionUpto(s.Name, 0)
	}
	if _, taken := Inflated(); taken > maxDisk*7/8 {
		t.Errorf("one file has %d of %d MiB", taken>>20, maxDisk>>20)
	}
}

// TestSparseParts reads a .dwo file in which two sections of a name are holes.
func TestSparseParts(t *testing.T) {
	hostile.Limited(t, 30*time.Second, func(t *testing.T) {
		part := hostile.Section{Name: ".debug_info.dwo", Type: elf.SHT_PROGBITS, Hole: 2 << 30}
		o, err := Open((&hostile.File{Type: elf.ET_REL, Sections: []hostile.Section{part, part}}).Write(t))
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		if got := o.Section(part.Name); got != nil || o.Problem() == nil {
			t.Errorf("%d bytes, %v", len(got), o.Problem())
		}
	})
}

// emptyBlocks is the begin of a frame of zstd with a small window. The zeros that follow are empty blocks.
const emptyBlocks = "\x28\xb5\x2f\xfd\x00\x08"

// TestHoleIsEmptyBlocks reads a section that is small, but is compressed to a hole of many gigabytes.
func TestHoleIsEmptyBlocks(t *testing.T) {
	f := &hostile.File{Sections: []hostile.Section{{
		Name: ".debug_info", Type: elf.SHT_PROGBITS, Flags: elf.SHF_COMPRESSED,
		Data: hostile.Packed(elf.COMPRESS_ZSTD, 1<<20, []byte(emptyBlocks)), Hole: 64 << 30,
	}}}
	hostile.Limited(t, 20*time.Second, func(t *testing.T) {
		o, err := Open(f.Write(t))
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		if got := o.Section(".debug_info"); got != nil || o.Problem() == nil {
			t.Errorf("%d bytes, %v", len(got), o.Problem())
		}
	})
}

// TestLongWindows reads sections of zstd that take memory for long windows: stated, and of a single segment.
func TestLongWindows(t *testing.T) {
	const size, blocks = 128 << 20, 1 << 10
	// Blocks of 128 KiB of one byte: a header of three bytes, and that byte.
	block := bytes.Repeat([]byte{0x02, 0x00, 0x10, 'x'}, blocks)
	stated := "\x28\xb5\x2f\xfd\x00\x88" // 128 MiB
	single := "\x28\xb5\x2f\xfd\xa0" + string(binary.LittleEndian.AppendUint32(nil, size))
	for _, head := range []string{stated, single} {
		f := &hostile.File{}
		for _, name := range []string{".debug_info", ".debug_line", ".debug_str", ".debug_abbrev", ".debug_ranges"} {
			f.Sections = append(f.Sections, hostile.Section{
				Name: name, Type: elf.SHT_PROGBITS, Flags: elf.SHF_COMPRESSED,
				Data: hostile.Packed(elf.COMPRESS_ZSTD, size, append([]byte(head), block...)), Hole: size / largeRatio,
			})
		}
		path := f.Write(t)
		hostile.Limited(t, 30*time.Second, func(t *testing.T) {
			o, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer o.Close()
			for _, s := range f.Sections {
				o.SectionUpto(s.Name, size/2) // it is open from then on
			}
			if got := windows.Load(); got > maxWindows {
				t.Errorf("windows of %d MiB", got>>20)
			}
		})
	}
	if got := windows.Load(); got != 0 {
		t.Errorf("windows of %d bytes are left", got)
	}
}
