package kernel

import (
	"errors"
	"fmt"
	"os"

	"whatif/internal/code/symbol"
	"whatif/internal/code/symbol/object"
	"whatif/internal/hint"
)

// start is the symbol at the begin of the code. Both the running kernel and its image have it, so it gives the
// distance between them.
const start = "_stext"

// openImage opens vmlinux, checks that it belongs to the running kernel, and computes the distance between them.
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
		return hint.New(fmt.Errorf("%s has no debug information", k.vmlinux),
			"distributions have it in a package of its own, such as linux-image-…-dbg")
	}
	// Without one of the two build ids nothing is compared.
	if notes, readErr := os.ReadFile(k.notes); readErr == nil {
		running, file := object.NotesBuildID(notes), b.BuildID()
		if running != "" && file != "" && running != file {
			return fmt.Errorf("%s is of another kernel: its build id is %s, the running one's is %s",
				k.vmlinux, file, running)
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
