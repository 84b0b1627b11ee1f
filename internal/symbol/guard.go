package symbol

import (
	"fmt"
	"runtime/debug"
)

// guard stands at the package's boundary: it is deferred by every exported
// method that reads the file's contents. What the parsers (the standard
// library's and the demangler's too) do not expect of a damaged file becomes an
// error, and so does a fault when the file shrinks while it is mapped.
//
// Use: defer guard(doing, &err)().
func guard(doing string, err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		if r := recover(); r != nil {
			*err = fmt.Errorf("%s: damaged file: %v", doing, r)
		}
	}
}
