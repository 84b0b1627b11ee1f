package probes

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"whatif/internal/code/symbol"
	"whatif/internal/ledger"
	"whatif/internal/testing/hostile"
)

func buildGoSleep(t *testing.T, flags string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "gosleep")
	build := exec.Command("go", "build", flags, "-o", program, "../../../test/testdata/gosleep")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// The probes are where time.Sleep has its argument and its caller's frame, and where it returns.
func TestSleepProbes(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("knows the instructions of x86-64")
	}
	for _, flags := range []string{"-ldflags=", "-ldflags=-s -w"} {
		b, err := symbol.Open(buildGoSleep(t, flags))
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if b.Machine() != elf.EM_X86_64 {
			t.Fatal(b.Machine())
		}
		begins, ends := probesOn(b, goSleep, ledger.Sleeps), sleepEnds(b)
		if len(begins) != 1 || len(ends) == 0 {
			t.Fatalf("%q: %d begins, %d ends", flags, len(begins), len(ends))
		}
		const push, ret = 0x55, 0xc3 // push rbp: behind the check of the stack
		if code := b.Code(begins[0].Offset, 1); code[0] != push || begins[0].Cost != ledger.Emulated {
			t.Errorf("%q: begins with % x, cost %v", flags, code, begins[0].Cost)
		}
		for _, p := range ends {
			if code := b.Code(p.Offset, 1); code[0] != ret || p.Cost != ledger.Stepped {
				t.Errorf("%q: ends with % x, cost %v", flags, code, p.Cost)
			}
		}
	}
}

// Of the functions of Go's runtime that are probed this Go has all, of the two for a system call that took long one.
// The probes are where the kernel needs no single step: in a virtual machine that takes ten times as long.
func TestHandovers(t *testing.T) {
	b, err := symbol.Open(buildGoSleep(t, "-ldflags="))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	found := map[string]int{}
	for _, h := range goHandovers {
		all := probesOn(b, h.function, h.moment)
		found[h.function] = len(all)
		for _, p := range all {
			if b.Machine() == elf.EM_X86_64 && p.Cost != ledger.Emulated {
				t.Errorf("%s: the probe at %#x costs %v", h.function, p.Offset, p.Cost)
			}
		}
	}
	returned := found["runtime.exitsyscallNoP"] + found["runtime.exitsyscall0"]
	delete(found, "runtime.exitsyscallNoP")
	delete(found, "runtime.exitsyscall0")
	for function, n := range found {
		if n != 1 {
			t.Errorf("%s: %d probes", function, n)
		}
	}
	if returned != 1 {
		t.Errorf("a system call that took long: %d probes", returned)
	}
}

// A program with many functions of the name of one of Go's runtime gets no probes.
func TestManyRuntimeFunctions(t *testing.T) {
	const function = "runtime.execute"
	for _, many := range []int{1, mostProbed + 1} {
		var table []byte
		for i := range many {
			table = hostile.AppendFunction(table, uint64(0x1000+16*i), 16)
		}
		b, err := symbol.Open((&hostile.File{
			Progs: []elf.Prog64{{
				Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_X | elf.PF_R), Filesz: 1 << 20, Memsz: 1 << 20,
			}},
			Sections: []hostile.Section{
				{Name: ".strtab", Type: elf.SHT_STRTAB, Data: []byte("\x00" + function + "\x00")},
				{Name: ".symtab", Type: elf.SHT_SYMTAB, Data: table, Link: ".strtab"},
			},
		}).Write(t))
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if got := probesOn(b, function, ledger.Runs); len(got) != many && many <= mostProbed || len(got) > mostProbed {
			t.Errorf("%d functions: %d probes", many, len(got))
		}
	}
}
