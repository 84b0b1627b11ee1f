package unwind

import (
	"bufio"
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// open makes the table of a file.
func open(t testing.TB, path string) (*Table, *elf.File) {
	t.Helper()
	image, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		t.Fatal(err)
	}
	table, err := New(f, image, f.Section(".gopclntab") != nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return table, f
}

// readelfRow is a row that readelf prints.
type readelfRow struct {
	address uint64
	cells   map[string]string // by column: CFA, rbp, ra
}

// function has the rows that readelf prints for a function.
type function struct {
	begin, end uint64
	rows       []readelfRow
	signal     bool
}

var (
	fdeLine = regexp.MustCompile(
		`^[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ FDE cie=([0-9a-f]+) pc=([0-9a-f]+)\.\.([0-9a-f]+)$`)
	registerName = regexp.MustCompile(` \([a-z0-9]+\)`) // after its number
	cieLine      = regexp.MustCompile(`^([0-9a-f]+) [0-9a-f]+ [0-9a-f]+ CIE "(.*)" cf=`)
)

// readelf returns all functions in a file's tables, as binutils reads them.
func readelf(t *testing.T, path string) []function {
	t.Helper()
	cmd := exec.Command("readelf", "--debug-dump=frames-interp", "--wide", path)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("needs binutils: %v", err)
	}
	all := parseReadelf(out)
	_ = cmd.Wait() // it fails, after its output, if a separate debug file is missing
	return all
}

func parseReadelf(out io.Reader) []function {
	var all []function
	var f *function
	var columns []string
	start := map[string]map[string]string{} // initial cells, by CIE
	signal := map[string]bool{}
	cie, inCIE := "", false
	flush := func() {
		if f != nil {
			if len(f.rows) == 0 { // readelf prints no row that is the CIE's
				f.rows = []readelfRow{{f.begin, start[cie]}}
			}
			all = append(all, *f)
			f = nil
		}
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := strings.TrimRight(lines.Text(), " ")
		if m := cieLine.FindStringSubmatch(line); m != nil {
			flush()
			cie, inCIE = m[1], true
			signal[cie] = strings.Contains(m[2], "S")
			continue
		}
		if m := fdeLine.FindStringSubmatch(line); m != nil {
			flush()
			inCIE = false
			cie = m[1]
			begin, _ := strconv.ParseUint(m[2], 16, 64)
			end, _ := strconv.ParseUint(m[3], 16, 64)
			f = &function{begin: begin, end: end, signal: signal[cie]}
			continue
		}
		fields := strings.Fields(registerName.ReplaceAllString(line, ""))
		if len(fields) < 2 || fields[1] == "ZERO" {
			continue
		}
		if fields[0] == "LOC" {
			columns = fields
			continue
		}
		address, err := strconv.ParseUint(fields[0], 16, 64)
		if err != nil || len(fields) != len(columns) {
			continue
		}
		cells := map[string]string{}
		for i := 1; i < len(fields); i++ {
			cells[columns[i]] = fields[i]
		}
		if inCIE {
			start[cie] = cells
		} else if f != nil {
			f.rows = append(f.rows, readelfRow{address, cells})
		}
	}
	flush()
	return all
}

var baseNames = map[Base]string{SP: "rsp", FP: "rbp", BX: "rbx"}

var others = map[Base]string{
	Other + 0: "rax", Other + 1: "rdx", Other + 2: "rcx", Other + 4: "rsi", Other + 5: "rdi",
	Other + 8: "r8", Other + 9: "r9", Other + 10: "r10", Other + 11: "r11",
	Other + 12: "r12", Other + 13: "r13", Other + 14: "r14", Other + 15: "r15",
}

// agrees compares a rule with a row. A cell "exp" stands for any expression; other tests check
// expressions.
func agrees(r Rule, f *function, s readelfRow) bool {
	if f.signal {
		return r.Kind == Signal
	}
	if s.cells["ra"] == "u" || s.cells["ra"] == "" {
		return r.Kind == End
	}
	if !strings.HasPrefix(s.cells["ra"], "c") { // in another register, as at one instruction of setcontext
		return r == Rule{}
	}
	if s.cells["CFA"] == "exp" {
		if r == (Rule{}) {
			return true // TestAgainstReadelf bounds their number
		}
		if r.Kind != CFA && r.Kind != CFAAt {
			return false
		}
	} else {
		base := baseNames[r.Base]
		if r.Base >= Other {
			base = others[r.Base]
		}
		if r.Kind != CFA || s.cells["CFA"] != fmt.Sprintf("%s%+d", base, r.Offset) {
			return false
		}
	}
	if s.cells["ra"] != fmt.Sprintf("c%+d", r.RA) {
		return false
	}
	return agreesOn(r.FP, s.cells["rbp"]) && agreesOn(r.BX, s.cells["rbx"])
}

func agreesOn(s Saved, cell string) bool {
	switch {
	case cell == "exp":
		return s.Where != Same
	case cell == "" || cell == "s":
		return s.Where == Same
	case cell == "u": // readelf prints that for undefined registers and for those without an entry
		return s.Where == Same || s.Where == Gone
	case strings.HasPrefix(cell, "c"):
		return s.Where == AtCFA && cell == fmt.Sprintf("c%+d", s.Offset)
	}
	return s.Where == Gone
}

// ruleAt returns the rule at an address.
func ruleAt(rows []Row, address uint64) Rule {
	var r Rule
	for _, row := range rows {
		if row.Address > address {
			break
		}
		r = row.Rule
	}
	return r
}

// TestAgainstReadelf compares all rows of some files with those of binutils.
func TestAgainstReadelf(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	paths := append(systemFiles(t), builtFiles(t)...)
	if len(paths) < 5 {
		t.Fatalf("only %d files to compare", len(paths))
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			table, _ := open(t, path)
			functions := readelf(t, path)
			rows, wrong, unknown := 0, 0, 0
			for i := range functions {
				f := &functions[i]
				if f.begin == f.end {
					continue
				}
				got, err := table.Rows(f.begin, f.end)
				if err != nil {
					t.Errorf("function at %#x: %v", f.begin, err)
				}
				for k, s := range f.rows {
					end := f.end
					if k+1 < len(f.rows) {
						end = f.rows[k+1].address
					}
					if s.address >= end {
						continue // empty: the next row replaces it
					}
					rows++
					for _, address := range []uint64{s.address, end - 1} {
						r := ruleAt(got, address)
						if r.Kind == Unknown {
							unknown++
						}
						if !agrees(r, f, s) {
							if wrong++; wrong <= 10 {
								t.Errorf("%#x: %+v, readelf says %v", address, r, s.cells)
							}
						}
					}
				}
			}
			t.Logf("%d functions, %d rows, %d wrong, %d without a rule", len(functions), rows, wrong, unknown/2)
			if rows == 0 {
				t.Error("nothing compared")
			}
			// OpenSSL's hand-written assembly has six rows that multiply a register, libc two.
			if unknown/2 > 8 {
				t.Errorf("%d rows of %d without a rule", unknown/2, rows)
			}
		})
	}
}

// systemFiles returns some of the system's files, as far as they exist.
func systemFiles(t *testing.T) (paths []string) {
	for _, pattern := range []string{
		"/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libm.so.6", "/lib/x86_64-linux-gnu/libz.so.1",
		"/lib64/ld-linux-x86-64.so.2", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
		"/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "/usr/bin/bash", "/usr/bin/python3",
	} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			paths = append(paths, found...)
		}
	}
	return paths
}

// builtFiles compiles small programs with several compilers.
func builtFiles(t *testing.T) (paths []string) {
	dir := t.TempDir()
	onlyDebug := []string{"-fno-asynchronous-unwind-tables", "-nostartfiles", "-Wl,-e,main", "testdata/shapes.c"}
	for name, command := range map[string][]string{
		"gcc-O0":       {"gcc", "-O0", "testdata/shapes.c"},
		"gcc-O2":       {"gcc", "-O2", "-fomit-frame-pointer", "testdata/shapes.c"},
		"gcc-O3-avx":   {"gcc", "-O3", "-mavx2", "-mstackrealign", "-fomit-frame-pointer", "testdata/shapes.c"},
		"gcc-static":   {"gcc", "-O2", "-static", "testdata/shapes.c"},
		"gcc-no-table": {"gcc", "-O2", "-Wl,--no-eh-frame-hdr", "testdata/shapes.c"},
		"gcc-debug":    append([]string{"gcc", "-O2", "-g"}, onlyDebug...),
		"gcc-debug-z":  append([]string{"gcc", "-O2", "-g", "-gz"}, onlyDebug...),
		"clang-O2":     {"clang", "-O2", "-fomit-frame-pointer", "testdata/shapes.c"},
		"rustc":        {"rustc", "-O", "--edition", "2021", "testdata/shapes.rs"},
	} {
		out := filepath.Join(dir, name)
		if _, err := exec.LookPath(command[0]); err != nil {
			continue
		}
		args := append(command[1:], "-o", out)
		if output, err := exec.Command(command[0], args...).CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", command, err, output)
			continue
		}
		paths = append(paths, out)
	}
	return paths
}
