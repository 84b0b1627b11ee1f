package symbol

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sampleSize is the number of addresses of each binary that are compared.
func sampleSize() int {
	if testing.Short() {
		return 2000
	}
	return 10000
}

// representatives are the binaries of make test: each form of tables from each kind of compiler once.
var representatives = []string{
	"c gcc -O2", "c gcc -O2 dwarf 4", "c gcc -O2 dwarf 2", "c gcc -O3 lto", "c gcc -O2 compressed",
	"c gcc -O2 64-bit dwarf", "c clang -O2", "c++ gcc -O2", "rust release", "go",
}

// programs has the binaries on which the answers are checked. forms_test.go has more, whose debug information is
// not simply in the binary.
var programs = []struct {
	name, source string
	command      []string
}{
	{"c gcc -O0", "inline.c", []string{"gcc", "-g", "-O0"}},
	{"c gcc -O2", "inline.c", []string{"gcc", "-g", "-O2"}},
	{"c gcc -O2 dwarf 4", "inline.c", []string{"gcc", "-gdwarf-4", "-O2"}},
	{"c gcc -O2 dwarf 3", "inline.c", []string{"gcc", "-gdwarf-3", "-gstrict-dwarf", "-O2"}},
	{"c gcc -O2 dwarf 2", "inline.c", []string{"gcc", "-gdwarf-2", "-gstrict-dwarf", "-O2"}},
	{"c gcc -O3 lto", "inline.c", []string{"gcc", "-g", "-O3", "-flto"}},
	{"c gcc -O2 sections", "inline.c", []string{"gcc", "-g", "-O2", "-ffunction-sections", "-Wl,--gc-sections"}},
	{"c gcc -O2 compressed", "inline.c", []string{"gcc", "-g", "-gz=zlib", "-O2"}},
	{"c gcc -O2 static", "inline.c", []string{"gcc", "-g", "-O2", "-static"}},
	{"c gcc -O2 64-bit dwarf", "inline.c", []string{"gcc", "-g", "-gdwarf64", "-O2", "-no-pie"}},
	{"c clang -O0", "inline.c", []string{"clang", "-g", "-O0"}},
	{"c clang -O2", "inline.c", []string{"clang", "-g", "-O2"}},
	{"c clang -O2 dwarf 4", "inline.c", []string{"clang", "-gdwarf-4", "-O2"}},
	{"c++ gcc -O2", "stl.cc", []string{"g++", "-g", "-O2", "-std=c++17"}},
	{"c++ clang -O2", "stl.cc", []string{"clang++", "-g", "-O2", "-std=c++17"}},
	{"rust release", "coll.rs", []string{"rustc", "-g", "-O"}},
	{"rust debug", "coll.rs", []string{"rustc", "-g"}},
	{"rust v0 release", "coll.rs", []string{"rustc", "-g", "-O", "-Csymbol-mangling-version=v0"}},
	{"go", "goprog", []string{"go", "build"}},
	{"go pie", "goprog", []string{"go", "build", "-buildmode=pie"}},
	{"go uncompressed", "goprog", []string{"go", "build", "-ldflags=-compressdwarf=false"}},
	{"go unoptimized", "goprog", []string{"go", "build", "-gcflags=-N -l"}},
}

// TestFramesAgainstLLVM compares file, line, function and inline chain with llvm-symbolizer's at random addresses.
// compareChains has the only differences that are allowed.
func TestFramesAgainstLLVM(t *testing.T) {
	symbolizer := oracle(t)
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			if testing.Short() && !slices.Contains(representatives, p.name) {
				t.Skip("left to make test-whole")
			}
			path := build(t, p.source, p.command...)
			b := open(t, path)
			addrs := textAddresses(b, sampleSize())
			want := symbolize(t, symbolizer, path, addrs)
			b.debugData().KeepLineZero = true
			diffs, lines, inlined, ruled := 0, 0, 0, 0
			for i, addr := range addrs {
				if s := want[i].Symbol; len(s) > 0 && s[0].Line > 0 {
					lines++
					inlined += min(1, len(s)-1)
				}
				diff, exact := compareChains(b, addr, want[i])
				if diff == "" {
					if !exact {
						ruled++
					}
					continue
				}
				if diffs++; diffs <= 10 {
					t.Logf("%#x: %s", addr, diff)
				}
			}
			t.Logf("%d addresses, %d with a line, %d inlined; "+
				"the same in every letter %d, by compareChains' rules %d more, %d disagree",
				len(addrs), lines, inlined, len(addrs)-ruled-diffs, ruled, diffs)
			if diffs > 0 {
				t.Errorf("%d of %d addresses disagree for no reason that compareChains knows", diffs, len(addrs))
			}
		})
	}
}

func oracle(t testing.TB) string {
	for _, name := range []string{"llvm-symbolizer", "llvm-symbolizer-19", "llvm-symbolizer-16", "llvm-symbolizer-14"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("llvm-symbolizer is not installed")
	return ""
}

// textAddresses returns random addresses of the .text section, the same ones each time.
func textAddresses(b *Binary, n int) []uint64 {
	rng := rand.New(rand.NewPCG(1, 2))
	s := b.elf.Section(".text")
	addrs := make([]uint64, n)
	for i := range addrs {
		addrs[i] = s.Addr + rng.Uint64N(s.Size)
	}
	return addrs
}

// answer is llvm-symbolizer's output for an address.
type answer struct {
	Symbol []struct {
		FileName, FunctionName string
		Line                   int
	}
}

func symbolize(t testing.TB, symbolizer, path string, addrs []uint64) []answer {
	var in bytes.Buffer
	for _, a := range addrs {
		fmt.Fprintf(&in, "%#x\n", a)
	}
	cmd := exec.Command(symbolizer, "--obj="+path, "--output-style=JSON", "--inlining", "--no-demangle")
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", symbolizer, err)
	}
	answers := make([]answer, 0, len(addrs))
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var a answer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatalf("%s: %v: %s", symbolizer, err, lines.Text())
		}
		answers = append(answers, a)
	}
	if len(answers) != len(addrs) {
		t.Fatalf("%s: %d answers to %d addresses", symbolizer, len(answers), len(addrs))
	}
	return answers
}

// compareChains returns how the binary's answer differs from the oracle's, "" if it does not. exact says that they
// are the same in every letter. These differences are allowed:
//   - no file name, where the oracle's is from the symbol table, or is the compiler's for generated code;
//   - another name of the function in the symbol table (aliases, constructors that share their code);
//   - a name with its namespace and one without, if DWARF has no linkage name;
//   - no frame, where the oracle has one empty frame.
func compareChains(b *Binary, addr uint64, want answer) (diff string, exact bool) {
	got := b.framesAt(addr)
	same := len(got) == len(want.Symbol)
	exact = same
	for i := 0; same && i < len(got); i++ {
		w := want.Symbol[i]
		full := b.cachedNames(w.FunctionName, b.IsGo()).full
		exact = exact && got[i].Line == w.Line && got[i].File == w.FileName && got[i].Func == full
		if path.Base(w.FileName) == generated {
			w.FileName, w.Line = "", 0
		}
		same = got[i].Line == w.Line &&
			(sameFile(got[i].File, w.FileName) || fromSymbol(w.FileName, w.Line)) &&
			(sameFunc(got[i].Func, full) || alias(b, addr, w.FunctionName))
	}
	if len(got) == 0 && len(want.Symbol) == 1 && want.Symbol[0].FunctionName == "" && want.Symbol[0].Line == 0 {
		same = true
	}
	if same {
		return "", exact
	}
	var s strings.Builder
	for _, f := range got {
		s.WriteString("\n\tgot  " + f.Func + " " + f.File + ":" + strconv.Itoa(f.Line))
	}
	for _, f := range want.Symbol {
		s.WriteString("\n\twant " + namesOf(f.FunctionName, b.IsGo()).full + " " + f.FileName + ":" + strconv.Itoa(f.Line))
	}
	return s.String(), false
}

// fromSymbol reports whether the oracle took a file's name from the symbol table (STT_FILE), as it does if the line
// is not known.
func fromSymbol(file string, line int) bool { return line == 0 && !strings.Contains(file, "/") }

func sameFile(got, want string) bool {
	return want == "" && got == "" || got == path.Clean(want)
}

// alias reports whether a name is one of the symbol table's names for the code at an address.
func alias(b *Binary, addr uint64, name string) bool {
	t := b.symbolTable()
	x, ok := t.find(addr)
	if !ok {
		return false
	}
	for _, y := range t.all {
		if y.addr == x.addr && t.name(y) == name {
			return true
		}
	}
	return false
}

func sameFunc(got, full string) bool {
	// Without a linkage name in DWARF, only our name is qualified.
	return got == full || strings.HasSuffix(got, "::"+full)
}
