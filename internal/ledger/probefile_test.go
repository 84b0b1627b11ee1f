package ledger

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/target"
	"whatif/internal/testing/realkernel"
)

const probedProgram = `
#include <unistd.h>
volatile unsigned short semaphore __attribute__((section(".probes"))) = 0;
__attribute__((noinline)) int here(int x) { __asm__ volatile("" : "+r"(x)); return x + 1; }
int main(void) { write(1, "x", 1); for (;;) { here(1); usleep(1000); } }
`

// TestProbeIsOnTheOpenFile exchanges the identified file for another one. The probe and its semaphore have to be in the
// identified file all the same, and the other file unchanged.
func TestProbeIsOnTheOpenFile(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("looks for an instruction of x86-64")
	}
	realkernel.Need(t)
	for _, single := range []bool{false, true} {
		t.Run(fmt.Sprintf("single=%v", single), func(t *testing.T) {
			dir := t.TempDir()
			path := func(name string) string { return filepath.Join(dir, name) }
			if err := os.WriteFile(path("p.c"), []byte(probedProgram), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"meant", "other"} {
				gcc := exec.Command("gcc", "-O1", "-static", "-no-pie", "-o", path(name), path("p.c"))
				if text, err := gcc.CombinedOutput(); err != nil {
					t.Skipf("%v: %s", err, text)
				}
			}
			meant, err := os.Open(path("meant"))
			if err != nil {
				t.Fatal(err)
			}
			defer meant.Close()
			here, semaphore := symbolOf(t, path("meant"), "here"), symbolOf(t, path("meant"), "semaphore")
			err = unix.Renameat2(unix.AT_FDCWD, path("meant"), unix.AT_FDCWD, path("other"), unix.RENAME_EXCHANGE)
			if err != nil {
				t.Skip(err)
			}

			l, err := Open(Options{Period: time.Millisecond, Cap: 4 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			l.singly = single
			probes := []Probe{{File: meant, Offset: here.offset, Semaphore: semaphore.offset, Cost: Stepped}}
			if err := l.MeasureProbes(probes, target.OwnCode); err != nil {
				t.Fatal(err)
			}
			if err := l.AttachProbes(0, probes); err != nil {
				t.Fatal(err)
			}
			for name, probed := range map[string]bool{"other": true, "meant": false} { // they have changed names
				code, count := inProcess(t, path(name), here.address, semaphore.address)
				if (code == 0xcc) != probed || (count == 1) != probed {
					t.Errorf("%s: the first byte is %#x, the semaphore %d", name, code, count)
				}
			}
		})
	}
}

type place struct{ address, offset uint64 }

func symbolOf(t *testing.T, path, name string) (p place) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		for _, g := range f.Progs {
			if s.Name == name && g.Type == elf.PT_LOAD && s.Value-g.Vaddr < g.Filesz {
				p = place{s.Value, s.Value - g.Vaddr + g.Off}
			}
		}
	}
	if p.address == 0 {
		t.Fatalf("no %s", name)
	}
	return p
}

// inProcess runs a program, and returns the byte and the short that it has at two addresses.
func inProcess(t *testing.T, path string, code, count uint64) (byte, uint16) {
	t.Helper()
	cmd := exec.Command(path)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	first, two := make([]byte, 1), make([]byte, 2)
	for at, to := range map[uint64][]byte{code: first, count: two} {
		if _, err := memory.ReadAt(to, int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	if bytes.Equal(two, []byte{0, 0}) {
		return first[0], 0
	}
	return first[0], uint16(two[0]) | uint16(two[1])<<8
}
