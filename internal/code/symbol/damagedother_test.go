package symbol

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestDamagedOther changes bytes of the files to which a binary's debug information refers.
func TestDamagedOther(t *testing.T) {
	for _, c := range []struct {
		name, file string
		flags      []string
		make       func(w *workshop)
	}{
		{".dwo, DWARF 4", "*.dwo", []string{"-gdwarf-4", "-gsplit-dwarf"}, func(*workshop) {}},
		{".dwo, DWARF 5", "*.dwo", []string{"-gdwarf-5", "-gsplit-dwarf"}, func(*workshop) {}},
		{".dwp", "*.dwp", []string{"-gdwarf-4", "-gsplit-dwarf"}, func(w *workshop) {
			w.run("dwp", "-o", "small.dwp", w.dwo())
			os.Remove(w.dwo())
		}},
		{"alternate", "shared.dwz", []string{"-g"}, func(w *workshop) {
			w.copy(w.path("small"), "two")
			w.deduplicate("-L", "none", "-m", "shared.dwz", "small", "two")
		}},
		{"separate", "small.debug", []string{"-g"}, func(w *workshop) {
			w.run("mv", w.strip(w.path("small"), "small.debug"), "small")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := smallAt(t, append(c.flags, "-O2")...)
			c.make(w)
			all, _ := filepath.Glob(w.path(c.file))
			if len(all) != 1 {
				t.Skipf("no %s was made", c.file)
			}
			whole, err := os.ReadFile(all[0])
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(5, 6))
			rounds := 100
			if testing.Short() {
				rounds = 30
			}
			for range rounds {
				data := append([]byte{}, whole...)
				for range 1 + rng.IntN(20) {
					data[rng.IntN(len(data))] = []byte{0, 1, 0x7f, 0x80, 0xff, byte(rng.Uint32())}[rng.IntN(6)]
				}
				if rng.IntN(4) == 0 {
					data = data[:rng.IntN(len(data))]
				}
				if err := os.WriteFile(all[0], data, 0o600); err != nil {
					t.Fatal(err)
				}
				askAll(t, w.path("small"))
			}
		})
	}
}

// askAll reads every part of the binary's debug information.
func askAll(t *testing.T, path string) {
	t.Helper()
	began := time.Now()
	b, err := Open(path)
	if err != nil {
		return
	}
	defer b.Close()
	s := b.elf.Section(".text")
	for off := uint64(0); off < s.Size; off += 16 {
		b.Frames(s.Offset + off)
	}
	b.HasFunc("no::such")
	b.CheckLine("small.c", 3)
	b.Origin(true)
	b.Missing()
	if d := time.Since(began); d > slowest {
		t.Errorf("took %v", d)
	}
}
