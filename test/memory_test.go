package test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"testing"
)

// sameCode tells whether the code in a process's memory is that of its file, so that no probe is in it. The program
// must not be position-independent.
func sameCode(t *testing.T, pid int) bool {
	t.Helper()
	f, memory, done := fileAndMemory(t, pid)
	defer done()
	for _, section := range f.Sections {
		if section.Flags&elf.SHF_EXECINSTR == 0 {
			continue
		}
		inFile, err := section.Data()
		if err != nil {
			t.Fatal(err)
		}
		inMemory := make([]byte, section.Size)
		if _, err := memory.ReadAt(inMemory, int64(section.Addr)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(inFile, inMemory) {
			return false
		}
	}
	return true
}

// semaphore is the counter of a static probe in such a program, which tracers keep above zero.
func semaphore(t *testing.T, pid int, name string) uint16 {
	t.Helper()
	f, memory, done := fileAndMemory(t, pid)
	defer done()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == name })
	if i < 0 {
		t.Fatal("no variable ", name)
	}
	var value [2]byte
	if _, err := memory.ReadAt(value[:], int64(symbols[i].Value)); err != nil {
		t.Fatal(err)
	}
	return binary.LittleEndian.Uint16(value[:])
}

// fileAndMemory are a process's program and its memory, until done is called.
func fileAndMemory(t *testing.T, pid int) (f *elf.File, memory *os.File, done func()) {
	t.Helper()
	f, err := elf.Open(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		t.Fatal(err)
	}
	memory, err = os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		f.Close()
		t.Fatal(err)
	}
	return f, memory, func() {
		f.Close()
		memory.Close()
	}
}
