package symbol

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"

	"whatif/internal/code/symbol/object"
)

// USDTProbe is a site of a static probe: a no-op in a program's code, meant for a tracer's breakpoint.
type USDTProbe struct {
	Provider, Name string
	FileOffset     uint64 // of the no-op
	// Semaphore is the offset of a counter in the program's data, 0 if there is none. The program
	// passes the no-op only while the counter is not zero.
	Semaphore uint64
}

// Owner and kind of SystemTap's notes.
const (
	stapOwner = "stapsdt"
	stapKind  = 3
)

// maxUSDT bounds the sites of one file: hundreds of times what the largest programs have.
const maxUSDT = 1 << 17

// USDTProbes returns the sites of all static probes of the binary, by name. It leaves out wrong notes,
// such as one that leads out of the code.
func (b *Binary) USDTProbes() (probes []USDTProbe, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	doing := "reading the USDT probes of " + b.path
	if b.closed {
		return nil, fmt.Errorf("%s: %w", doing, errClosed)
	}
	defer guard(doing, &err)()
	base := uint64(0)
	if s := b.elf.Section(".stapsdt.base"); s != nil {
		base = s.Addr
	}
	word := 8
	if b.elf.Class == elf.ELFCLASS32 {
		word = 4
	}
	sites := 0
	b.file.EachNote(func(n object.Note) bool {
		if n.Name != stapOwner || n.Kind != stapKind {
			return true
		}
		if p, ok := b.usdtProbe(parseStap(n.Desc, word), base); ok {
			probes = append(probes, p)
		}
		sites++
		return sites < maxUSDT
	})
	slices.SortFunc(probes, func(x, y USDTProbe) int {
		return cmp.Or(
			cmp.Compare(x.Provider, y.Provider), cmp.Compare(x.Name, y.Name), cmp.Compare(x.FileOffset, y.FileOffset))
	})
	// A note is met twice: in its section and in its segment.
	return slices.CompactFunc(probes, func(x, y USDTProbe) bool {
		return x.Provider == y.Provider && x.Name == y.Name && x.FileOffset == y.FileOffset
	}), nil
}

// stapNote has the contents of a note. The addresses are those at link time.
type stapNote struct {
	pc, base, semaphore uint64
	provider, name      string
}

// parseStap reads a note's description. Missing parts are zero.
func parseStap(desc []byte, word int) (n stapNote) {
	if len(desc) < 3*word {
		return n
	}
	get := func(i int) uint64 {
		if word == 4 {
			return uint64(binary.LittleEndian.Uint32(desc[4*i:]))
		}
		return binary.LittleEndian.Uint64(desc[8*i:])
	}
	n.pc, n.base, n.semaphore = get(0), get(1), get(2)
	provider, rest, ok := bytes.Cut(desc[3*word:], []byte{0})
	if !ok {
		return stapNote{}
	}
	name, _, ok := bytes.Cut(rest, []byte{0})
	if !ok {
		return stapNote{}
	}
	n.provider, n.name = string(provider), string(name)
	return n
}

// usdtProbe returns the probe of a note, false if the note is wrong.
func (b *Binary) usdtProbe(n stapNote, base uint64) (p USDTProbe, ok bool) {
	if !plainWord(n.provider) || !plainWord(n.name) {
		return p, false
	}
	// prelink moves code, but does not change notes. The distance is that between the address of
	// .stapsdt.base and its copy in the note.
	moved := uint64(0)
	if base != 0 && n.base != 0 {
		moved = base - n.base
	}
	p = USDTProbe{Provider: n.provider, Name: n.name}
	if p.FileOffset, ok = b.segmentOffset(n.pc+moved, elf.PF_X); !ok {
		return p, false
	}
	if n.semaphore != 0 {
		// A probe with a wrong semaphore would never be passed.
		if p.Semaphore, ok = b.segmentOffset(n.semaphore+moved, elf.PF_W); !ok {
			return p, false
		}
	}
	return p, true
}

// segmentOffset returns the file offset of an address that is in a segment with the flag.
func (b *Binary) segmentOffset(addr uint64, flag elf.ProgFlag) (offset uint64, ok bool) {
	for _, p := range b.elf.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&flag != 0 && addr-p.Vaddr < p.Filesz {
			return p.Off + (addr - p.Vaddr), true
		}
	}
	return 0, false
}

// maxProbeName bounds the names of probes and their providers.
const maxProbeName = 256

// plainWord reports whether a name from a file can be printed, and typed on a command line.
func plainWord(s string) bool {
	if s == "" || len(s) > maxProbeName {
		return false
	}
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f || c == ':' || c == '=' {
			return false
		}
	}
	return true
}
