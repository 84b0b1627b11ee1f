package symbol

import (
	"debug/elf"
	"strings"
)

// Origin returns the binary's Origin. executable says whether the binary is the process's main program.
func (b *Binary) Origin(executable bool) Origin {
	o := Origin{Path: b.name, Executable: executable}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return o
	}
	var err error
	defer guard("looking at the main function", &err)()
	if b.ownLines == nil {
		own := b.hasDebugInfo() && (!executable || b.mainHasLines()) || b.goTable() != nil
		b.ownLines = &own
	}
	o.Lines = *b.ownLines
	return o
}

// mainHasLines reports whether the program's main function has lines. Debug information alone does not
// mean that the program was compiled with it: Rust's library brings its own into every binary.
func (b *Binary) mainHasLines() bool {
	t := b.symbolTable()
	for _, x := range t.all {
		if x.kind != elf.STT_FUNC {
			continue
		}
		switch s := t.name(x); {
		case s == "main", s == "main.main", strings.Contains(s, "4main17h"), isMangled(s) && strings.HasSuffix(s, "4main"):
			if chain := b.debugData().Lookup(x.addr); len(chain) > 0 && chain[0].File != "" {
				return true
			}
		}
	}
	return false
}
