package symbol

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/testing/hostile"
)

// ask calls, on a file that claims to be large, the methods that whatif calls for any binary.
func ask(t *testing.T, f *hostile.File) {
	t.Helper()
	b, err := Open(f.Write(t))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	b.Origin(true)
	b.GoVersion()
	b.Libraries("")
	b.isProgram()
	for _, offset := range []uint64{0x1000, 0x1010} {
		b.Frames(offset)
		b.SpinWaits(offset)
	}
	b.HasFunc("no::such")
	b.linked(0x1000)
}

// textProg is a segment of code.
var textProg = elf.Prog64{
	Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_X | elf.PF_R), Filesz: 1 << 20, Memsz: 1 << 20,
}

// TestSparseTables reads tables for the dynamic linker, and of strings, that are holes.
func TestSparseTables(t *testing.T) {
	hostile.Limited(t, time.Minute, func(t *testing.T) {
		needed := binary.LittleEndian.AppendUint64(nil, uint64(elf.DT_NEEDED))
		needed = binary.LittleEndian.AppendUint64(needed, 0)
		ask(t, &hostile.File{
			Progs: []elf.Prog64{textProg},
			Sections: []hostile.Section{
				{Name: ".go.buildinfo", Type: elf.SHT_PROGBITS, Addr: 0x1000, Hole: 4 << 30},
				{Name: ".dynstr", Type: elf.SHT_STRTAB, Hole: 4 << 30},
				{Name: ".dynamic", Type: elf.SHT_DYNAMIC, Data: bytes.Repeat(needed, 1000), Hole: 4 << 30, Link: ".dynstr"},
				{Name: ".dynsym", Type: elf.SHT_DYNSYM, Hole: 4 << 30, Link: ".dynstr"},
			},
		})
	})
}

// TestRepeatedNames reads many symbols and libraries with the same long name.
func TestRepeatedNames(t *testing.T) {
	hostile.Limited(t, time.Minute, func(t *testing.T) {
		needed := binary.LittleEndian.AppendUint64(nil, uint64(elf.DT_NEEDED))
		needed = binary.LittleEndian.AppendUint64(needed, 0)
		var symbols []byte
		for i := range uint32(200_000) {
			symbols = binary.LittleEndian.AppendUint32(symbols, i)
			symbols = append(symbols, make([]byte, symbolSize-4)...)
		}
		ask(t, &hostile.File{
			Progs: []elf.Prog64{textProg},
			Sections: []hostile.Section{
				{Name: ".dynstr", Type: elf.SHT_STRTAB, Data: append(bytes.Repeat([]byte{'a'}, 1<<20), 0)},
				{Name: ".dynamic", Type: elf.SHT_DYNAMIC, Data: bytes.Repeat(needed, 100_000), Link: ".dynstr"},
				{Name: ".dynsym", Type: elf.SHT_DYNSYM, Data: symbols, Link: ".dynstr"},
			},
		})
	})
}

// TestManyTexts reads a million symbols, and tens of thousands of sections of code.
func TestManyTexts(t *testing.T) {
	hostile.Limited(t, time.Minute, func(t *testing.T) {
		f := &hostile.File{Progs: []elf.Prog64{textProg}}
		const sections, symbols = 60_000, 1 << 20
		for i := range uint64(sections) {
			f.Sections = append(f.Sections, hostile.Section{
				Name: ".t", Type: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR,
				Addr: i * 32, Data: []byte{0x90},
			})
		}
		var table []byte
		for i := range uint64(symbols) {
			table = hostile.AppendFunction(table, i*2, 1) // most are between the sections
		}
		f.Sections = append(f.Sections, hostile.Section{Name: ".strtab", Type: elf.SHT_STRTAB, Data: []byte("\x00f\x00")},
			hostile.Section{Name: ".symtab", Type: elf.SHT_SYMTAB, Data: table, Link: ".strtab"})
		ask(t, f)
	})
}

// TestManyLongNames looks for a function among many with the same long name, but for its begin.
func TestManyLongNames(t *testing.T) {
	hostile.Limited(t, 30*time.Second, func(t *testing.T) {
		const symbols = 200_000
		for _, begin := range []string{"", "_Z"} {
			name := "\x00" + begin + string(bytes.Repeat([]byte("a.0.b"), 60_000/5))
			var table []byte
			for i := range uint64(symbols) {
				table = hostile.AppendFunction(table, i, 1)
			}
			b, err := Open((&hostile.File{
				Progs: []elf.Prog64{textProg},
				Sections: []hostile.Section{
					{Name: ".strtab", Type: elf.SHT_STRTAB, Data: append([]byte(name), 0)},
					{Name: ".symtab", Type: elf.SHT_SYMTAB, Data: table, Link: ".strtab"},
				},
			}).Write(t))
			if err != nil {
				t.Fatal(err)
			}
			if funcs, err := b.Functions("no.such"); len(funcs) > 0 || err != nil {
				t.Errorf("%d functions, %v", len(funcs), err)
			}
			b.Close()
		}
	})
}

// goTable makes a Go program of functions of the same name. Its addresses are offsets in the file, and its code begins
// with the table itself.
func goTable(name string, functab []byte, hole, last uint64) *hostile.File {
	const codeAt, nameSize = 128, 24
	le := binary.LittleEndian
	head := []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8}
	functions := (uint64(len(functab)) + hole) / 8
	for _, w := range []uint64{functions, 1, codeAt, 72, 72, 72, 72, 72 + nameSize} {
		head = le.AppendUint64(head, w)
	}
	head = append(head, name...)
	head = append(head, make([]byte, 72+nameSize-len(head))...)
	return &hostile.File{
		Progs: []elf.Prog64{{
			Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Filesz: 1 << 40, Memsz: 1 << 40,
		}},
		Sections: []hostile.Section{
			{Name: ".gopclntab", Type: elf.SHT_PROGBITS, Addr: codeAt, Data: append(head, functab...), Hole: hole},
			{Name: ".end", Type: elf.SHT_PROGBITS, Data: append(le.AppendUint64(nil, last), make([]byte, 64)...)},
			{Name: ".code", Type: elf.SHT_PROGBITS, Data: bytes.Repeat([]byte{0xcc}, 8<<20)},
		},
	}
}

// lookForGoFunction looks for a function in a Go program that has it.
func lookForGoFunction(t *testing.T, program *hostile.File, name string) {
	t.Helper()
	b, err := Open(program.Write(t))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if funcs, err := b.Functions(name); len(funcs) == 0 || err != nil {
		t.Errorf("%d functions, %v", len(funcs), err)
	}
}

// TestManyGoFunctions looks for a function in a table with millions of that name, which is a hole.
func TestManyGoFunctions(t *testing.T) {
	hostile.Limited(t, 30*time.Second, func(t *testing.T) {
		const name, functions = "runtime.execute", 1 << 22
		lookForGoFunction(t, goTable(name, nil, 8*functions, 16), name)
	})
}

// TestLongPadding looks for a function in a table with many of that name, each followed by megabytes of padding.
func TestLongPadding(t *testing.T) {
	hostile.Limited(t, 30*time.Second, func(t *testing.T) {
		const name, functions, size = "runtime.execute", 1 << 15, 8 << 20
		var table []byte
		for i := range uint32(functions) {
			table = binary.LittleEndian.AppendUint32(table, i%2*size)
			table = binary.LittleEndian.AppendUint32(table, 8*functions+16) // zeros behind the table are the record
		}
		lookForGoFunction(t, goTable(name, table, 0, size), name)
	})
}

// TestManyCalls looks for busy-waiting loops in functions full of loops with calls, in a program with relocations that
// are a hole.
func TestManyCalls(t *testing.T) {
	hostile.Limited(t, 60*time.Second, func(t *testing.T) {
		if testing.Short() {
			maxLooked /= 8 // in a process of its own
		}
		// call [rip+x]; jmp back. Each call is by another pointer.
		var code, table []byte
		const functions, size, loop = 16, 1 << 16, 8
		for i := range uint32(functions * size / loop) {
			code = binary.LittleEndian.AppendUint32(append(code, 0xff, 0x15), 0x1000+i*64)
			code = append(code, 0xeb, 0xf8)
		}
		for i := range uint64(functions) {
			table = hostile.AppendFunction(table, 0x1000+i*size, size)
		}
		dynamic := append(make([]byte, symbolSize), 1, 0, 0, 0)
		f := &hostile.File{
			Progs: []elf.Prog64{{
				Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Filesz: 4 << 20, Memsz: 4 << 20,
			}},
			Sections: []hostile.Section{
				{Name: ".pad", Type: elf.SHT_PROGBITS, Data: make([]byte, 0x1000-128)},
				{Name: ".code", Type: elf.SHT_PROGBITS, Data: code},
				{Name: ".strtab", Type: elf.SHT_STRTAB, Data: []byte("\x00f\x00")},
				{Name: ".symtab", Type: elf.SHT_SYMTAB, Data: table, Link: ".strtab"},
				{Name: ".dynstr", Type: elf.SHT_STRTAB, Data: []byte("\x00sched_yield\x00")},
				{Name: ".dynsym", Type: elf.SHT_DYNSYM, Data: append(dynamic, make([]byte, symbolSize-4)...), Link: ".dynstr"},
				{Name: ".rela", Type: elf.SHT_RELA, Flags: elf.SHF_ALLOC, Hole: maxRelocations, Link: ".dynsym"},
			},
		}
		b, err := Open(f.Write(t))
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		for i := range uint64(functions) {
			if spins, err := b.SpinWaits(0x1000 + i*size); spins || err != nil {
				t.Errorf("function %d: %v, %v", i, spins, err)
			}
		}
		if b.linkage == nil || b.linkage.left == maxLooked {
			t.Error("no relocation was looked at")
		}
	})
}

// TestUnwindHoles looks up callers in unwind tables that are holes.
func TestUnwindHoles(t *testing.T) {
	hostile.Limited(t, 20*time.Second, func(t *testing.T) {
		for _, name := range []string{".eh_frame", ".debug_frame"} {
			b, err := Open((&hostile.File{
				Progs:    []elf.Prog64{textProg},
				Sections: []hostile.Section{{Name: name, Type: elf.SHT_PROGBITS, Hole: 64 << 30}},
			}).Write(t))
			if err != nil {
				t.Fatal(err)
			}
			if rows, _ := b.Unwind(0x1000, 4096); len(rows) == 0 {
				t.Errorf("%s: no rows", name)
			}
			b.Close()
		}
	})
}

// TestUnwindManySegments looks up callers in a page that a thousand segments have, with a long program for it.
func TestUnwindManySegments(t *testing.T) {
	hostile.Limited(t, 20*time.Second, func(t *testing.T) {
		// A function from 0x1000 on. Its unwind program is 4 MiB of no-ops.
		cie := []byte{9, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16}
		body := binary.LittleEndian.AppendUint32(nil, uint32(len(cie)+4))
		body = binary.LittleEndian.AppendUint64(body, 0x1000)
		body = binary.LittleEndian.AppendUint64(body, 0x1000)
		body = append(body, make([]byte, 4<<20)...)
		frame := append(binary.LittleEndian.AppendUint32(cie, uint32(len(body))), body...)
		b, err := Open((&hostile.File{
			Sections: []hostile.Section{{Name: ".eh_frame", Type: elf.SHT_PROGBITS, Addr: 0x100000, Data: frame}},
			Same:     textProg, Times: 1000,
		}).Write(t))
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		for range 16 {
			if rows, err := b.Unwind(0x1000, 4096); len(rows) == 0 || err == nil {
				t.Errorf("%d rows, %v", len(rows), err)
			}
		}
	})
}

// TestSections compares the search for a section of code with a loop over all sections.
func TestSections(t *testing.T) {
	all := []textSection{{10, 20}, {20, 30}, {40, 50}, {45, 60}, {70, 70}, {90, 80}, {41, 42}}
	table := &symbols{text: apart(append([]textSection{}, all...))}
	for a := range uint64(100) {
		want := false
		for _, s := range all {
			want = want || s.low <= a && a < s.high
		}
		if table.inText(a) != want {
			t.Errorf("%d: %v", a, !want)
		}
	}
	if table.sameSection(15, 25) || !table.sameSection(10, 19) || table.sameSection(5, 6) {
		t.Error("sections that meet are one")
	}
}

// TestNamesOfStrangers checks that a file that a binary of nobody's names is opened with nobody's rights, and
// only if it is a regular file. It tests libraries; package debugfile tests the other files.
func TestNamesOfStrangers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has others' rights")
	}
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	library := (&hostile.File{
		Type: elf.ET_DYN, Progs: []elf.Prog64{textProg},
		Sections: []hostile.Section{{Name: ".x", Type: elf.SHT_PROGBITS}},
	}).Write(t)
	data, err := os.ReadFile(library)
	if err != nil {
		t.Fatal(err)
	}
	strings, dynamic := []byte{0}, []byte{}
	name := func(base string) string {
		path := filepath.Join(dir, base)
		dynamic = binary.LittleEndian.AppendUint64(dynamic, uint64(elf.DT_NEEDED))
		dynamic = binary.LittleEndian.AppendUint64(dynamic, uint64(len(strings)))
		strings = append(append(strings, path...), 0)
		return path
	}
	for base, mode := range map[string]os.FileMode{"plain.so": 0o644, "secret.so": 0o600} {
		if err := os.WriteFile(name(base), data, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("secret.so", name("leak.so")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(name("fifo.so"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(name("directory.so"), 0o755); err != nil {
		t.Fatal(err)
	}
	path := (&hostile.File{Progs: []elf.Prog64{textProg}, Sections: []hostile.Section{
		{Name: ".dynstr", Type: elf.SHT_STRTAB, Data: strings},
		{Name: ".dynamic", Type: elf.SHT_DYNAMIC, Data: dynamic, Link: ".dynstr"},
	}}).Write(t)
	opened := func(owner int) (names []string) {
		if err := os.Chown(path, owner, owner); err != nil {
			t.Fatal(err)
		}
		b := open(t, path)
		for _, lib := range b.Libraries("") {
			names = append(names, filepath.Base(lib.Path()))
			lib.Close()
		}
		return names
	}
	if got := opened(65534); len(got) != 1 || got[0] != "plain.so" {
		t.Errorf("a binary of nobody's opened %v", got)
	}
	if got := opened(0); len(got) != 3 {
		t.Errorf("a binary of root's opened %v", got)
	}
}
