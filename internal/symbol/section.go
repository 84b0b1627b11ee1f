package symbol

import (
	"debug/elf"

	"whatif/internal/symbol/object"
)

// debugFile is the file that has the binary's debug information: itself, else
// its separate debug file, which is looked for once; nil if there is neither.
func (b *Binary) debugFile() *object.File {
	if b.file.Has(".debug_info") {
		return b.file
	}
	return b.separateFile()
}

// separateFile is the file of what was stripped from the binary, nil if none
// is found. It may have a symbol table only.
func (b *Binary) separateFile() *object.File {
	if !b.looked {
		b.looked = true
		b.separate = b.finder.Separate()
	}
	return b.separate
}

// raw is a section's bytes as they are in the binary's file.
func (b *Binary) raw(s *elf.Section) []byte { return b.file.Raw(s) }

// HasDebugInfo reports whether there are DWARF lines and functions for the
// binary, in it or beside it.
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

// Compressed reports whether the debug information has to be decompressed before anything
// can be looked up in it: that takes a while, where it is large.
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

// HasSymbols reports whether all functions of the binary have a name: there is a
// full symbol table, in it or beside it, or Go's. Without one only what it exports
// has a name.
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
