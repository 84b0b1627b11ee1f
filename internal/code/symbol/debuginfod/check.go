package debuginfod

import (
	"errors"

	"whatif/internal/code/symbol/object"
)

var errOther = errors.New("the file is of another build id")

// check returns an error for a wrong file: an error page, another build, or a part of the file.
func check(path, id string) (err error) {
	defer object.Guard("", &err)()
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
