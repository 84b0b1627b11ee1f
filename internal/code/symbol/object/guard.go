package object

import (
	"fmt"
	"runtime/debug"
)

// Guard turns panics into errors. A function that reads a file's contents defers it:
//
//	defer object.Guard(doing, &err)()
//
// A damaged file may make a parser panic. A file that shrinks while it is mapped makes reading fault, which would end
// the whole process.
func Guard(doing string, err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		switch r := recover(); {
		case r == nil:
		case doing == "":
			*err = fmt.Errorf("damaged file: %v", r)
		default:
			*err = fmt.Errorf("%s: damaged file: %v", doing, r)
		}
	}
}
