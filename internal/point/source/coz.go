package source

import (
	"bytes"
	"strings"

	"whatif/internal/symbol/object"
)

// cozFunction is what the macros of COZ's coz.h and Rust's coz crate look for in
// the running program, by name.
const cozFunction = "_coz_get_counter\x00"

// AsksForCoz tells whether a file has COZ's macros: the name is among its
// constants, or among those that it asks the dynamic linker for.
func AsksForCoz(f *object.File) bool {
	for _, s := range f.ELF.Sections {
		if s.Name != ".dynstr" && s.Name != ".data" && !strings.HasPrefix(s.Name, ".rodata") && !strings.HasPrefix(s.Name, ".data.rel.ro") {
			continue
		}
		if bytes.Contains(f.Raw(s), []byte(cozFunction)) {
			return true
		}
	}
	return false
}
