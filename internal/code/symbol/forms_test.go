package symbol

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"whatif/internal/testing/compiled"
)

// form is a way in which debug information comes with a program. It is made from the program that contains
// it, or by compiling with other flags. In both cases the code is the same, so the answers must be the same.
// The oracle of Debian 12 (LLVM 14) cannot read all forms itself.
type form struct {
	name   string
	flags  []string                               // to compile with
	make   func(w *workshop, plain string) string // the program's path
	oracle bool                                   // can read it
}

// post has the forms that tools make of a compiled program.
var post = []form{
	{name: "zlib", make: compressed("zlib-gabi"), oracle: true},
	{name: "zlib, old", make: compressed("zlib-gnu")},
	{name: "zstd", make: compressed("zstd")},
	{name: "debuglink", make: stripped(""), oracle: true},
	{name: "debuglink in .debug", make: stripped(".debug")},
	{name: "debuglink without build id", make: (*workshop).strippedWithoutID},
	{name: "build id", make: (*workshop).installed},
	{name: "dwz", make: (*workshop).dwz},
	{name: "dwz alternate", make: alternate("-m")},
	{name: "dwz alternate, DWARF 5's forms", make: alternate("-5m")},
	{name: "dwz alternate, stripped, zlib", make: (*workshop).distribution},
}

// split has the forms of one split program, each made of the one before it.
var split = []form{
	{name: "split", flags: []string{"-gsplit-dwarf"}, oracle: true},
	{name: "split, moved", make: (*workshop).moved},
	{name: "split, packaged", make: (*workshop).packaged, oracle: true},
}

var typeUnits = []form{
	{name: "type units", flags: []string{"-fdebug-types-section"}},
	{name: "split type units", flags: []string{"-gsplit-dwarf", "-fdebug-types-section"}},
}

// TestForms compares every form of a program's debug information with the oracle and with the plain form.
func TestForms(t *testing.T) {
	symbolizer := oracle(t)
	for _, compiler := range []string{"g++", "clang++"} {
		for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
			for _, level := range []string{"-O0 -no-pie", "-O2", "-O3 -flto"} {
				name := strings.Join([]string{compiler, version, level}, " ")
				if testing.Short() && name != "g++ -gdwarf-5 -O2" {
					continue
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					flags := append([]string{compiler, version}, strings.Fields(level)...)
					plain := compiled.Program(t, os.DirFS("testdata/src/zoo"), nil, append(slices.Clone(flags), "-std=c++17",
						"-Wl,--build-id=sha1", "-o", compiled.Out, compiled.Src+"zoo.cc", compiled.Src+"night.cc")...)
					b := open(t, plain)
					addrs := textAddresses(b, sampleSize())
					checkAgainstOracle(t, symbolizer, plain, b, addrs)
					want := answersOf(b, addrs)
					for _, f := range post {
						t.Run(f.name, func(t *testing.T) {
							w := newWorkshop(t)
							f.check(w, symbolizer, f.make(w, plain), flags, addrs, want)
						})
					}
					// gcc ignores -gsplit-dwarf with -flto; with clang the linker would have to write .dwo files.
					if testing.Short() || strings.Contains(level, "flto") {
						return
					}
					t.Run("split", func(t *testing.T) {
						w := newWorkshop(t)
						var path string
						for _, f := range split {
							t.Run(f.name, func(t *testing.T) {
								w.t = t
								if f.make == nil {
									path = w.compile(plain, slices.Concat(flags, f.flags)...)
									sameCode(t, plain, path)
								} else {
									path = f.make(w, path)
								}
								f.check(w, symbolizer, path, flags, addrs, want)
							})
						}
					})
					if level == "-O2" && name != "g++ -gdwarf-5 -O2" {
						return // compiling takes seconds
					}
					for _, f := range typeUnits {
						t.Run(f.name, func(t *testing.T) {
							w := newWorkshop(t)
							path := w.compile(plain, slices.Concat(flags, f.flags)...)
							sameCode(t, plain, path)
							f.check(w, symbolizer, path, flags, addrs, want)
						})
					}
				})
			}
		}
	}
}

// check compares the answers for a program with those for its plain twin, and some with the oracle's.
func (f form) check(w *workshop, symbolizer, path string, flags []string, addrs []uint64, want [][]Frame) {
	t := w.t
	b := open(t, path)
	if w.global != "" {
		b.finder.Global = []string{w.global}
	}
	if !b.HasDebugInfo() || !b.HasSymbols() {
		t.Fatalf("debug information %v, symbols %v", b.HasDebugInfo(), b.HasSymbols())
	}
	diffs := 0
	for i, got := range answersOf(b, addrs) {
		if !slices.Equal(got, want[i]) {
			if diffs++; diffs <= 3 {
				t.Errorf("%#x:\n\tgot  %v\n\twant %v", addrs[i], got, want[i])
			}
		}
	}
	if diffs > 0 {
		t.Errorf("%d of %d answers are not those of the plain program", diffs, len(addrs))
	}
	if text := b.Missing(); text != "" {
		t.Error(text)
	}
	if f.oracle && slices.Contains(flags, "-O2") && slices.Contains(flags, "-gdwarf-5") {
		checkAgainstOracle(t, symbolizer, path, b, addrs)
	}
}

// checkAgainstOracle compares answers with llvm-symbolizer's.
func checkAgainstOracle(t *testing.T, symbolizer, path string, b *Binary, addrs []uint64) {
	b.debugData().KeepLineZero = true
	diffs, inlined := 0, 0
	for i, want := range symbolize(t, symbolizer, path, addrs) {
		inlined += min(1, max(0, len(want.Symbol)-1))
		if b.file != b.fullSymbols() && want.Symbol[0].FunctionName == "" && want.Symbol[0].Line == 0 {
			continue // LLVM does not look for the symbol table in the separate file
		}
		if diff, _ := compareChains(b, addrs[i], want); diff != "" {
			if diffs++; diffs <= 5 {
				t.Logf("%#x: %s", addrs[i], diff)
			}
		}
	}
	t.Logf("%d addresses, %d inlined, %d disagree", len(addrs), inlined, diffs)
	if diffs > 0 {
		t.Errorf("%d of %d addresses disagree", diffs, len(addrs))
	}
	b.debugData().KeepLineZero = false
}

func answersOf(b *Binary, addrs []uint64) [][]Frame {
	answers := make([][]Frame, len(addrs))
	for i, a := range addrs {
		answers[i] = b.framesAt(a)
	}
	return answers
}

// sameCode checks that two builds have the same code, so that addresses can be compared.
func sameCode(t *testing.T, a, b string) {
	x, y := open(t, a), open(t, b)
	s, u := x.elf.Section(".text"), y.elf.Section(".text")
	if s.Addr != u.Addr || !bytes.Equal(x.raw(s), y.raw(u)) {
		t.Skip("the compiler makes other code with these flags")
	}
}

// workshop is the directory in which one form is made.
type workshop struct {
	t      *testing.T
	dir    string
	global string // directory of debug files, if one was made
	flags  map[string]bool
}

func newWorkshop(t *testing.T) *workshop { return &workshop{t: t, dir: t.TempDir()} }

// run runs a tool in the directory, and skips the test if it is not installed.
func (w *workshop) run(command ...string) {
	w.t.Helper()
	if err := w.attempt(command...); err != nil {
		w.t.Fatalf("%s: %v", strings.Join(command, " "), err)
	}
}

func (w *workshop) attempt(command ...string) error {
	w.t.Helper()
	if _, err := exec.LookPath(command[0]); err != nil {
		w.t.Skipf("%s is not installed", command[0])
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = w.dir
	if text, err := cmd.CombinedOutput(); err != nil {
		w.t.Log(string(text[:min(len(text), 1000)]))
		return err
	}
	return nil
}

func (w *workshop) path(name string) string { return filepath.Join(w.dir, name) }

// compile builds the program from the sources of its plain form.
func (w *workshop) compile(plain string, flags ...string) string {
	w.t.Helper()
	w.flags = map[string]bool{}
	for _, f := range flags {
		w.flags[f] = true
	}
	w.run(append(slices.Clone(flags), "-std=c++17", "-Wl,--build-id=sha1", "-o", "zoo", compiled.Source(plain, "zoo.cc"),
		compiled.Source(plain, "night.cc"))...)
	return w.path("zoo")
}

func (w *workshop) copy(from, to string) string {
	w.t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(w.path(to), data, 0o700)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return w.path(to)
}

func compressed(kind string) func(*workshop, string) string {
	return func(w *workshop, plain string) string {
		if w.attempt("objcopy", "--compress-debug-sections="+kind, plain, "zoo") != nil {
			w.t.Skip("objcopy cannot compress with " + kind)
		}
		return w.path("zoo")
	}
}

// strip separates the program's debug information into a file.
func (w *workshop) strip(plain, debug string, flags ...string) string {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(debug)), 0o700); err != nil {
		w.t.Fatal(err)
	}
	w.run(append(append([]string{"objcopy", "--only-keep-debug"}, flags...), plain, debug)...)
	w.run("objcopy", "--strip-all", "--remove-section=.gnu_debugaltlink", "--remove-section=.debug_sup",
		"--add-gnu-debuglink="+debug, plain, "stripped")
	return w.path("stripped")
}

func stripped(dir string) func(*workshop, string) string {
	return func(w *workshop, plain string) string { return w.strip(plain, filepath.Join(dir, "zoo.debug")) }
}

// strippedWithoutID leaves only the checksum to identify the file.
func (w *workshop) strippedWithoutID(plain string) string {
	w.run("objcopy", "--remove-section=.note.gnu.build-id", plain, "noid")
	return w.strip(w.path("noid"), "zoo.debug")
}

// install moves a debug file to the directory in which distributions have it.
func (w *workshop) install(debug, id string) {
	w.t.Helper()
	w.global = w.path("lib-debug")
	to := filepath.Join(w.global, ".build-id", id[:2], id[2:]+".debug")
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Rename(w.path(debug), to); err != nil {
		w.t.Fatal(err)
	}
}

func (w *workshop) installed(plain string) string {
	path := w.strip(plain, "zoo.debug")
	w.install("zoo.debug", open(w.t, path).BuildID())
	return path
}

// dwz runs dwz, which cannot read all output of compilers.
func (w *workshop) deduplicate(args ...string) {
	w.t.Helper()
	if w.attempt(append([]string{"dwz"}, args...)...) != nil {
		w.t.Skip("dwz cannot read this")
	}
}

func (w *workshop) dwz(plain string) string {
	w.deduplicate("-o", "zoo", plain)
	return w.path("zoo")
}

// alternate makes two copies of the program share one alternate file.
func alternate(how string) func(*workshop, string) string {
	return func(w *workshop, plain string) string {
		one := w.copy(plain, "one")
		w.copy(plain, "two")
		w.deduplicate(how, "shared.dwz", "-r", "one", "two")
		for _, name := range []string{".gnu_debugaltlink", ".debug_sup"} {
			if open(w.t, one).file.Has(name) {
				return one
			}
		}
		w.t.Skip("dwz found nothing to share")
		return ""
	}
}

// distribution makes the form of Debian's packages: a compressed debug file, which is found by build id and
// refers to a file of its package.
func (w *workshop) distribution(plain string) string {
	path := alternate("-m")(w, plain)
	path = w.strip(path, "zoo.debug", "--compress-debug-sections=zlib")
	w.install("zoo.debug", open(w.t, path).BuildID())
	dwz := filepath.Join(w.global, ".dwz")
	if err := os.MkdirAll(dwz, 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Rename(w.path("shared.dwz"), filepath.Join(dwz, "shared.dwz")); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// moved renames the directory in which the program was compiled.
func (w *workshop) moved(program string) string {
	to := w.dir + "-moved"
	if err := os.Rename(w.dir, to); err != nil {
		w.t.Fatal(err)
	}
	w.dir = to
	return w.path("zoo")
}

// packaged leaves only a .dwp file. The dwp of binutils crashes or hangs on DWARF 5, so llvm-dwp is used for
// that.
func (w *workshop) packaged(program string) string {
	all, _ := filepath.Glob(w.path("*.dwo"))
	if len(all) == 0 {
		w.t.Fatal("no .dwo files")
	}
	tool := "dwp"
	if w.flags["-gdwarf-5"] {
		tool = "llvm-dwp"
		if w.flags["g++"] && w.flags["-O0"] {
			w.t.Skip("llvm-dwp 14 does not end on gcc's units without range lists")
		}
	}
	w.run(append([]string{tool, "-o", "zoo.dwp"}, all...)...)
	for _, name := range all {
		os.Remove(name)
	}
	return program
}
