package symbol

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"whatif/internal/symbol/dwarf"
)

// Binary is an open ELF file: an executable or a shared library.
type Binary struct {
	path  string
	image []byte // the file, mapped read-only
	elf   *elf.File

	mu       sync.Mutex // guards what is read lazily, below
	closed   bool
	debug    *dwarf.Data
	touched  uint64 // bytes of the image that were read and not let go of
	symbols  *symbols
	names    map[string]names // demangled already
	ownLines *bool            // whether the program itself was compiled with -g
}

// errClosed is what use after Close gives.
var errClosed = errors.New("binary is closed")

// Open opens the ELF file at path and reads its headers.
func Open(path string) (b *Binary, err error) {
	doing := "opening " + path
	image, err := mapFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	defer func() {
		if err != nil {
			syscall.Munmap(image)
		}
	}()
	defer guard(doing, &err)()
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	if f.Type != elf.ET_EXEC && f.Type != elf.ET_DYN {
		return nil, fmt.Errorf("%s: not an executable or a shared library, but %v", doing, f.Type)
	}
	if f.Data != elf.ELFDATA2LSB {
		return nil, fmt.Errorf("%s: big-endian binaries are not supported", doing)
	}
	return &Binary{path: path, image: image, elf: f}, nil
}

// mapFile maps a file read-only, so that of a gigabyte of debug information
// only what is looked at takes memory.
func mapFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, errors.Unwrap(err) // the caller names the path
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() == 0 {
		return nil, errors.New("not a regular file with contents")
	}
	return syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_PRIVATE)
}

// Close releases the file. The Binary gives only errors after it.
func (b *Binary) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	b.closed, b.debug, b.symbols, b.names = true, nil, nil, nil
	if err := syscall.Munmap(b.image); err != nil {
		return fmt.Errorf("closing %s: %w", b.path, err)
	}
	return nil
}

// Path is the path that Open was given.
func (b *Binary) Path() string { return b.path }

// Machine is the processor that the code is for.
func (b *Binary) Machine() elf.Machine { return b.elf.Machine }

// IsGo reports whether Go's linker made the binary.
func (b *Binary) IsGo() bool {
	for _, name := range []string{".gopclntab", ".go.buildinfo", ".note.go.buildid"} {
		if b.elf.Section(name) != nil {
			return true
		}
	}
	return false
}

// HasDebugInfo reports whether the binary holds DWARF lines and functions.
func (b *Binary) HasDebugInfo() bool {
	return b.sectionOf("info") != nil && b.sectionOf("line") != nil
}

// HasSymbols reports whether the binary has a full symbol table. Without one
// only what it exports has a name.
func (b *Binary) HasSymbols() bool {
	s := b.elf.SectionByType(elf.SHT_SYMTAB)
	return s != nil && s.FileSize > 0
}
