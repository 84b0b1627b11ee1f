package symbol

import "whatif/internal/code/symbol/object"

// guard is object.Guard. Every exported method that reads the file's contents defers it:
//
//	defer guard(doing, &err)()
//
// So a damaged file, or one that shrinks while it is mapped, is an error.
func guard(doing string, err *error) func() { return object.Guard(doing, err) }
