package symbol

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"sync"

	"whatif/internal/code/spinwait"
	"whatif/internal/code/symbol/debugfile"
	"whatif/internal/code/symbol/dwarf"
	"whatif/internal/code/symbol/object"
	"whatif/internal/code/symbol/pclntab"
	"whatif/internal/code/unwind"
	"whatif/internal/openfile"
)

// Binary is an open ELF file: an executable or a shared library.
type Binary struct {
	path  string
	name  string // see Name
	file  *object.File
	image []byte // the file, mapped read-only
	elf   *elf.File
	isGo  bool

	mu        sync.Mutex // guards what is read lazily, below
	closed    bool
	finder    *debugfile.Finder
	separate  *object.File // has the debug information, if the binary does not
	looked    bool         // for separate
	debug     *dwarf.Data
	symbols   *symbols
	names     map[string]names // demangled names
	namesSize int              // in bytes
	ownLines  *bool            // whether the program itself was compiled with -g
	goFuncs   *pclntab.Table   // nil if there is none
	goRead    bool             // goFuncs was searched
	unwinding *unwind.Table
	waits     map[uint64][]spinwait.Span // by the function's address; see waitsIn
	accesses  map[uint64]accesses        // by the function's address; see Access
	yielding  map[spinwait.Callee]bool   // see yields
	linkage   *linkage                   // see linked
}

// errClosed is the error of calls after Close.
var errClosed = errors.New("binary is closed")

// OpenAs opens a file that the processes know by another path, which becomes its Name.
func OpenAs(path, name string) (*Binary, error) {
	b, err := Open(path)
	if err == nil && name != path {
		b.name = name
	}
	return b, err
}

// Open opens the ELF file at path and reads its headers.
func Open(path string) (b *Binary, err error) { return openWith(openfile.Own(), path) }

// openWith is Open with other rights: those of the user that named the path.
func openWith(rights openfile.Rights, path string) (b *Binary, err error) {
	doing := "opening " + path
	defer guard(doing, &err)()
	file, err := object.OpenIn(rights, "", path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	defer func() {
		if err != nil {
			file.Close()
		}
	}()
	f := file.ELF
	if f.Type != elf.ET_EXEC && f.Type != elf.ET_DYN {
		return nil, fmt.Errorf("%s: not an executable or a shared library, but %v", doing, f.Type)
	}
	if f.Data != elf.ELFDATA2LSB {
		return nil, fmt.Errorf("%s: big-endian binaries are not supported", doing)
	}
	b = &Binary{path: path, file: file, image: file.Image, elf: f}
	b.finder = debugfile.New(file, b.fetcher())
	b.name = b.finder.Inside()
	b.isGo = b.madeByGo()
	return b, nil
}

// Close releases the file. Later calls of other methods return errors or nothing.
func (b *Binary) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	b.closed, b.debug, b.symbols, b.names, b.goFuncs = true, nil, nil, nil, nil
	b.finder.Close()
	if err := b.file.Close(); err != nil {
		return fmt.Errorf("closing %s: %w", b.path, err)
	}
	return nil
}

// Path returns the path that Open was given.
func (b *Binary) Path() string { return b.path }

// Name returns the path that the file has, or had, for the processes that map it. Path may lead
// through /proc, for a deleted file or one in a container, and then means nothing to a user.
func (b *Binary) Name() string { return b.name }

// File returns the ELF file, which is valid until Close. It must not be used while a method of the
// Binary runs.
func (b *Binary) File() *object.File { return b.file }

// Owner returns the user id of the file's owner.
func (b *Binary) Owner() uint32 { return b.file.Owner() }

// Opened returns the open file, which is valid until Close. Its path may by now lead to another file.
func (b *Binary) Opened() *os.File { return b.file.Opened() }

// Image returns the mapped file, which is valid until Close.
func (b *Binary) Image() []byte { return b.image }

// Machine returns the processor that the code is for.
func (b *Binary) Machine() elf.Machine { return b.elf.Machine }
