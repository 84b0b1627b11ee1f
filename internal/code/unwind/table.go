package unwind

import (
	"compress/zlib"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"sync"

	"bytes"
)

// Table finds the rows of one ELF file. It may be used by several goroutines.
type Table struct {
	arch     *arch
	isGo     bool
	file     *elf.File
	image    []byte
	separate func() []byte

	mu      sync.Mutex
	read    bool
	sources []source // the first that knows an address is used
}

// source is a section with its index.
type source struct {
	section *section
	index   index
}

// New makes the table of an ELF file and its image, which must not change. It reads nothing yet.
// isGo says that Go's linker made the file. If the file has no .debug_frame, separate (if not nil)
// returns the one that was stripped from the file.
func New(f *elf.File, image []byte, isGo bool, separate func() []byte) (*Table, error) {
	a := arches[f.Machine]
	if a == nil || f.Class != elf.ELFCLASS64 || f.Data != elf.ELFDATA2LSB {
		return nil, fmt.Errorf("unwinding %v, %v: not supported", f.Machine, f.Class)
	}
	return &Table{arch: a, isGo: isGo, file: f, image: image, separate: separate}, nil
}

// Rows returns the rows for the code from low up to high, which are addresses of the file. The first
// row is at low. Code without tables has the kind FramePointer. If the tables cannot be
// understood, the kind is Unknown. So the rows are complete even if there is an error, which is the
// first of those met.
func (t *Table) Rows(low, high uint64) ([]Row, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	errs := firstError{t.prepare()}
	p := builder{table: t, left: maxInstructions, err: &errs}
	p.fill(t.sources, low, high)
	p.signals(low, high)
	return p.rows, errs.err
}

// prepare reads the headers of the sections, once; err is what was wrong with them then.
func (t *Table) prepare() (err error) {
	if !t.read {
		t.read = true
		err = t.find()
	}
	return err
}

// Function returns the function around an address. Functions that a compiler has divided are several. A file that was
// stripped has this, too.
func (t *Table) Function(address uint64) (begin, end uint64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.prepare() // what cannot be read is not there
	for _, s := range t.sources {
		if s.index.len() == 0 {
			continue
		}
		_, offset := s.index.at(lastBefore(s.index, address))
		if f, err := s.section.fde(offset); err == nil && f.begin <= address && address < f.end {
			return f.begin, f.end, true
		}
	}
	return 0, 0, false
}

type firstError struct{ err error }

func (e *firstError) keep(err error) {
	if e.err == nil {
		e.err = err
	}
}

// find reads the headers of the sections. Compilers write .eh_frame for use at run time, and
// .debug_frame for debuggers. A Go program has its own functions in .debug_frame, and those of
// linked C code in .eh_frame.
func (t *Table) find() error {
	var errs firstError
	if eh, x, err := t.ehFrame(); err != nil {
		errs.keep(err)
	} else if eh != nil {
		t.sources = append(t.sources, source{eh, x})
	}
	if debug, err := t.debugFrame(); err != nil {
		errs.keep(err)
	} else if debug != nil {
		l, err := debug.list()
		errs.keep(err)
		t.sources = append(t.sources, source{debug, l})
	}
	return errs.err
}

// ehFrame finds .eh_frame: by its header, as the program itself does at run time, else by name.
func (t *Table) ehFrame() (*section, index, error) {
	var errs firstError
	for _, p := range t.file.Progs {
		if p.Type != elf.PT_GNU_EH_FRAME {
			continue
		}
		eh, table, err := readHeader(t.loaded(p.Vaddr, p.Filesz), p.Vaddr)
		if err != nil {
			errs.keep(err)
			continue
		}
		s := &section{data: t.loaded(eh, ^uint64(0)), address: eh}
		if table != nil {
			return s, table, nil
		}
		l, err := s.list()
		return s, l, err
	}
	if h := t.file.Section(".eh_frame"); h != nil && h.Type != elf.SHT_NOBITS {
		s := &section{data: t.contents(h), address: h.Addr}
		l, err := s.list()
		return s, l, err
	}
	return nil, nil, errs.err
}

// loaded returns up to n bytes of the file that are loaded at an address.
func (t *Table) loaded(address, n uint64) []byte {
	for _, p := range t.file.Progs {
		at := address - p.Vaddr
		if p.Type != elf.PT_LOAD || at >= p.Filesz || p.Off > uint64(len(t.image)) {
			continue
		}
		segment := t.image[p.Off:]
		segment = segment[:min(p.Filesz, uint64(len(segment)))]
		if at > uint64(len(segment)) {
			continue
		}
		return segment[at : at+min(n, uint64(len(segment))-at)]
	}
	return nil
}

// maxDebugFrame bounds the size of the section when unpacked, because its index needs all of it.
const maxDebugFrame = 64 << 20

func (t *Table) debugFrame() (*section, error) {
	h := t.file.Section(".debug_frame")
	if h == nil {
		h = t.file.Section(".zdebug_frame")
	}
	if h == nil || h.Type == elf.SHT_NOBITS {
		return t.separateDebugFrame()
	}
	data, err := t.unpacked(h)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", h.Name, err)
	}
	return &section{data: data, debug: true}, nil
}

func (t *Table) separateDebugFrame() (*section, error) {
	if t.separate == nil {
		return nil, nil
	}
	data := t.separate()
	switch {
	case len(data) == 0:
		return nil, nil
	case len(data) > maxDebugFrame:
		return nil, fmt.Errorf("reading .debug_frame of the separate debug information: more than %d MiB", maxDebugFrame>>20)
	}
	return &section{data: data, debug: true}, nil
}

func (t *Table) unpacked(h *elf.Section) ([]byte, error) {
	raw := t.contents(h)
	var r io.Reader
	switch {
	case len(raw) > maxDebugFrame && (h.Flags&elf.SHF_COMPRESSED != 0 || h.Name[1] == 'z'):
		return nil, errors.New("too large") // unpacked it would be larger still
	case h.Flags&elf.SHF_COMPRESSED != 0:
		r = h.Open()
	case h.Name[1] == 'z':
		if len(raw) < 12 {
			return nil, errTruncated
		}
		z, err := zlib.NewReader(bytes.NewReader(raw[12:]))
		if err != nil {
			return nil, err
		}
		r = z
	default:
		return raw, nil
	}
	data, err := io.ReadAll(io.LimitReader(r, maxDebugFrame+1))
	if err == nil && len(data) > maxDebugFrame {
		err = errors.New("too large")
	}
	return data, err
}

// contents returns a section's bytes in the file.
func (t *Table) contents(h *elf.Section) []byte {
	if h.Offset > uint64(len(t.image)) {
		return nil
	}
	data := t.image[h.Offset:]
	return data[:min(h.FileSize, uint64(len(data)))]
}
