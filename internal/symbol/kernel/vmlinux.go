package kernel

import (
	"errors"
	"fmt"
	"os"

	"whatif/internal/hint"
	"whatif/internal/symbol"
	"whatif/internal/symbol/object"
)

// start is the symbol by which the running kernel and its image are laid over
// each other: it begins the code, and both have it.
const start = "_stext"

// openImage opens vmlinux, refuses one of another kernel, and finds out how far
// from it the running kernel lies.
func (k *Kernel) openImage() (err error) {
	b, err := symbol.Open(k.vmlinux)
	if err != nil {
		return hint.New(err, "it must be the uncompressed vmlinux, with debug information, not the image that is booted")
	}
	defer func() {
		if err != nil {
			b.Close()
		}
	}()
	if !b.HasDebugInfo() {
		return hint.New(fmt.Errorf("%s has no debug information", k.vmlinux), "distributions have it in a package of its own, such as linux-image-…-dbg")
	}
	// Where one of the two has no build id nothing can be said.
	if notes, readErr := os.ReadFile(k.notes); readErr == nil {
		running, file := object.NotesBuildID(notes), b.BuildID()
		if running != "" && file != "" && running != file {
			return fmt.Errorf("%s is of another kernel: its build id is %s, the running one's is %s", k.vmlinux, file, running)
		}
	}
	linked, ok := b.Address(start)
	if !ok {
		return fmt.Errorf("%s has no symbol %s", k.vmlinux, start)
	}
	loaded, ok := k.table.Address(start)
	if !ok {
		return errors.New("the running kernel has no symbol " + start)
	}
	k.image, k.slide = b, loaded-linked
	return nil
}
