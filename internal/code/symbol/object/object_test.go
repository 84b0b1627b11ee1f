package object

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"whatif/internal/openfile"
)

// section is a section for image.
type section struct {
	name  string
	kind  elf.SectionType
	flags elf.SectionFlag
	data  []byte
}

// image makes an ELF file of sections.
func image(sections ...section) []byte {
	le := binary.LittleEndian
	names := []byte{0}
	body := make([]byte, 64)
	var headers []byte
	header := func(name int, s section, off int) {
		headers = le.AppendUint32(headers, uint32(name))
		headers = le.AppendUint32(headers, uint32(s.kind))
		for _, v := range []uint64{uint64(s.flags), 0, uint64(off), uint64(len(s.data)), 0, 1, 0} {
			headers = le.AppendUint64(headers, v)
		}
	}
	header(0, section{}, 0)
	for _, s := range append(sections, section{name: ".shstrtab", kind: elf.SHT_STRTAB}) {
		name := len(names)
		names = append(append(names, s.name...), 0)
		if s.name == ".shstrtab" {
			s.data = names
		}
		header(name, s, len(body))
		body = append(body, s.data...)
	}
	h := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 57)...)
	le.PutUint16(h[16:], uint16(elf.ET_REL))
	le.PutUint16(h[18:], uint16(elf.EM_X86_64))
	le.PutUint32(h[20:], 1)
	le.PutUint64(h[40:], uint64(len(body)))
	le.PutUint16(h[52:], 64)
	le.PutUint16(h[58:], 64)
	le.PutUint16(h[60:], uint16(len(sections)+2))
	le.PutUint16(h[62:], uint16(len(sections)+1))
	copy(body, h)
	return append(body, headers...)
}

func TestImage(t *testing.T) {
	f, err := New("x", image(section{".debug_str", elf.SHT_PROGBITS, 0, []byte("abc")}))
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Section(".debug_str"); string(got) != "abc" || !f.Has(".debug_str") || f.Has(".debug_info") {
		t.Errorf("%q", got)
	}
}

// text returns n bytes that compress like debug information.
func text(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i>>3) * byte(i%61)
	}
	return b
}

func deflated(data []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

func zstandard(data []byte) []byte {
	z, _ := zstd.NewWriter(nil)
	return z.EncodeAll(data, nil)
}

// packed puts the header of SHF_COMPRESSED before a stream.
func packed(kind elf.CompressionType, size int, stream []byte) []byte {
	h := binary.LittleEndian.AppendUint32(nil, uint32(kind))
	h = binary.LittleEndian.AppendUint32(h, 0)
	h = binary.LittleEndian.AppendUint64(h, uint64(size))
	return append(binary.LittleEndian.AppendUint64(h, 1), stream...)
}

func TestCompressed(t *testing.T) {
	for _, size := range []int{0, 1, 1000, inMemory - 1, inMemory, 3 * inMemory} {
		testCompressed(t, size, false)
		testCompressed(t, size, true)
	}
}

func testCompressed(t *testing.T, size int, ahead bool) {
	want := text(size)
	old := binary.BigEndian.AppendUint64([]byte("ZLIB"), uint64(size))
	f, err := New("x", image(
		section{".debug_info", elf.SHT_PROGBITS, elf.SHF_COMPRESSED, packed(elf.COMPRESS_ZLIB, size, deflated(want))},
		section{".debug_str", elf.SHT_PROGBITS, elf.SHF_COMPRESSED, packed(elf.COMPRESS_ZSTD, size, zstandard(want))},
		section{".zdebug_line", elf.SHT_PROGBITS, 0, append(old, deflated(want)...)},
	))
	if err != nil {
		t.Fatal(err)
	}
	if m, d := Inflated(); m != 0 || d != 0 {
		t.Errorf("%d bytes in memory and %d in files before anything was asked for", m, d)
	}
	names := []string{".debug_info", ".debug_str", ".debug_line"}
	if ahead {
		f.Decompress(append(names, ".debug_none")...)
		f.Decompress(names...)
	}
	for _, name := range names {
		if got := f.Section(name); !bytes.Equal(got, want) || f.Problem() != nil {
			t.Errorf("%s of %d bytes: %d bytes, %v", name, size, len(got), f.Problem())
		}
		f.Section(name)
	}
	if m, d := Inflated(); m+d != 3*int64(size) || size >= inMemory && m != 0 {
		t.Errorf("3 sections of %d bytes: %d bytes in memory, %d in files", size, m, d)
	}
	f.Release()
	if !bytes.Equal(f.Section(".debug_info"), want) {
		t.Error("lost what was released")
	}
	f.Close()
	if m, d := Inflated(); m != 0 || d != 0 {
		t.Errorf("%d bytes in memory and %d in files after the end", m, d)
	}
}

// TestSectionUpto checks that a compressed section is decompressed as far as it is needed, and the sections
// that are needed with it up to the same part.
func TestSectionUpto(t *testing.T) {
	const size = 8 << 20
	want := text(size)
	cut := deflated(want)
	cut = cut[:len(cut)/2]
	f, err := New("x", image(
		section{".debug_info", elf.SHT_PROGBITS, elf.SHF_COMPRESSED, packed(elf.COMPRESS_ZLIB, size, deflated(want))},
		section{".debug_line", elf.SHT_PROGBITS, elf.SHF_COMPRESSED, packed(elf.COMPRESS_ZSTD, size, zstandard(want))},
		section{".debug_str", elf.SHT_PROGBITS, elf.SHF_COMPRESSED, packed(elf.COMPRESS_ZLIB, size, cut)},
	))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.DecompressTogether(".debug_info", ".debug_line")
	furthest := uint64(0)
	for _, end := range []uint64{0, 1, 1 << 20, 3 << 20, 2 << 20} {
		furthest = max(furthest, end)
		for _, name := range []string{".debug_info", ".debug_line"} {
			got := f.SectionUpto(name, end)
			if len(got) != size || !bytes.Equal(got[:end], want[:end]) {
				t.Fatalf("%s up to %d: %d bytes, and others", name, end, len(got))
			}
			f.Release()
		}
		for name, z := range f.streams {
			if z.done > furthest+3*step { // rounded up, for the others twice
				t.Errorf("%s: %d bytes were decompressed for %d", name, z.done, end)
			}
		}
	}
	got := f.SectionUpto(".debug_str", 1<<20)
	if len(got) != size || !bytes.Equal(got[:1<<20], want[:1<<20]) || f.Problem() != nil {
		t.Errorf("%d bytes, %v", len(got), f.Problem())
	}
	if got := f.Section(".debug_str"); got != nil || f.Problem() == nil {
		t.Errorf("of a section that is cut: %d bytes, %v", len(got), f.Problem())
	}
	if got := f.SectionUpto(".debug_str", 1<<20); !bytes.Equal(got[:1<<20], want[:1<<20]) {
		t.Error("what was there is lost")
	}
	if got := f.Section(".debug_info"); !bytes.Equal(got, want) {
		t.Error("the rest is another")
	}
}

// TestHostileCompression reads sections with wrong sizes and damaged streams.
func TestHostileCompression(t *testing.T) {
	stream := deflated(text(100_000))
	zstream := zstandard(text(100_000))
	for name, data := range map[string][]byte{
		"too long to be true": packed(elf.COMPRESS_ZLIB, 1<<40, stream),
		"longer than it is":   packed(elf.COMPRESS_ZLIB, 200_000, stream),
		"long and not there":  packed(elf.COMPRESS_ZLIB, 5<<20, stream),
		"zstd, longer":        packed(elf.COMPRESS_ZSTD, 200_000, zstream),
		"cut":                 packed(elf.COMPRESS_ZLIB, 100_000, stream[:len(stream)/2]),
		"zstd, cut":           packed(elf.COMPRESS_ZSTD, 100_000, zstream[:len(zstream)/2]),
		"not a stream":        packed(elf.COMPRESS_ZLIB, 1000, text(500)),
		"unknown":             packed(77, 1000, stream),
		"no header":           {1, 2, 3},
	} {
		f, err := New("x", image(section{".debug_info", elf.SHT_PROGBITS, elf.SHF_COMPRESSED, data}))
		if err != nil {
			continue // debug/elf checks the header, too
		}
		if strings.Contains(name, "zstd") || strings.Contains(name, "not") { // both ways
			f.Decompress(".debug_info")
		}
		if got := f.Section(".debug_info"); got != nil || f.Problem() == nil {
			t.Errorf("%s: %d bytes, %v", name, len(got), f.Problem())
		}
		f.Close()
		if m, d := Inflated(); m != 0 || d != 0 {
			t.Errorf("%s: %d bytes in memory and %d in files are left", name, m, d)
		}
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRoot checks that links below another root lead below it.
func TestRoot(t *testing.T) {
	root := t.TempDir()
	write(t, root+"/lib/a", image(section{".inside", elf.SHT_PROGBITS, 0, []byte("x")}))
	outside := filepath.Join(t.TempDir(), "outside")
	write(t, outside, image())
	for name, to := range map[string]string{"absolute": "/lib/a", "relative": "../../../lib/a", "out": outside} {
		if err := os.Symlink(to, root+"/"+name); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"/lib/a", "/absolute", "/relative", "/../lib/a"} {
		f, err := OpenIn(openfile.Own(), root, name)
		if errors.Is(err, syscall.ENOSYS) {
			t.Skip("the kernel has no openat2")
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !f.Has(".inside") {
			t.Errorf("%s is another file", name)
		}
		f.Close()
		if real := Real(root, name); real != "/lib/a" {
			t.Errorf("%s is really %s", name, real)
		}
	}
	if f, err := OpenIn(openfile.Own(), root, "/out"); err == nil {
		f.Close()
		t.Error("a link led out of the root")
	}
}

// TestPipe checks that a named pipe in place of a file is not waited for.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := Open(path)
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil {
			t.Error("a pipe was opened")
		}
	case <-time.After(5 * time.Second):
		t.Error("opening waits")
	}
}

func TestBuildID(t *testing.T) {
	note := []byte{4, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0xab, 0xcd, 0xef, 0}
	for want, data := range map[string][]byte{
		"abcdef": note,
		"":       append(slices.Clone(note[:4]), 0xff, 0xff, 0xff, 0xff, 3, 0, 0, 0, 'G', 'N', 'U', 0),
	} {
		f, err := New("x", image(section{".note.gnu.build-id", elf.SHT_NOTE, 0, data}))
		if err != nil {
			t.Fatal(err)
		}
		if id := f.BuildID(); id != want {
			t.Errorf("build id %q, not %q", id, want)
		}
	}
}

// FuzzSection reads arbitrary compressed sections.
func FuzzSection(f *testing.F) {
	f.Add(packed(elf.COMPRESS_ZLIB, 1000, deflated(text(1000))), true)
	f.Add(packed(elf.COMPRESS_ZSTD, 1000, zstandard(text(1000))), true)
	f.Add(append(binary.BigEndian.AppendUint64([]byte("ZLIB"), 1000), deflated(text(1000))...), false)
	f.Fuzz(func(t *testing.T, data []byte, modern bool) {
		s := section{".zdebug_info", elf.SHT_PROGBITS, 0, data}
		if modern {
			s = section{".debug_info", elf.SHT_PROGBITS, elf.SHF_COMPRESSED, data}
		}
		o, err := New("x", image(s, section{".note", elf.SHT_NOTE, 0, data}))
		if err != nil {
			return
		}
		if got := o.Section(".debug_info"); len(got) > maxRatio*len(data) {
			t.Errorf("%d bytes of %d", len(got), len(data))
		}
		o.BuildID()
		o.Close()
		if m, d := Inflated(); m != 0 || d != 0 {
			t.Errorf("%d bytes in memory and %d in files are left", m, d)
		}
	})
}
