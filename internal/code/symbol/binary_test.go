package symbol

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, p := range []string{
		filepath.Join(dir, "nothing"), dir, write("empty", ""), write("script", "#!/bin/sh\n"),
		write("cut", "\x7fELF\x02\x01\x01"),
	} {
		b, err := Open(p)
		if err == nil {
			b.Close()
			t.Errorf("%s opened", p)
		} else if strings.Count(err.Error(), p) != 1 || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", p, err)
		}
	}
	if _, err := Open(filepath.Join(dir, "nothing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestClosed(t *testing.T) {
	b, err := Open(build(t, "inline.c", "gcc", "-g", "-O2"))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if _, err := b.Frames(0x1100); err == nil {
		t.Error("frames of a closed binary")
	}
	if _, err := b.Functions("main"); err == nil {
		t.Error("functions of a closed binary")
	}
	if b.BuildID() != "" || b.ContentID() != "" || b.Nearest("main", 3) != nil || b.Imports("printf") {
		t.Error("answers from a closed binary")
	}
}

func TestKindsOfBinary(t *testing.T) {
	c := open(t, build(t, "inline.c", "gcc", "-g", "-O2"))
	stripped := open(t, build(t, "inline.c", "gcc", "-O2", "-s", "-rdynamic"))
	gob := open(t, build(t, "goprog", "go", "build"))
	rust := open(t, build(t, "coll.rs", "rustc", "-g", "-O"))
	for _, x := range []struct {
		b                  *Binary
		isGo, debug, names bool
	}{
		{c, false, true, true}, {stripped, false, false, false}, {gob, true, true, true}, {rust, false, true, true},
	} {
		if x.b.IsGo() != x.isGo || x.b.HasDebugInfo() != x.debug || x.b.HasSymbols() != x.names {
			t.Errorf("%s: go %v, debug info %v, symbols %v", x.b.Path(), x.b.IsGo(), x.b.HasDebugInfo(), x.b.HasSymbols())
		}
	}
	if id := c.BuildID(); len(id) != 40 {
		t.Errorf("build id %q", id)
	}
	if id := gob.BuildID(); id == "" {
		t.Error("a Go binary without a build id")
	}
}

// TestContentID checks that two builds have different ids, also if only a part of the file is read.
func TestContentID(t *testing.T) {
	plain := build(t, "inline.c", "gcc", "-O2", "-Wl,--build-id=none")
	text, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	if id := open(t, plain).BuildID(); id != "" {
		t.Fatalf("build id %q", id)
	}
	dir := t.TempDir()
	id := func(text []byte) string {
		path := filepath.Join(dir, "b")
		if err := os.WriteFile(path, text, 0o700); err != nil {
			t.Fatal(err)
		}
		b, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		return b.ContentID()
	}
	changed := append(bytes.Clone(text[:len(text)-1]), text[len(text)-1]+1)
	if id(text) == "" || id(text) != id(text) || id(text) == id(changed) {
		t.Errorf("%q, changed %q", id(text), id(changed))
	}
	long := append(bytes.Clone(text), make([]byte, 40<<20)...)
	last := append(bytes.Clone(long[:len(long)-1]), 1)
	if id(long) == id(last) || id(long) == id(long[:len(long)-1]) {
		t.Error("of a long file neither the end nor the length tells")
	}
}

// TestStripped looks up addresses of binaries without debug information: only names are known.
func TestStripped(t *testing.T) {
	path := build(t, "inline.c", "gcc", "-O2")
	b := open(t, path)
	funcs, err := b.Functions("main")
	if err != nil || len(funcs) != 1 {
		t.Fatalf("%v, %v", funcs, err)
	}
	frames, err := b.Frames(funcs[0].FileOffset + 8)
	if err != nil || len(frames) != 1 || frames[0] != (Frame{Func: "main", Short: "main"}) {
		t.Errorf("%+v, %v", frames, err)
	}
	// Without a symbol table, exported names remain.
	exported := open(t, build(t, "inline.c", "gcc", "-O2", "-s", "-rdynamic"))
	if funcs, err := exported.Functions("main"); err != nil || len(funcs) != 1 {
		t.Errorf("%v, %v", funcs, err)
	}
	for _, offset := range []uint64{0, 1 << 40, ^uint64(0)} {
		if frames, err := b.Frames(offset); err != nil || len(frames) != 0 {
			t.Errorf("offset %#x: %+v, %v", offset, frames, err)
		}
	}
}

func TestFunctions(t *testing.T) {
	c := open(t, build(t, "inline.c", "gcc", "-g", "-O2"))
	cc := open(t, build(t, "stl.cc", "g++", "-g", "-O2", "-std=c++17"))
	rust := open(t, build(t, "coll.rs", "rustc", "-g", "-O"))
	gob := open(t, build(t, "goprog", "go", "build"))
	for _, x := range []struct {
		b     *Binary
		match string
		count int // -1: some
	}{
		{c, "main", 1}, {c, "insert", 1}, {c, "by_arg", 1}, {c, "clamp", 0}, {c, "printf", 0}, {c, "main.cold", -2},
		{cc, "main", 1}, {cc, "shop::Cart::add", 1}, {cc, "shop::Cart::text", -1}, {cc, "shop::Sum<long>::visit", 1},
		{cc, "shop::*", -1}, {cc, "std::*", -1},
		{rust, "coll::main", 1}, {rust, "coll::parse", 1}, {rust, "coll::words::count", -1},
		{gob, "main.main", 1}, {gob, "main.done", 1}, {gob, "main.(*T).Get", -1},
		{gob, "main.Map", 2}, {gob, "main.Map[...]", 2},
		{gob, "runtime.memmove", 1}, {gob, "main.half", 0}, {gob, "net/http.(*Server).Serve", 1},
	} {
		funcs, err := x.b.Functions(x.match)
		if err != nil {
			t.Errorf("%s: %v", x.match, err)
		}
		if x.count >= 0 && len(funcs) != x.count || x.count == -1 && len(funcs) == 0 {
			t.Errorf("%s: %d functions: %+v", x.match, len(funcs), funcs)
		}
		for i, f := range funcs {
			if i > 0 && f.FileOffset <= funcs[i-1].FileOffset {
				t.Errorf("%s: %+v after %+v", x.match, f, funcs[i-1])
			}
			if x.count != -2 && isPartial(f.Symbol) {
				t.Errorf("%s: %s is no entry point", x.match, f.Symbol)
			}
			if strings.Contains(x.match, "*") {
				continue
			}
			// The address of a function that was found by name has that name.
			frames, err := x.b.Frames(f.FileOffset)
			if err != nil || len(frames) == 0 || !MatchFunc(x.match).Frame(frames[len(frames)-1]) {
				t.Errorf("%s: its entry is in %+v, %v", x.match, frames, err)
			}
		}
	}
	if !c.Imports("calloc") || c.Imports("insert") {
		t.Error("calloc is imported, insert is not")
	}
	for name, want := range map[string]bool{"insert": true, "crc_step": true, "mix": true, "no_such": false} {
		if got, err := c.HasFunc(name); err != nil || got != want {
			t.Errorf("HasFunc(%s): %v, %v", name, got, err)
		}
	}
	if got, err := gob.HasFunc("main.half"); err != nil || !got {
		t.Errorf("HasFunc(main.half): %v, %v", got, err)
	}
}

// TestClones finds local functions of one name, and the compiler's copies of them.
func TestClones(t *testing.T) {
	dir := t.TempDir()
	src := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	static := `static __attribute__((noipa)) int step(int x) { return x * %; } int NAME(int x) { return step(x); }`
	a := src("a.c", strings.NewReplacer("%", "3", "NAME", "a").Replace(static))
	b := src("b.c", strings.NewReplacer("%", "5", "NAME", "b").Replace(static))
	m := src("m.c", `
int a(int), b(int);
static __attribute__((noinline)) int cloned(int x, int n)
{ int s = 0; for (int i = 0; i < n; i++) s += a(x) ^ i; return s; }
__attribute__((noinline)) int original(int x) { return x + 1; }
int copy(int) __attribute__((alias("original")));
int main(int argc, char **argv) { return cloned(argc, 40) + cloned(b(argc), 40) + original(argc) + copy(argc); }`)
	out := filepath.Join(dir, "clones")
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("gcc is not installed")
	}
	if text, err := exec.Command("gcc", "-O2", "-g", "-o", out, a, b, m).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	bin := open(t, out)
	for name, want := range map[string]int{"step": 2, "cloned": 1, "original": 1, "copy": 1} {
		funcs, err := bin.Functions(name)
		if err != nil || len(funcs) != want {
			t.Errorf("%s: %+v, %v", name, funcs, err)
		}
	}
	if funcs, _ := bin.Functions("cloned"); len(funcs) == 1 && funcs[0].Symbol == "cloned" {
		t.Log("gcc made no clone; the test says less than it should")
	}
	if funcs, _ := bin.Functions("*o*"); len(funcs) < 3 {
		t.Errorf("*o*: %+v", funcs)
	}
}

func TestNearest(t *testing.T) {
	c := open(t, build(t, "inline.c", "gcc", "-g", "-O2"))
	cc := open(t, build(t, "stl.cc", "g++", "-g", "-O2", "-std=c++17"))
	gob := open(t, build(t, "goprog", "go", "build"))
	for _, x := range []struct {
		b          *Binary
		name, want string
	}{
		{c, "isnert", "insert"}, {c, "by_args", "by_arg"}, {c, "INSERT", "insert"},
		{cc, "Cart::add", "shop::Cart::add"}, {cc, "shop::Cart::ad", "shop::Cart::add"}, {cc, "add", "shop::Cart::add"},
		{gob, "done", "main.done"}, {gob, "main.doen", "main.done"}, {gob, "T.Get", "main.(*T).Get"},
	} {
		if near := x.b.Nearest(x.name, 3); !slices.Contains(near, x.want) {
			t.Errorf("%s: %v, not %s", x.name, near, x.want)
		}
	}
	if near := c.Nearest("zzzzqqqq", 3); len(near) != 0 {
		t.Errorf("nothing is near to zzzzqqqq: %v", near)
	}
	if near := c.Nearest("", 3); len(near) != 0 {
		t.Errorf("nothing is near to nothing: %v", near)
	}
}

func TestCheckLine(t *testing.T) {
	source, err := os.ReadFile("testdata/src/inline.c")
	if err != nil {
		t.Fatal(err)
	}
	lineOf := func(text string) int {
		before, _, ok := strings.Cut(string(source), text)
		if !ok {
			t.Fatalf("no %q in the source", text)
		}
		return strings.Count(before, "\n") + 1
	}
	for _, command := range [][]string{{"gcc", "-g", "-O0"}, {"gcc", "-g", "-O2"}, {"clang", "-gdwarf-4", "-O2"}} {
		b := open(t, build(t, "inline.c", command...))
		for _, text := range []string{"crc ^= byte", "sum += a->cell", "return clamp(a * 31", "qsort(code"} {
			for _, file := range []string{"inline.c", "src/inline.c"} {
				if err := b.CheckLine(file, lineOf(text)); err != nil {
					t.Errorf("%v: %s: %v", command, text, err)
				}
			}
		}
		var missing *NotFound
		err = b.CheckLine("inline.c", 2)
		if !errors.As(err, &missing) || len(missing.Near) != 3 || !strings.HasPrefix(missing.Near[0], "inline.c:") {
			t.Errorf("%v: line 2: %v", command, err)
		}
		if err := b.CheckLine("inlin.c", 20); !errors.As(err, &missing) || !slices.Contains(missing.Near, "inline.c") {
			t.Errorf("%v: inlin.c: %v", command, err)
		}
		if err := b.CheckLine("inline.c", 100000); !errors.As(err, &missing) || len(missing.Near) == 0 {
			t.Errorf("%v: line 100000: %v", command, err)
		}
	}
	var missing *NotFound
	b := open(t, build(t, "inline.c", "gcc", "-O2"))
	if err := b.CheckLine("inline.c", 20); !errors.As(err, &missing) || !strings.Contains(missing.Note, "-g") {
		t.Errorf("without debug information: %v", err)
	}
}

// TestReturnAddress finds a call's line one byte before the return address.
func TestReturnAddress(t *testing.T) {
	b := open(t, build(t, "inline.c", "gcc", "-g", "-O0"))
	funcs, err := b.Functions("insert")
	if err != nil || len(funcs) != 1 {
		t.Fatal(funcs, err)
	}
	main, err := b.Functions("main")
	if err != nil || len(main) != 1 {
		t.Fatal(main, err)
	}
	// "call insert" in main: e8 and the distance.
	addr, _ := b.address(main[0].FileOffset)
	target, _ := b.address(funcs[0].FileOffset)
	code := b.bytesAt(addr, main[0].Size)
	for i := 0; i+5 <= len(code); i++ {
		rel := int32(uint32(code[i+1]) | uint32(code[i+2])<<8 | uint32(code[i+3])<<16 | uint32(code[i+4])<<24)
		if code[i] == 0xe8 && addr+uint64(i)+5+uint64(int64(rel)) == target {
			at, err := b.Frames(main[0].FileOffset + uint64(i) + 5 - 1)
			if err != nil || len(at) != 1 || at[0].Short != "main" || at[0].Line == 0 {
				t.Errorf("%+v, %v", at, err)
			}
			call, err := b.Frames(main[0].FileOffset + uint64(i))
			if err != nil || len(call) != 1 || call[0] != at[0] {
				t.Errorf("%+v, but the call is at %+v", at, call)
			}
			return
		}
	}
	t.Error("main does not call insert")
}

func TestSpinWaits(t *testing.T) {
	src, err := filepath.Abs("../spinwait/testdata/spin.c")
	if err != nil {
		t.Fatal(err)
	}
	flags := []string{"gcc", "-g", "-O2", "-shared", "-fPIC", "-fvisibility=hidden"}
	named := open(t, buildFile(t, src, flags...))
	stripped := open(t, buildFile(t, src, append(flags, "-s")...))
	for name, want := range map[string]bool{"wait_load": true, "wait_ttas": true, "work_lcg": false, "work_list": false} {
		funcs, err := named.Functions(name)
		if err != nil || len(funcs) != 1 {
			t.Fatal(name, funcs, err)
		}
		if there, err := stripped.Functions(name); err != nil || len(there) > 0 {
			t.Fatalf("the stripped library has %v, %v", there, err)
		}
		for _, b := range []*Binary{named, stripped} {
			got := false
			for i := uint64(0); i < funcs[0].Size; i++ {
				spins, err := b.SpinWaits(funcs[0].FileOffset + i)
				if err != nil {
					t.Fatal(err)
				}
				got = got || spins
			}
			if got != want {
				t.Errorf("%s of %s: %v", name, b.Path(), got)
			}
		}
	}
}

// TestPollers knows a library's polling function by its name, but not the functions that it calls.
func TestPollers(t *testing.T) {
	src := filepath.Join(t.TempDir(), "poll.c")
	code := "void opal_progress(int (**ask)(void), int n) { for (int i = 0; i < n; i++) if (ask[i]()) return; }\n" +
		"int ask_one(int *there) { return *there; }\n"
	if err := os.WriteFile(src, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	b := open(t, buildFile(t, src, "gcc", "-O2", "-shared", "-fPIC"))
	for name, want := range map[string]bool{"opal_progress": true, "ask_one": false} {
		funcs, err := b.Functions(name)
		if err != nil || len(funcs) != 1 {
			t.Fatal(name, funcs, err)
		}
		for i := uint64(0); i < funcs[0].Size; i++ {
			if got, err := b.SpinWaits(funcs[0].FileOffset + i); err != nil || got != want {
				t.Fatalf("%s+%d: %v, %v", name, i, got, err)
			}
		}
	}
}
