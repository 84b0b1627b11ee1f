package profile

import (
	"errors"
	"fmt"

	"whatif/internal/hint"
)

// ErrInUse is returned by Append if another process writes to the file. The runs of two writers
// would mix.
var ErrInUse = errors.New("another whatif is writing to it")

// errNoProfile is the error for a file to be appended to that holds something else.
var errNoProfile = hint.New(errors.New("it is not empty, and no profile of whatif"), "choose another file with -o FILE")

// VersionError says that a run was written in a later version of the format than this package
// knows.
type VersionError struct {
	File      string
	Line      int
	Version   int // version of the file
	Supported int // latest version that can be read
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s:%d: profile is version %d, this whatif reads up to %d", e.File, e.Line, e.Version, e.Supported)
}

// DamageError says which line of a file a Writer cannot have written, and why.
type DamageError struct {
	File string
	Line int
	Err  error
}

func (e *DamageError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }
func (e *DamageError) Unwrap() error { return e.Err }
