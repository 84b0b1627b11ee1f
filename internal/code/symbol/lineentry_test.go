package symbol

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"whatif/internal/testing/compiled"
)

// compileFiles compiles sources, given by name.
func compileFiles(t testing.TB, sources map[string]string, command ...string) string {
	t.Helper()
	words := slices.Clone(command)
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		if strings.HasSuffix(name, ".c") {
			words = append(words, compiled.Src+name)
		}
	}
	return compiled.Program(t, compiled.Texts(sources), nil, append(words, "-o", compiled.Out)...)
}

// TestAmbiguousFile checks the error for a file name that means several files. More of the path, or a line that
// only one file has, makes the name unambiguous.
func TestAmbiguousFile(t *testing.T) {
	b := open(t, compileFiles(t, map[string]string{
		"red/util.c":  "int red(int x) {\n  return x + 1;\n}\n",
		"blue/util.c": "int blue(int x) {\n  return x + 2;\n}\n\nint more(int x) {\n  return x + 3;\n}\n",
		"main.c":      "int red(int), blue(int), more(int);\nint main(void) { return red(1) + blue(2) + more(3); }\n",
	}, "gcc", "-g", "-O1"))
	_, err := b.LineEntries("util.c", 2)
	var ambiguous *Ambiguous
	if !errors.As(err, &ambiguous) || !slices.Equal(ambiguous.Files, []string{"blue/util.c:2", "red/util.c:2"}) {
		t.Errorf("util.c:2: %v", err)
	}
	for name, want := range map[string]string{"red/util.c": "red", "blue/util.c": "blue"} {
		if e, err := b.LineEntries(name, 2); err != nil || len(e) != 1 || e[0].Func != want {
			t.Errorf("%s:2: %+v, %v", name, e, err)
		}
	}
	if e, err := b.LineEntries("util.c", 6); err != nil || len(e) != 1 || e[0].Func != "more" {
		t.Errorf("util.c:6: %+v, %v", e, err)
	}
	var missing *NotFound
	if _, err := b.LineEntries("main.c", 77); !errors.As(err, &missing) || !slices.Contains(missing.Near, "main.c:2") {
		t.Errorf("main.c:77: %v", err)
	}
	if _, err := b.LineEntries("mian.c", 2); !errors.As(err, &missing) || !slices.Contains(missing.Near, "main.c") {
		t.Errorf("mian.c:2: %v", err)
	}
}

// TestLineEntriesForms finds a header's line in each function into which it was inlined, with several forms of
// debug information.
func TestLineEntriesForms(t *testing.T) {
	sources := map[string]string{
		"shared.h": "int work(int);\nstatic inline int twice(int x) {\n  return work(x) * 2;\n}\n",
		"one.c":    "#include \"shared.h\"\nint one(int x) { return twice(x) + 1; }\n",
		"two.c":    "#include \"shared.h\"\nint two(int x) { return twice(x + 1) + twice(x); }\n",
		"main.c": "int one(int), two(int);\n" +
			"__attribute__((noinline)) int work(int x) { __asm__(\"\" : \"+r\"(x)); return x; }\n" +
			"int main(int n, char **v) { return one(n) + two(n) + !v; }\n",
	}
	for _, flags := range [][]string{
		{"gcc", "-g", "-O2"}, {"gcc", "-gdwarf-4", "-O2"}, {"gcc", "-gdwarf-3", "-gstrict-dwarf", "-O2"},
		{"gcc", "-g", "-gz", "-O2"}, {"clang", "-g", "-O2"}, {"clang", "-gdwarf-4", "-O2"},
		{"gcc", "-g", "-O2", "-ffunction-sections", "-Wl,--gc-sections"},
	} {
		b := open(t, compileFiles(t, sources, flags...))
		e, err := b.LineEntries("shared.h", 3)
		if err != nil || len(e) != 3 {
			t.Errorf("%v: %+v, %v", flags, e, err)
			continue
		}
		in := map[string]int{}
		for _, x := range e {
			in[x.Func]++
			if x.Size == 0 || x.Entry && x.Size < 5 {
				t.Errorf("%v: %+v", flags, x)
			}
		}
		if in["one"] != 1 || in["two"] != 2 {
			t.Errorf("%v: %v", flags, in)
		}
	}
}

// TestReturnLines finds the lines on which a Go function returns.
func TestReturnLines(t *testing.T) {
	b := open(t, build(t, "goprog", "go", "build"))
	funcs, err := b.Functions("main.(*T).Get")
	if err != nil || len(funcs) != 1 {
		t.Fatal(funcs, err)
	}
	if !b.IsGoCode(funcs[0].FileOffset) {
		t.Error("main.(*T).Get is not Go")
	}
	lines := b.ReturnLines(funcs[0])
	if len(lines) == 0 || !strings.HasPrefix(lines[0], "main.go:") {
		t.Errorf("returns on %v", lines)
	}
	if c := open(t, build(t, "inline.c", "gcc", "-g", "-O1")); c.IsGoCode(0x1139) {
		t.Error("a C program is Go")
	}
}

// TestAssemblyLines finds lines of assembly, which is in no function of the debug information.
func TestAssemblyLines(t *testing.T) {
	const text = ".globl f\n.type f, @function\nf:\n\tnop\n\tpush %rbx\n\tpop %rbx\n\tret\n.size f, .-f\n" +
		".globl main\n.type main, @function\nmain:\n\tcall f\n\txor %eax, %eax\n\tret\n.size main, .-main\n" +
		".section .note.GNU-stack,\"\"\n"
	// DWARF 4: in DWARF 5 newer assemblers describe the functions.
	b := open(t, compileFiles(t, map[string]string{"f.s": text}, "gcc", "-Wa,-gdwarf-4", compiled.Src+"f.s"))
	for line, in := range map[int]string{4: "f", 5: "f", 12: "main", 14: "main"} {
		if e, err := b.LineEntries("f.s", line); err != nil || len(e) != 1 {
			t.Errorf("line %d: %+v, %v", line, e, err)
		} else if frames, err := b.Frames(e[0].FileOffset); err != nil || len(frames) == 0 ||
			frames[0].Line != line || frames[0].Func != in {
			t.Errorf("line %d: leads to %+v, %v", line, frames, err)
		}
	}
}
