package symbol

import (
	"bytes"
	"debug/elf"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// large builds a program that links one object file many times, under other names, until its debug
// information has about the size. It does so once for each kind.
var large = struct {
	sync.Mutex
	dirs  []string
	paths map[string]string
}{paths: map[string]string{}}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, dir := range large.dirs {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

func buildLarge(t testing.TB, megabytes int, compiler ...string) string {
	t.Helper()
	large.Lock()
	defer large.Unlock()
	key := fmt.Sprint(megabytes, compiler)
	if p, ok := large.paths[key]; ok {
		return p
	}
	object := build(t, "stl.cc", append(compiler, "-c", "-O2", "-std=c++17")...)
	dir, err := os.MkdirTemp("", "symbol-test")
	if err != nil {
		t.Fatal(err)
	}
	large.dirs = append(large.dirs, dir)
	run := func(command ...string) {
		t.Helper()
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir = dir
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", command, err, text[:min(len(text), 2000)])
		}
	}
	one := debugSize(t, object)
	copies := int(uint64(megabytes) << 20 / one)
	var list, source strings.Builder
	for i := range copies {
		n := strconv.Itoa(i)
		run("objcopy", "--redefine-sym", "main=main_"+n, object, "copy"+n+".o")
		fmt.Fprintf(&list, "copy%d.o\n", i)
		fmt.Fprintf(&source, "int main_%d(int, char **);\n", i)
	}
	source.WriteString("int (*all[])(int, char **) = {")
	for i := range copies {
		fmt.Fprintf(&source, "main_%d,", i)
	}
	source.WriteString("};\nint main(int n, char **v) { return all[n](n, v); }\n")
	for name, text := range map[string]string{"list": list.String(), "all.c": source.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := fmt.Sprintf("large%d", megabytes)
	run("gcc", "-g", "-c", "all.c")
	run("g++", "-fuse-ld=gold", "-o", out, "all.o", "@list")
	copied, _ := filepath.Glob(filepath.Join(dir, "copy*.o"))
	for _, name := range copied {
		os.Remove(name)
	}
	large.paths[key] = filepath.Join(dir, out)
	return large.paths[key]
}

// debugSize returns the size of a file's .debug_ sections.
func debugSize(t testing.TB, path string) (n uint64) {
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, s := range f.Sections {
		if strings.HasPrefix(s.Name, ".debug_") {
			n += s.Size
		}
	}
	return n
}

// resetPeak resets the kernel's record of the process's peak memory.
func resetPeak(b *testing.B) {
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		b.Skip(err)
	}
}

// resident returns a figure of the process's memory, in MiB.
func resident(b *testing.B, field string) float64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := bytes.Cut(data, []byte(field+":"))
	n, err := strconv.Atoi(strings.Fields(string(rest))[0])
	if err != nil {
		b.Fatal(err)
	}
	return float64(n) / 1024
}

// BenchmarkLarge measures a binary with much debug information: the time of the first line in its first or last
// unit, the mean time of a thousand addresses all over it, and the memory.
func BenchmarkLarge(b *testing.B) {
	for _, c := range []struct {
		name      string
		megabytes int
		compiler  []string
		post      func(t testing.TB, path string) string
	}{
		{"200 MB", 300, []string{"g++", "-g"}, nil},
		{"200 MB without aranges", 360, []string{"clang++", "-g"}, nil},
		{"200 MB zlib", 300, []string{"g++", "-g"}, compressLarge("zlib")},
		{"200 MB zstd", 300, []string{"g++", "-g"}, compressLarge("zstd")},
		{"1 GB", 1500, []string{"g++", "-g"}, nil},
		{"1 GB without aranges", 1800, []string{"clang++", "-g"}, nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			path := buildLarge(b, c.megabytes, c.compiler...)
			size := debugSize(b, path)
			if c.post != nil {
				path = c.post(b, path)
			}
			funcs, err := open(b, path).Functions("main_*")
			if err != nil || len(funcs) < 2 {
				b.Fatal(funcs, err)
			}
			firstLine := func(bin *Binary, of Func) time.Duration {
				began := time.Now()
				frames, err := bin.Frames(of.FileOffset + 8)
				if err != nil || len(frames) == 0 || frames[len(frames)-1].Line == 0 {
					b.Fatal(frames, err)
				}
				return time.Since(began)
			}
			resetPeak(b)
			before := resident(b, "VmRSS")
			var first, last, more time.Duration
			for b.Loop() {
				bin, err := Open(path)
				if err != nil {
					b.Fatal(err)
				}
				last += firstLine(bin, funcs[len(funcs)-1])
				bin.Close()
				if bin, err = Open(path); err != nil {
					b.Fatal(err)
				}
				first += firstLine(bin, funcs[0])
				began := time.Now()
				s, rng := bin.elf.Section(".text"), rand.New(rand.NewPCG(1, 2))
				for range 1000 {
					if _, err := bin.Frames(s.Offset + rng.Uint64N(s.Size)); err != nil {
						b.Fatal(err)
					}
				}
				more += time.Since(began)
				bin.Close()
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(first.Milliseconds())/float64(b.N), "ms-first")
			b.ReportMetric(float64(last.Milliseconds())/float64(b.N), "ms-last")
			b.ReportMetric(float64(more.Microseconds())/float64(b.N)/1000, "us/address")
			b.ReportMetric(resident(b, "VmHWM")-before, "MiB-peak")
			b.ReportMetric(float64(size>>20), "MiB-debug")
		})
	}
}

func compressLarge(kind string) func(testing.TB, string) string {
	return func(t testing.TB, path string) string {
		out := path + "." + kind
		if text, err := exec.Command("objcopy", "--compress-debug-sections="+kind, path, out).CombinedOutput(); err != nil {
			t.Skipf("%v: %s", err, text)
		}
		t.Cleanup(func() { os.Remove(out) })
		return out
	}
}
