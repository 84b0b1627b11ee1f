package symbol

import (
	"fmt"
	"runtime/debug"
)

// guard turns panics into errors. Every exported method that reads the file's contents defers it:
//
//	defer guard(doing, &err)()
//
// A damaged file may make a parser panic, also the standard library's or the demangler's. A file that
// shrinks while it is mapped makes reading fault.
func guard(doing string, err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		if r := recover(); r != nil {
			*err = fmt.Errorf("%s: damaged file: %v", doing, r)
		}
	}
}
