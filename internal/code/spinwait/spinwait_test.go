package spinwait

import (
	"bytes"
	"debug/elf"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"

	"whatif/internal/testing/compiled"
)

// builds has the ways in which the marked functions are compiled.
var builds = []struct {
	name, source string
	command      []string
}{
	{"gcc -O0", "spin.c", []string{"gcc", "-O0", "-c"}},
	{"gcc -Og", "spin.c", []string{"gcc", "-Og", "-c"}},
	{"gcc -O1", "spin.c", []string{"gcc", "-O1", "-c"}},
	{"gcc -O2", "spin.c", []string{"gcc", "-O2", "-c"}},
	{"gcc -O3", "spin.c", []string{"gcc", "-O3", "-c", "-march=x86-64-v3"}},
	{"gcc -Os", "spin.c", []string{"gcc", "-Os", "-c"}},
	{"gcc -O2 frame", "spin.c", []string{"gcc", "-O2", "-c", "-fno-omit-frame-pointer", "-fcf-protection"}},
	{"gcc -O0 no frame", "spin.c", []string{"gcc", "-O0", "-c", "-fomit-frame-pointer"}},
	{"gcc -O0 pic", "spin.c", []string{"gcc", "-O0", "-c", "-fPIC"}},
	{"clang -O0", "spin.c", []string{"clang", "-w", "-O0", "-c"}},
	{"clang -O1", "spin.c", []string{"clang", "-w", "-O1", "-c"}},
	{"clang -O2", "spin.c", []string{"clang", "-w", "-O2", "-c"}},
	{"clang -Os", "spin.c", []string{"clang", "-w", "-Os", "-c"}},
	{"rustc -O", "spin.rs", []string{"rustc", "-O", "--emit=obj"}},
	{"rustc -Os", "spin.rs", []string{"rustc", "-C", "opt-level=s", "--emit=obj"}},
	{"go", "gospin", []string{"go", "build"}},
}

// TestMarkedFunctions checks each instruction of functions that are named for what they do: in
// wait_* the instructions on a cycle are a wait, in work_* none is.
func TestMarkedFunctions(t *testing.T) {
	for _, b := range builds {
		t.Run(b.name, func(t *testing.T) {
			waits, works := 0, 0
			for _, fn := range compile(t, b.source, b.command) {
				name := strings.ToLower(strings.TrimPrefix(fn.name, "main."))
				switch {
				case strings.HasPrefix(name, "wait"):
					waits++
					checkWait(t, fn)
				case strings.HasPrefix(name, "work"):
					works++
					checkWork(t, fn)
				case strings.HasPrefix(name, "mixed"):
					checkMixed(t, fn)
				default:
					continue
				}
				checkWaits(t, fn)
			}
			if waits < 5 || works < 4 {
				t.Errorf("found %d functions that wait and %d that work", waits, works)
			}
		})
	}
}

func noYields(Callee) bool { return false }

// checkWaits compares Waits with SpinWait for each instruction.
func checkWaits(t *testing.T, fn marked) {
	t.Helper()
	spans := Waits(fn.code, fn.addr, noYields)
	for _, pc := range decode(fn.code, fn.addr).addrs {
		inside := slices.ContainsFunc(spans, func(s Span) bool { return s.Low <= pc && pc < s.High })
		if waits := SpinWait(fn.code, fn.addr, 0, pc, noYields); inside != waits {
			t.Errorf("%s: %#x waits: %v, by the whole function: %v", fn.name, pc, waits, inside)
		}
	}
}

type marked struct {
	name string
	addr uint64
	code []byte
}

func compile(t *testing.T, source string, command []string) []marked {
	t.Helper()
	source = filepath.Join("testdata", source)
	if command[0] == "go" {
		return functionsOf(t, compiled.Go(t, source))
	}
	words := append(slices.Clone(command), "-o", compiled.Out, compiled.Src+filepath.Base(source))
	return functionsOf(t, compiled.Program(t, compiled.File(t, source), nil, words...))
}

func functionsOf(t *testing.T, path string) []marked {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	text := map[int][]byte{}
	var fns []marked
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Size == 0 || int(s.Section) >= len(f.Sections) {
			continue
		}
		sec := f.Sections[s.Section]
		if text[int(s.Section)] == nil {
			if text[int(s.Section)], err = sec.Data(); err != nil {
				t.Fatal(err)
			}
		}
		from := s.Value - sec.Addr
		fns = append(fns, marked{s.Name, s.Value, text[int(s.Section)][from : from+s.Size]})
	}
	return fns
}

// cycles returns which instructions can run twice in one call.
func cycles(f *function) []bool {
	on := make([]bool, len(f.insts))
	for i := range f.insts {
		seen := make([]bool, len(f.insts))
		todo := []int{i}
		for len(todo) > 0 && !on[i] {
			n := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			for _, s := range f.succ[n] {
				if s == i {
					on[i] = true
				}
				if s >= 0 && !seen[s] {
					seen[s] = true
					todo = append(todo, s)
				}
			}
		}
	}
	return on
}

func checkWait(t *testing.T, fn marked) {
	t.Helper()
	f := decode(fn.code, fn.addr)
	any, bad := false, false
	for i, on := range cycles(f) {
		any = any || on
		if SpinWait(fn.code, fn.addr, 0, f.addrs[i], noYields) != on {
			bad = true
		}
	}
	if bad || !any {
		t.Errorf("%s is a wait:\n%s", fn.name, listing(fn))
	}
}

func checkWork(t *testing.T, fn marked) {
	t.Helper()
	f := decode(fn.code, fn.addr)
	for i := range f.insts {
		if SpinWait(fn.code, fn.addr, 0, f.addrs[i], noYields) {
			t.Errorf("%s is no wait:\n%s", fn.name, listing(fn))
			return
		}
	}
}

// checkMixed checks that the PAUSE is a wait, but not the multiplication by 31 (a shift or IMUL) and
// the counter's increment.
func checkMixed(t *testing.T, fn marked) {
	t.Helper()
	f := decode(fn.code, fn.addr)
	for i, inst := range f.insts {
		got := SpinWait(fn.code, fn.addr, 0, f.addrs[i], noYields)
		switch inst.Op {
		case x86asm.PAUSE:
			if !got {
				t.Errorf("%s: PAUSE is not flagged:\n%s", fn.name, listing(fn))
			}
		case x86asm.SHL, x86asm.IMUL, x86asm.ADD, x86asm.SUB, x86asm.INC:
			if got {
				t.Errorf("%s: work is flagged:\n%s", fn.name, listing(fn))
			}
		}
	}
}

func listing(fn marked) string {
	f := decode(fn.code, fn.addr)
	on := cycles(f)
	var s strings.Builder
	for i, inst := range f.insts {
		mark := "      "
		if on[i] {
			mark = "cycle "
		}
		if SpinWait(fn.code, fn.addr, 0, f.addrs[i], noYields) {
			mark += "SPIN "
		} else {
			mark += "     "
		}
		s.WriteString(mark + x86asm.GNUSyntax(inst, f.addrs[i], nil) + "\n")
	}
	return s.String()
}

// TestSpinLock checks glibc's pthread_spin_lock.
func TestSpinLock(t *testing.T) {
	for _, path := range []string{"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib/libc.so.6"} {
		f, err := elf.Open(path)
		if err != nil {
			continue
		}
		defer f.Close()
		symbols, err := f.DynamicSymbols()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range symbols {
			if s.Name != "pthread_spin_lock" || s.Size == 0 {
				continue
			}
			code := make([]byte, s.Size)
			for _, p := range f.Progs {
				if p.Type == elf.PT_LOAD && s.Value-p.Vaddr < p.Filesz {
					if _, err := p.ReadAt(code, int64(s.Value-p.Vaddr)); err != nil {
						t.Fatal(err)
					}
				}
			}
			checkWait(t, marked{s.Name, s.Value, code})
			return
		}
	}
	t.Skip("no libc.so.6 with pthread_spin_lock is installed")
}

// TestKnown has a wait whose stack slots depend on a prologue far before it. With a known address
// in between, the verdict is the same.
func TestKnown(t *testing.T) {
	const far = 1000
	loop := []byte{
		0x48, 0x8b, 0x45, 0xf8, // mov -8(%rbp),%rax
		0x8b, 0x00, // mov (%rax),%eax
		0x89, 0x45, 0xf4, // mov %eax,-12(%rbp)
		0x83, 0x7d, 0xf4, 0x00, // cmpl $0,-12(%rbp)
		0x74, 0xf1, // je back
		0xc3,
	}
	for _, c := range []struct {
		name     string
		prologue []byte
		wait     bool
	}{
		{"frame", []byte{0x55, 0x48, 0x89, 0xe5}, true}, // push %rbp; mov %rsp,%rbp
		{"other", []byte{0x55, 0x90, 0x90, 0x90}, false},
	} {
		code := slices.Concat(c.prologue, bytes.Repeat([]byte{0x90}, far), loop)
		at := uint64(len(c.prologue) + far)
		for _, known := range []uint64{0, 4, 100, at - Margin, at - 1, at, at + 1, 1 << 40} {
			if got := SpinWait(code, 0, known, at, noYields); got != c.wait {
				t.Errorf("%s, known %d: %v, want %v", c.name, known, got, c.wait)
			}
		}
	}
}

// FuzzSpinWait wants an answer to any bytes.
func FuzzSpinWait(f *testing.F) {
	f.Add([]byte{0x8b, 0x07, 0x85, 0xc0, 0x74, 0xfa, 0xc3}, uint16(0), uint16(0))
	f.Add([]byte{0xf3, 0x90, 0xeb, 0xfc}, uint16(1), uint16(3))
	f.Add([]byte{0xe8, 1, 0, 0, 0, 0x85, 0xc0, 0x74, 0xf7, 0xc3}, uint16(0), uint16(0))
	f.Add([]byte{0x48, 0x8b, 0x1d, 0, 0, 0, 0, 0xff, 0xd3, 0x8b, 0x07, 0x85, 0xc0, 0x74, 0xf8, 0x5b, 0xc3},
		uint16(7), uint16(0))
	f.Add([]byte{0xf0, 0x0f, 0xb1, 0x17, 0x75, 0xfa}, uint16(0), uint16(9))
	f.Add(append(bytes.Repeat([]byte{0x90}, 600), 0xf3, 0x90, 0xeb, 0xfc), uint16(600), uint16(20))
	f.Fuzz(func(t *testing.T, code []byte, at, known uint16) {
		SpinWait(code, 0x1000, 0x1000+uint64(known), 0x1000+uint64(at), func(c Callee) bool { return c.Addr&1 == 0 })
	})
}

func BenchmarkSpinWait(b *testing.B) {
	// mov (%rdi),%eax; test %eax,%eax; je back; ret after a kilobyte of other code.
	code := append(make([]byte, 0, 2000), []byte(strings.Repeat("\x48\x01\xc8\x90", 256))...)
	code = append(code, 0x8b, 0x07, 0x85, 0xc0, 0x74, 0xfa, 0xc3)
	for b.Loop() {
		if !SpinWait(code, 0, 0, 1024, noYields) {
			b.Fatal("no wait")
		}
	}
}
