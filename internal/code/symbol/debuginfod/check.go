package debuginfod

import (
	"errors"
	"fmt"
	"runtime/debug"

	"whatif/internal/code/symbol/object"
)

var errOther = errors.New("the file is of another build id")

// check returns an error for a wrong file: an error page, another build, or a part of the file.
func check(path, id string) (err error) {
	before := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(before)
		if r := recover(); r != nil {
			err = fmt.Errorf("damaged file: %v", r)
		}
	}()
	o, err := object.Open(path)
	if err != nil {
		return err
	}
	defer o.Close()
	if o.BuildID() != id {
		return errOther
	}
	return nil
}
