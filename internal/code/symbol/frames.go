package symbol

import (
	"fmt"

	"whatif/internal/code/swift"
	"whatif/internal/code/symbol/dwarf"
)

// Frames returns the code at an offset in the file, innermost first: the instruction's own line and
// function, then, for inlined code, each line at which it was inlined, with the function around it.
//
// Without debug information the frames of Go code come from Go's own table. Other code has one
// frame, named by the symbol table, with line 0. If nothing names the code, the result is empty,
// without an error: linkage stubs, stripped code, offsets that are not loaded.
func (b *Binary) Frames(fileOffset uint64) (frames []Frame, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	doing := fmt.Sprintf("resolving %s+%#x", b.path, fileOffset)
	if b.closed {
		return nil, fmt.Errorf("%s: %w", doing, errClosed)
	}
	defer guard(doing, &err)()
	addr, ok := b.address(fileOffset)
	if !ok {
		return nil, nil
	}
	return b.framesAt(addr), nil
}

func (b *Binary) framesAt(addr uint64) []Frame {
	isGo := b.isGo
	chain := b.debugData().Lookup(addr)
	frames := make([]Frame, 0, len(chain)+1)
	for _, c := range chain {
		frames = append(frames, b.frameOf(c, isGo))
	}
	if n := len(frames); n > 0 && frames[n-1].Func != "" {
		return frames
	}
	if len(frames) == 0 {
		if frames = b.goFrames(addr); len(frames) > 0 {
			return frames
		}
	}
	// There is no debug information, or none that names the function.
	if x, ok := b.symbolTable().find(addr); ok {
		n := b.cachedNames(b.symbols.name(x), isGo)
		if len(frames) == 0 {
			frames = append(frames, Frame{})
		}
		outer := &frames[len(frames)-1]
		outer.Func, outer.Short = n.full, n.short
	}
	return frames
}

// maxNames bounds the demangled names that are kept, maxNamesSize their bytes. The frames of a
// profile have a few hundred names.
const (
	maxNames     = 10_000
	maxNamesSize = 16 << 20
)

// cachedNames is namesOf with a cache: many addresses have the same names.
func (b *Binary) cachedNames(symbol string, isGo bool) names {
	n, ok := b.names[symbol]
	if !ok {
		n = namesOf(symbol, isGo)
		if len(b.names) >= maxNames || b.namesSize >= maxNamesSize || b.names == nil {
			b.names, b.namesSize = map[string]names{}, 0
		}
		b.names[symbol] = n
		b.namesSize += len(symbol) + len(n.full) + len(n.short)
	}
	return n
}

func (b *Binary) frameOf(c dwarf.Call, isGo bool) Frame {
	f := Frame{File: c.File, Line: c.Line}
	if c.DeclFile == c.File {
		f.Decl = c.DeclLine
	}
	if isSwift := swift.Mangled(c.Linkage); isSwift || isMangled(c.Linkage) {
		n := b.cachedNames(c.Linkage, isGo)
		if f.Func, f.Short = n.full, n.short; !isSwift || n.full != c.Linkage || c.Name == "" {
			return f
		}
	}
	f.Func = b.nameWithin(c, isGo)
	if f.Func == "" {
		f.Func = c.Linkage
	}
	if isGo {
		f.Func = goName(f.Func)
	}
	if f.File == generated {
		f.File, f.Line, f.Decl = "", 0, 0
	}
	f.Short = f.Func
	return f
}

// nameWithin is a function's name in DWARF, with the function around the lambda that it is.
func (b *Binary) nameWithin(c dwarf.Call, isGo bool) string {
	if c.Within == "" || c.Name == "" {
		return c.Name
	}
	return b.cachedNames(c.Within, isGo).short + "::" + c.Name
}

// The sections that a look-up of a line needs. Some are needed whole, because they are searched or
// do not state the size of their tables. Of the others the parts of the sampled units are needed.
var (
	neededWhole = []string{
		".debug_abbrev", ".debug_ranges", ".debug_rnglists", ".debug_addr", ".debug_str_offsets", ".debug_aranges",
	}
	neededPartly = []string{".debug_info", ".debug_line", ".debug_str", ".debug_line_str"}
)

// debugData returns the binary's debug information, which is read as far as it is needed.
func (b *Binary) debugData() *dwarf.Data {
	if b.debug == nil {
		f := b.debugFile()
		if f != nil {
			f.Decompress(neededWhole...)
			f.DecompressTogether(neededPartly...)
		}
		b.debug = dwarf.New(debugSections{f}, b.text(), otherFiles{b})
	}
	return b.debug
}
