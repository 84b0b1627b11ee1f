package symbol

import (
	"debug/elf"

	"whatif/internal/code/symbol/object"
)

// debugFile returns the file with the binary's debug information: the binary itself, else its separate
// debug file; nil if there is neither.
func (b *Binary) debugFile() *object.File {
	if b.file.Has(".debug_info") {
		return b.file
	}
	return b.separateFile()
}

// separateFile returns the separate debug file, which is searched once; nil if there is none. It may
// have only a symbol table.
func (b *Binary) separateFile() *object.File {
	if !b.looked {
		b.looked = true
		b.separate = b.finder.Separate()
	}
	return b.separate
}

// raw returns a section's bytes in the binary's file.
func (b *Binary) raw(s *elf.Section) []byte { return b.file.Raw(s) }

// HasDebugInfo reports whether DWARF describes the binary's lines and functions, in the binary or in
// a separate file.
func (b *Binary) HasDebugInfo() (has bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	var err error
	defer guard("looking for debug information", &err)()
	return b.hasDebugInfo()
}

func (b *Binary) hasDebugInfo() bool {
	f := b.debugFile()
	return f != nil && f.Has(".debug_info") && f.Has(".debug_line")
}

// Compressed reports whether the debug information must be decompressed before anything can be looked
// up. That takes a while if it is large.
func (b *Binary) Compressed() (yes bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	var err error
	defer guard("looking for debug information", &err)()
	f := b.debugFile()
	return f != nil && f.Compressed(".debug_info")
}

// HasSymbols reports whether all functions of the binary have a name: the binary or a separate file
// has a full symbol table or mini debug information, or the binary has Go's table. Otherwise only
// exported functions have a name.
func (b *Binary) HasSymbols() (has bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	var err error
	defer guard("looking for symbols", &err)()
	return b.hasSymbolTable() || b.goTable() != nil
}

func (b *Binary) hasSymbolTable() bool {
	return b.file.Has(".symtab") || b.separateFile() != nil && b.separate.Has(".symtab") || b.file.Has(".gnu_debugdata")
}
