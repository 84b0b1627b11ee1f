// Package hostile helps tests with files that claim to be large: sparse files, which take no room on the disk, and
// files that compress well. A test makes a File, writes it with Write, and reads it inside Limited, where memory and
// time are limited.
package hostile

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Memory is the limit of data in a limited test, in bytes. Mapped files do not count.
const Memory = 512 << 20

const variable = "WHATIF_LIMITED_TEST"

// patience is how many times as long as its processor time a limited test may take, as others take the processor, too.
const patience = 10

// Limited runs test in a process of its own with little memory and processor time. "Out of memory" is fatal in Go, so
// it cannot be tested in this process.
func Limited(t *testing.T, limit time.Duration, test func(t *testing.T)) {
	t.Helper()
	if os.Getenv(variable) == t.Name() {
		debug.SetMemoryLimit(Memory * 3 / 4) // the rest is for the runtime itself
		if err := unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: Memory, Max: Memory}); err != nil {
			t.Fatal(err)
		}
		seconds := uint64((limit + time.Second - 1) / time.Second)
		if err := unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: seconds, Max: seconds}); err != nil {
			t.Fatal(err)
		}
		test(t)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience*limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run", "^"+regexp.QuoteMeta(t.Name())+"$", "-test.v",
		fmt.Sprintf("-test.short=%v", testing.Short()))
	cmd.Env = append(os.Environ(), variable+"="+t.Name())
	cmd.Dir, _ = os.Getwd()
	text, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		t.Errorf("took more than %v", patience*limit)
	case killed(cmd):
		t.Errorf("took more than %v of processor time", limit)
	case err != nil:
		t.Errorf("with %d MiB: %v\n%s", Memory>>20, err, text[:min(len(text), 2000)])
	case bytes.Contains(text, []byte("--- SKIP")):
		t.Skipf("%s", text)
	}
}

// killed tells whether a program has ended by SIGKILL, as at the limit of its processor time.
func killed(cmd *exec.Cmd) bool {
	if cmd.ProcessState == nil { // it was never started
		return false
	}
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// Section is a section of an ELF file.
type Section struct {
	Name  string
	Type  elf.SectionType
	Flags elf.SectionFlag
	Addr  uint64
	Data  []byte
	Hole  uint64 // bytes of zeros after Data, which take no room on the disk
	Link  string // the name of another section
}

// File is an ELF file of 64 bits, little-endian.
type File struct {
	Type     elf.Type
	Sections []Section
	Progs    []elf.Prog64
	// Same is a program header that is repeated Times times after Progs.
	Same  elf.Prog64
	Times int
	// Claim is the number of sections that section 0 claims. Their headers are zeros in a hole.
	Claim uint64
}

// AppendFunction adds a function to the contents of a .symtab. Its name is at offset 1 of the string table.
func AppendFunction(symtab []byte, addr, size uint64) []byte {
	symtab = binary.LittleEndian.AppendUint32(symtab, 1)
	symtab = append(symtab, byte(elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC)), 0, 1, 0)
	symtab = binary.LittleEndian.AppendUint64(symtab, addr)
	return binary.LittleEndian.AppendUint64(symtab, size)
}

// Write writes the file into a temporary directory, and returns its path.
func (f *File) Write(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hostile")
	out, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	put := func(at uint64, v any) {
		var b bytes.Buffer
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
		if _, err := out.WriteAt(b.Bytes(), int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	h := elf.Header64{
		Type: uint16(cmp.Or(f.Type, elf.ET_EXEC)), Machine: uint16(elf.EM_X86_64), Version: 1,
		Ehsize: 64, Phentsize: 56, Shentsize: 64,
	}
	copy(h.Ident[:], elf.ELFMAG+"\x02\x01\x01")
	progs := append([]elf.Prog64{}, f.Progs...)
	for range f.Times {
		progs = append(progs, f.Same)
	}
	h.Phnum, h.Phoff = uint16(len(progs)), 64
	at := uint64(64)
	put(at, progs)
	at += uint64(56 * len(progs))
	names, headers := []byte{0}, []elf.Section64{{}}
	index := map[string]uint32{}
	for i, s := range f.Sections {
		index[s.Name] = uint32(i + 1)
	}
	for _, s := range f.Sections {
		at = (at + 15) &^ 15
		headers = append(headers, elf.Section64{
			Name: uint32(len(names)), Type: uint32(s.Type), Flags: uint64(s.Flags), Addr: s.Addr, Off: at,
			Size: uint64(len(s.Data)) + s.Hole, Link: index[s.Link], Addralign: 1,
		})
		names = append(append(names, s.Name...), 0)
		put(at, s.Data)
		at += uint64(len(s.Data)) + s.Hole
	}
	headers = append(headers, elf.Section64{Name: 0, Type: uint32(elf.SHT_STRTAB), Off: at, Size: uint64(len(names))})
	h.Shstrndx = uint16(len(headers) - 1)
	put(at, names)
	at += uint64(len(names))
	h.Shnum, h.Shoff = uint16(len(headers)), at
	if f.Claim > 0 {
		h.Shnum, h.Shstrndx, headers[0].Size = 0, 0, f.Claim
	}
	put(at, headers)
	if err := out.Truncate(int64(at + 64*max(uint64(len(headers)), f.Claim))); err != nil {
		t.Skip(err) // a file system without sparse files
	}
	put(0, h)
	return path
}

// Packed makes the contents of a compressed section: a header that claims size bytes, and stream.
func Packed(kind elf.CompressionType, size uint64, stream []byte) []byte {
	head := binary.LittleEndian.AppendUint32(nil, uint32(kind))
	head = binary.LittleEndian.AppendUint32(head, 0)
	head = binary.LittleEndian.AppendUint64(head, size)
	return append(binary.LittleEndian.AppendUint64(head, 1), stream...)
}
