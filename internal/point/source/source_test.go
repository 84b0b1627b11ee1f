package source

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"whatif/internal/code/symbol/object"
	"whatif/internal/testing/hostile"
)

// image makes an executable with notes, a page of code and a page of data.
func image(notes []byte) []byte {
	const codeAt, dataAt, notesAt = 0x1000, 0x2000, 0x3000
	var b bytes.Buffer
	le := func(v any) { binary.Write(&b, binary.LittleEndian, v) }
	b.WriteString("\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9))
	le([]uint16{3, 62})
	le(uint32(1))
	le([]uint64{0, 64, 0})
	le(uint32(0))
	le([]uint16{64, 56, 3, 64, 0, 0})
	for _, p := range []struct {
		kind, flags    uint32
		at, size, room uint64
	}{
		{1, 5, codeAt, 0x1000, 0x1000},
		{1, 6, dataAt, 0x1000, 0x1000},
		{4, 4, notesAt, uint64(len(notes)), uint64(len(notes))},
	} {
		le([]uint32{p.kind, p.flags})
		le([]uint64{p.at, p.at, p.at, p.size, p.room, 0x1000})
	}
	b.Write(make([]byte, notesAt-b.Len()))
	b.Write(notes)
	return b.Bytes()
}

// note makes a note that is to be at an offset in the notes.
func note(offset int, name string, event, shards, stride uint32, numbers, site uint64) []byte {
	desc := uint64(0x3000 + offset + 12 + 8)
	var d bytes.Buffer
	le := func(b *bytes.Buffer, v any) { binary.Write(b, binary.LittleEndian, v) }
	le(&d, []uint32{event, shards, stride, 0})
	le(&d, []uint64{numbers - (desc + 16), site - (desc + 24)})
	d.WriteString(name + "\x00")
	var b bytes.Buffer
	le(&b, []uint32{7, uint32(d.Len()), 1})
	b.WriteString("whatif\x00\x00")
	b.Write(d.Bytes())
	b.Write(make([]byte, (4-b.Len()%4)%4))
	return b.Bytes()
}

func read(t testing.TB, data []byte) *Points {
	t.Helper()
	f, err := object.New("program", data)
	if err != nil {
		t.Fatal(err)
	}
	return Read(f)
}

func TestNotes(t *testing.T) {
	var notes []byte
	for _, n := range []string{"requests", "größe"} {
		notes = append(notes, note(len(notes), n, 1, 16, 64, 0x2400, 0x1010)...)
	}
	p := read(t, image(notes))
	want := []Counter{
		{"requests", Progress, 0x2400, 16, 0x1010, false, 0, false},
		{"größe", Progress, 0x2400, 16, 0x1010, false, 0, false},
	}
	if !slices.Equal(p.Counters, want) || len(p.Warnings) > 0 || p.Code != (Code{0x1000, 0x2000, 0}) {
		t.Errorf("%+v", p)
	}
}

// TestSites checks that a site is only at the right no-op.
func TestSites(t *testing.T) {
	const lea = "\x4c\x8d\x05"
	good := note(0, "good", 2, 16, 64, 0x2400, 0x1010)
	file := image(slices.Concat(good, note(len(good), "bad", 2, 16, 64, 0x2400, 0x1011)))
	copy(file[0x1010:], nop+lea)
	p := read(t, file)
	if len(p.Counters) != 2 || p.Counters[0].SiteOffset != 0x1010 || p.Counters[1].SiteOffset != 0 {
		t.Errorf("%+v", p)
	}
	copy(file[0x1010:], longNop+lea) // of an earlier whatif.h
	if at := read(t, file).Counters[0]; at.SiteOffset != 0x1015 || at.Site != 0x1015 || !at.SiteStepped {
		t.Errorf("%+v", at)
	}
	copy(file[0x1010:], "\x90\x90\x90") // the middle of something else
	if at := read(t, file).Counters[0]; at.SiteOffset != 0 {
		t.Errorf("%+v", at)
	}
	file = image(note(0, "cut", 2, 16, 64, 0x2400, 0x1ffe)) // across the segment's end
	copy(file[0x1ffe:], nop+lea)
	if p := read(t, file); len(p.Counters) != 1 {
		t.Errorf("%+v", p)
	}
}

// TestWrongNotes checks that a wrong note is left out with a warning, and without one if the linker
// removed its function.
func TestWrongNotes(t *testing.T) {
	for why, n := range map[string][]byte{
		"not printable":       note(0, "a\x1b[2Jb", 1, 16, 64, 0x2400, 0x1010),
		"too long":            note(0, strings.Repeat("a", 112), 1, 16, 64, 0x2400, 0x1010),
		"is empty":            note(0, "", 1, 16, 64, 0x2400, 0x1010),
		"another version":     note(0, "a", 4, 16, 64, 0x2400, 0x1010),
		"for another version": note(0, "a", 1, 17, 64, 0x2400, 0x1010),
		"program's data":      note(0, "a", 1, 16, 64, 0x2fc0, 0x1010),
		"numbers, at 0x1000":  note(0, "a", 1, 16, 64, 0x1000, 0x1010),
		"numbers, at 0xff":    note(0, "a", 1, 16, 64, 0xffffffffffffffc0, 0x1010),
		"cut short":           append([]byte{7, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0}, "whatif\x00\x00abcd"...),
	} {
		p := read(t, image(n))
		if !p.None() || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], why) {
			t.Errorf("%s: %+v", why, p)
		}
	}
	if p := read(t, image(note(0, "a", 1, 16, 64, 0x2400, 0))); !p.None() || len(p.Warnings) > 0 {
		t.Errorf("removed: %+v", p)
	}
}

func TestTooManyNotes(t *testing.T) {
	var notes []byte
	for range maxCounters + 1 {
		notes = append(notes, note(len(notes), "a", 1, 16, 64, 0x2400, 0x1010)...)
	}
	if p := read(t, image(notes)); !p.None() || len(p.Warnings) != 1 {
		t.Errorf("%d points, %v", len(p.Counters), p.Warnings)
	}
}

// TestManyWrongNotes checks that many wrong notes lead to few warnings.
func TestManyWrongNotes(t *testing.T) {
	var notes []byte
	for i := range 1000 {
		notes = append(notes, note(len(notes), "a", 1, 16, 64, uint64(0x100000+i), 0x1010)...)
	}
	p := read(t, image(notes))
	if !p.None() || len(p.Warnings) != maxWarnings+1 || !strings.HasPrefix(p.Warnings[maxWarnings], "992 more ") {
		t.Errorf("%d points, %q", len(p.Counters), p.Warnings)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(image(note(0, "requests", 1, 16, 64, 0x2400, 0x1010)))
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := object.New("program", data)
		if err != nil {
			return
		}
		p := Read(o)
		if len(p.Warnings) > maxWarnings+1 {
			t.Errorf("%d warnings", len(p.Warnings))
		}
		for _, c := range p.Counters {
			if !goodName(c.Name) || c.Shards < 1 || c.Shards > maxShards {
				t.Errorf("%+v", c)
			}
		}
		AsksForCoz(o)
	})
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"requests": "requests", "": "", "a\x1bb": "a\ufffdb", "a\xffb": "a\ufffdb",
		strings.Repeat("x", 200): strings.Repeat("x", 111),
	} {
		if got := Clean([]byte(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestHeader compiles whatif.h without a warning in every dialect, and reads its notes.
func TestHeader(t *testing.T) {
	dir := t.TempDir()
	body := `#include "whatif.h"
int main(int c, char **v)
{
	WHATIF_PROGRESS("requests");
	WHATIF_BEGIN("request");
	WHATIF_END("request");
	WHATIF_BEGIN_ID("keyed", c);
	WHATIF_END_ID("keyed", v);
	return 0;
}
`
	for _, name := range []string{"p.c", "p.cc"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for compiler, dialects := range map[string][]string{
		"gcc": {"c89", "c99", "gnu17"}, "clang": {"c89", "c99", "gnu17"},
		"g++": {"c++98", "c++11", "c++20"}, "clang++": {"c++98", "c++11", "c++20"},
	} {
		if _, err := exec.LookPath(compiler); err != nil {
			t.Logf("no %s", compiler)
			continue
		}
		for i, dialect := range dialects {
			flags := [][]string{{"-O0", "-fPIE", "-pie"}, {"-O2", "-static"}, {"-O3", "-shared", "-fPIC"}}[i]
			source, out := filepath.Join(dir, "p.c"), filepath.Join(dir, "p")
			if strings.Contains(compiler, "++") {
				source += "c"
			}
			args := append(flags,
				"-std="+dialect, "-Wall", "-Wextra", "-pedantic", "-Werror", "-I../../..", "-o", out, source)
			if text, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
				t.Errorf("%s %v: %v\n%s", compiler, args, err, text)
				continue
			}
			f, err := object.Open(out)
			if err != nil {
				t.Fatal(err)
			}
			p := Read(f)
			var got []string
			for _, c := range p.Counters {
				got = append(got, fmt.Sprint(c.Name, c.Event, c.Keyed, c.Shards))
			}
			want := []string{"requests1 false 16", "request2 false 16", "request3 false 16", "keyed2 true 16", "keyed3 true 16"}
			if !slices.Equal(got, want) || len(p.Warnings) > 0 {
				t.Errorf("%s %v: %q, %v", compiler, args, got, p.Warnings)
			}
			f.Close()
		}
	}
}

// TestShrunk makes a file shorter while it is mapped.
func TestShrunk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, image(note(0, "requests", 1, 16, 64, 0x2400, 0x1010)), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := object.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if p := Read(f); !p.None() || len(p.Warnings) != 1 {
		t.Errorf("%+v", p)
	}
	AsksForCoz(f)
}

// TestManySearched looks for COZ's macros in many sections that are the same hole.
func TestManySearched(t *testing.T) {
	hostile.Limited(t, 20*time.Second, func(t *testing.T) {
		h := &hostile.File{Sections: []hostile.Section{
			{Name: ".rodata", Type: elf.SHT_PROGBITS, Hole: 64 << 30},
			{Name: ".noptrdata", Type: elf.SHT_PROGBITS, Hole: 64 << 30},
		}}
		f, err := object.Open(h.Write(t))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for range 1000 {
			f.ELF.Sections = append(f.ELF.Sections, f.ELF.Section(".rodata"))
		}
		if AsksForCoz(f) || !Read(f).None() {
			t.Error("it has points")
		}
	})
}
