package symbol

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// usdtProgram has probes by test/testdata/usdt.h.
const usdtProgram = `
#include "usdt.h"
USDT_SEMAPHORE(shop, enabled);
__attribute__((noinline)) void sell(int n) {
  if (n > 1) USDT(shop, sold);
  if (n > 2) USDT(shop, sold);
  USDT_IF_ENABLED(shop, enabled);
}
int main(int n, char **v) { sell(n); return !v; }
`

func usdtBinary(t *testing.T, flags ...string) string {
	t.Helper()
	header, err := os.ReadFile("../../../test/testdata/usdt.h")
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]string{"usdt.h": string(header), "main.c": usdtProgram}
	return compileFiles(t, sources, append([]string{"gcc", "-O1", "-g"}, flags...)...)
}

func TestUSDTProbes(t *testing.T) {
	for _, flags := range [][]string{{"-pie", "-fPIE"}, {"-no-pie"}, {"-shared", "-fPIC"}} {
		path := usdtBinary(t, flags...)
		b := open(t, path)
		probes, err := b.USDTProbes()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, p := range probes {
			names = append(names, fmt.Sprintf("%s:%s %v", p.Provider, p.Name, p.Semaphore != 0))
			if code := b.Code(p.FileOffset, 1); len(code) != 1 || code[0] != 0x90 {
				t.Errorf("%v: %+v leads to % x, not to a nop", flags, p, code)
			}
			if p.Semaphore == 0 {
				continue
			}
			at, err := b.elf.DynamicSymbols()
			_ = at
			if err != nil && flags[0] == "-shared" {
				t.Error(err)
			}
			s := b.elf.Section(".probes")
			if p.Semaphore < s.Offset || p.Semaphore >= s.Offset+s.Size {
				t.Errorf("%v: a semaphore at %#x, .probes is at %#x", flags, p.Semaphore, s.Offset)
			}
		}
		if want := []string{"shop:enabled true", "shop:sold false", "shop:sold false"}; !slices.Equal(names, want) {
			t.Errorf("%v: %q", flags, names)
		}
	}
}

// note makes a note's description.
func note(pc, base, semaphore uint64, names ...string) []byte {
	var d []byte
	for _, v := range []uint64{pc, base, semaphore} {
		d = binary.LittleEndian.AppendUint64(d, v)
	}
	for _, n := range names {
		d = append(append(d, n...), 0)
	}
	return d
}

// TestUSDTNotes reads notes whose addresses are from before the binary was moved, or are wrong.
func TestUSDTNotes(t *testing.T) {
	b := open(t, usdtBinary(t, "-no-pie"))
	probes, err := b.USDTProbes()
	if err != nil {
		t.Fatal(err)
	}
	pc, _ := b.address(probes[1].FileOffset)
	base := b.elf.Section(".stapsdt.base").Addr
	semaphore := b.elf.Section(".probes").Addr
	const moved = 0x70000000
	for _, c := range []struct {
		what string
		note []byte
		ok   bool
	}{
		{"as it is", note(pc, base, semaphore, "a", "b", ""), true},
		{"moved since", note(pc-moved, base-moved, semaphore-moved, "a", "b", ""), true},
		{"moved the other way", note(pc+moved, base+moved, 0, "a", "b", ""), true},
		{"out of the code", note(semaphore, base, 0, "a", "b", ""), false},
		{"nowhere", note(^uint64(0), base, 0, "a", "b", ""), false},
		{"a semaphore in the code", note(pc, base, pc, "a", "b", ""), false},
		{"control characters", note(pc, base, 0, "a\x1b[2J", "b", ""), false},
		{"no name", note(pc, base, 0, "a", "", ""), false},
		{"a name of two words", note(pc, base, 0, "a", "b c", ""), false},
		{"an endless name", note(pc, base, 0, "a", strings.Repeat("b", 1000), ""), false},
		{"cut off", note(pc, base, 0, "a")[:25], false},
		{"nothing", nil, false},
	} {
		p, ok := b.usdtProbe(parseStap(c.note, 8), base)
		if ok != c.ok || ok && p.FileOffset != probes[1].FileOffset {
			t.Errorf("%s: %+v, %v", c.what, p, ok)
		}
	}
	narrow := []byte("\x07\x00\x00\x00\x08\x00\x00\x00\x09\x00\x00\x00p\x00n\x00\x00")
	if n := parseStap(narrow, 4); n != (stapNote{7, 8, 9, "p", "n"}) {
		t.Errorf("of 32 bits: %+v", n)
	}
}

func FuzzStap(f *testing.F) {
	f.Add(note(1, 2, 3, "a", "b", "c"), true)
	f.Fuzz(func(t *testing.T, desc []byte, long bool) {
		word := 4
		if long {
			word = 8
		}
		n := parseStap(desc, word)
		segment := elf.ProgHeader{Type: elf.PT_LOAD, Flags: elf.PF_X | elf.PF_W, Filesz: 1 << 40}
		b := &Binary{elf: &elf.File{Progs: []*elf.Prog{{ProgHeader: segment}}}}
		if p, ok := b.usdtProbe(n, 0); ok && (!plainWord(p.Name) || !plainWord(p.Provider)) {
			t.Errorf("%+v", p)
		}
	})
}
