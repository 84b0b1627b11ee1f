package debugfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/xi2/xz"

	"whatif/internal/code/symbol/object"
)

const (
	// maxMini bounds decompressed mini debug information. The largest seen has a few megabytes.
	maxMini = 64 << 20
	// maxDict bounds xz's dictionary; "xz -9" needs this size.
	maxDict = 64 << 20
)

// Mini returns the ELF file in .gnu_debugdata, nil if there is none. Fedora leaves it in stripped binaries; it
// has a symbol table of the functions that the binary does not export.
func (f *Finder) Mini() *object.File {
	data := f.binary.Section(".gnu_debugdata")
	if len(data) == 0 {
		return nil
	}
	image, err := unxz(data)
	if err == nil {
		var o *object.File
		if o, err = object.New(f.binary.Path, image); err == nil {
			return f.keep(o)
		}
	}
	f.problem(fmt.Sprintf("reading .gnu_debugdata of %s: %v", f.binary.Path, err))
	return nil
}

var errLong = errors.New("it is too long")

func unxz(data []byte) (image []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			image, err = nil, fmt.Errorf("damaged: %v", r)
		}
	}()
	r, err := xz.NewReader(bytes.NewReader(data), maxDict)
	if err != nil {
		return nil, err
	}
	image, err = io.ReadAll(io.LimitReader(r, maxMini+1))
	if err != nil {
		return nil, err
	}
	if len(image) > maxMini {
		return nil, errLong
	}
	return image, nil
}
