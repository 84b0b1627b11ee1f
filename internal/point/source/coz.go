package source

import (
	"bytes"
	"strings"

	"whatif/internal/code/symbol/object"
)

// cozFunction is the name of the function that COZ's coz.h and Rust's coz crate look for in the
// running program.
const cozFunction = "_coz_get_counter\x00"

// AsksForCoz reports whether a file has COZ's macros: the function's name is among its constants,
// or among the names for the dynamic linker.
func AsksForCoz(f *object.File) (asks bool) {
	var err error // a damaged file asks for nothing
	defer object.Guard("looking for COZ's macros", &err)()
	left := maxSearched
	for _, s := range f.ELF.Sections {
		named := s.Name == ".dynstr" || s.Name == ".data" ||
			strings.HasPrefix(s.Name, ".rodata") || strings.HasPrefix(s.Name, ".data.rel.ro")
		if !named || left == 0 {
			continue
		}
		data := f.Raw(s)
		data = data[:min(len(data), left)]
		left -= len(data)
		if bytes.Contains(data, []byte(cozFunction)) {
			return true
		}
	}
	return false
}
