package symbol

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// slowest is the time that all questions about one damaged file may take. Package dwarf has its limits in
// steps of work; they are chosen for this time.
const slowest = 5 * time.Second

// interrogate calls all methods on an arbitrary file.
func interrogate(t testing.TB, data []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "binary")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	b, err := Open(path)
	if err != nil {
		return
	}
	defer b.Close()
	b.BuildID()
	b.ContentID()
	b.Origin(true)
	offsets := []uint64{0, 0x1000, 0x1139, 0x1200, uint64(len(data)) / 2}
	for _, p := range b.elf.Progs {
		offsets = append(offsets, p.Off, p.Off+p.Filesz/3, p.Off+p.Filesz/2)
	}
	if funcs, err := b.Functions("main"); err == nil && len(funcs) > 0 {
		offsets = append(offsets, funcs[0].FileOffset, funcs[0].FileOffset+20, funcs[0].FileOffset+60)
	}
	for _, o := range offsets[:min(len(offsets), 40)] {
		b.Frames(o)
		b.SpinWaits(o)
	}
	b.Functions("*a*")
	b.Nearest("mian", 3)
	b.HasFunc("no::such")
	b.CheckLine("small.c", 3)
	for line := 3; line < 6; line++ {
		b.LineEntries("small.c", line)
	}
	b.USDTProbes()
	var all []Func
	b.EachFunc(func(string) bool { return true }, func(f Func, _ bool) bool {
		all = append(all, f)
		return len(all) < 40
	})
	for _, f := range all {
		b.ReturnLines(f)
		b.Returns(f)
	}
	if d := time.Since(began); d > slowest {
		t.Errorf("took %v", d)
	}
}

const smallProgram = `
#include <sched.h>
#include <stdio.h>
volatile int flag;
static inline int twice(int x) { return x + x; }
static int work(int n) { int s = 0; for (int i = 0; i < n; i++) s ^= twice(i) * n; return s; }
int main(int argc, char **argv)
{ while (argc > 9 && !flag) sched_yield(); printf("%d\n", work(argc) + work(argc + 3)); return 0; }
`

// small compiles a small program, which the test damages.
func small(t testing.TB, command ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(compileFiles(t, map[string]string{"small.c": smallProgram}, command...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestDamaged changes a few bytes of real binaries, mostly in parts that are parsed.
func TestDamaged(t *testing.T) {
	rounds := 400
	if testing.Short() {
		rounds = 50
	}
	for _, command := range [][]string{
		{"gcc", "-g", "-O2"}, {"gcc", "-gdwarf-3", "-gstrict-dwarf", "-O2"},
		{"clang", "-g", "-O2"}, {"gcc", "-g", "-gz", "-O2"},
	} {
		whole := small(t, command...)
		rng := rand.New(rand.NewPCG(3, 4))
		for range rounds {
			data := append([]byte{}, whole...)
			switch rng.IntN(4) {
			case 0: // headers
				for range 1 + rng.IntN(4) {
					data[rng.IntN(1024)] = byte(rng.Uint32())
				}
			case 1: // cut short
				data = data[:rng.IntN(len(data))]
			default: // anywhere after the code
				for range 1 + rng.IntN(30) {
					data[len(data)/8+rng.IntN(len(data)*7/8)] = []byte{0, 1, 0x7f, 0x80, 0xff, byte(rng.Uint32())}[rng.IntN(6)]
				}
			}
			interrogate(t, data)
		}
	}
}

// TestShrunk makes a file shorter while it is mapped, as a build does that writes over it. That must be an
// error, and no crash.
func TestShrunk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "binary")
	if err := os.WriteFile(path, small(t, "gcc", "-g", "-O2"), 0o700); err != nil {
		t.Fatal(err)
	}
	b := open(t, path)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Functions("main"); err == nil {
		t.Error("a file of no length still has functions")
	}
	if _, err := b.Frames(0x1080); err == nil {
		t.Error("a file of no length still has lines")
	}
	if code := b.Code(0x1080, 16); code != nil {
		t.Errorf("a file of no length still has code: %x", code)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	if _, err := exec.LookPath("gcc"); err == nil {
		f.Add(small(f, "gcc", "-g", "-O2"))
		f.Add(small(f, "gcc", "-gdwarf-4", "-O2", "-s"))
	}
	f.Fuzz(func(t *testing.T, data []byte) { interrogate(t, data) })
}
