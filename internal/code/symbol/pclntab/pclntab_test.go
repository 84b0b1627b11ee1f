package pclntab

import (
	"bytes"
	"debug/elf"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestWithoutSections checks that a binary without section headers, as by packers, gives the same answers.
func TestWithoutSections(t *testing.T) {
	for _, b := range builds {
		switch b.name {
		case "stripped", "pie stripped", "pie linked by gcc":
		default:
			continue
		}
		t.Run(b.name, func(t *testing.T) {
			path := selfBuild(t, "go", "this", b.args, b.cgo)
			whole := open(t, path)
			image, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			clear(image[0x28:0x30]) // e_shoff
			clear(image[0x3a:0x40]) // e_shentsize, e_shnum, e_shstrndx
			f, err := elf.NewFile(bytes.NewReader(image))
			if err != nil {
				t.Fatal(err)
			}
			bare, err := Find(f, image)
			if err != nil || bare == nil {
				t.Fatal(bare, err)
			}
			for _, addr := range textAddresses(whole, 1000) {
				if got, want := bare.Lookup(addr), whole.Lookup(addr); !slices.Equal(got, want) {
					t.Fatalf("%#x: %v without sections, %v with", addr, got, want)
				}
			}
		})
	}
}

func TestSearch(t *testing.T) {
	table := open(t, selfBuild(t, "go", "this", []string{"-ldflags=-s -w"}, false))
	names := map[string]Func{}
	last := uint64(0)
	table.Functions(func(f Func) bool {
		if f.Entry < last || f.End < f.Entry {
			t.Errorf("%+v after %#x", f, last)
		}
		last = f.Entry
		names[f.Name] = f
		return true
	})
	main, ok := names["main.main"]
	if !ok {
		t.Fatalf("no main.main in %d functions", len(names))
	}
	if f, ok := table.Around(main.Entry + 5); !ok || f != main {
		t.Errorf("main.main is %+v, around its fifth byte is %+v", main, f)
	}
	if _, ok := table.Around(main.Entry - 1<<40); ok {
		t.Error("a function where there is no code")
	}
	inlined := map[string]bool{}
	table.Inlined(func(name string) bool {
		inlined[name] = true
		return true
	})
	if !inlined["main.(*list[...]).each"] && !inlined["strings.HasSuffix"] {
		t.Errorf("%d inlined functions, neither of two that must be among them", len(inlined))
	}
	source, err := os.ReadFile("../testdata/src/goself/main.go")
	if err != nil {
		t.Fatal(err)
	}
	isMain := func(path string) bool { return strings.HasSuffix(path, "/main.go") }
	found := false
	table.Files(func(path string) bool {
		found = found || isMain(path)
		return !found
	})
	if !found {
		t.Error("main.go is not among the files")
	}
	lines := table.Lines(isMain)
	before, _, _ := strings.Cut(string(source), "moved := loadAddress()")
	if line := strings.Count(before, "\n") + 1; !slices.Contains(lines, line) || slices.Contains(lines, 1) {
		t.Errorf("line %d has code, line 1 has none: %v", line, lines)
	}
}

func TestNone(t *testing.T) {
	ff := bytes.Repeat([]byte{0xff}, 100)
	for _, data := range [][]byte{nil, {1, 2, 3}, ff, append([]byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8}, ff...)} {
		if table, err := parse(data); err == nil {
			t.Errorf("%v is a table: %+v", data, table)
		}
	}
}

// slowest is the time that all questions about one damaged table may take.
const slowest = 5 * time.Second

// interrogate calls all methods on arbitrary bytes.
func interrogate(t *testing.T, image []byte) {
	began := time.Now()
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return
	}
	table, err := Find(f, image)
	if err != nil || table == nil {
		return
	}
	addrs := []uint64{0, table.text, table.entryAt(0), table.entryAt(0) + 1, table.entryAt(table.nfunc) - 1, ^uint64(0)}
	for i := uint64(0); i < min(table.nfunc, 50); i++ {
		addrs = append(addrs, table.entryAt(i)+i)
	}
	for _, a := range addrs {
		table.Lookup(a)
		table.Around(a)
	}
	n := 0
	table.Functions(func(Func) bool { n++; return n < 1000 })
	table.Inlined(func(string) bool { return true })
	table.Files(func(string) bool { return true })
	table.Lines(func(string) bool { return true })
	if d := time.Since(began); d > slowest {
		t.Errorf("took %v", d)
	}
}

// FuzzTable changes a small table by a linker, in a binary with all that belongs to it.
func FuzzTable(f *testing.F) {
	whole := selfContained(f)
	f.Add(uint32(0), []byte{0xf1}, uint32(200), []byte{1, 2, 3, 4})
	f.Add(uint32(0x8), []byte{0xff, 0xff}, uint32(8), []byte{0xff})
	f.Add(uint32(0x20), []byte{0x80, 0xff, 0xff, 0xff, 0xff}, uint32(0x28), []byte{0xff})
	f.Fuzz(func(t *testing.T, at uint32, what []byte, at2 uint32, what2 []byte) {
		image := bytes.Clone(whole.image)
		table := image[whole.off:][:whole.size]
		copy(table[at%uint32(len(table)):], what)
		copy(table[at2%uint32(len(table)):], what2)
		interrogate(t, image)
	})
}

// FuzzImage reads arbitrary images.
func FuzzImage(f *testing.F) {
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	f.Fuzz(interrogate)
}

type contained struct {
	image     []byte
	off, size uint64
}

// selfContained returns a program, and the place of its table in the file.
func selfContained(t testing.TB) contained {
	path := selfBuild(t, "go", "this", []string{"-ldflags=-s -w"}, false)
	image, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		t.Fatal(err)
	}
	s := f.Section(".gopclntab")
	return contained{image, s.Offset, s.Size}
}
