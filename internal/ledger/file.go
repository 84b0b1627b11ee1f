package ledger

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/cilium/ebpf"

	"whatif/bpf"
)

// File is the identity of a file for the kernel, whatever path led to it: what its mappings refer to, and what probes
// are set on. On btrfs, and on overlayfs where two containers have an image in common, stat gives another one.
type File struct {
	Dev   uint32
	Inode uint64
}

// fileOf is the file that a place is in.
func fileOf(p Place) File { return File{p.Dev, p.Inode} }

// File is the file that the event is about. It is zero if the file is not known.
func (e Event) File() File { return fileOf(e.Place) }

// Identify returns the file of which image is a mapping in this process.
func (k *knownCode) Identify(image []byte) (File, error) {
	program, err := k.programs.get("identify")
	if err != nil {
		return File{}, err
	}
	return IdentifyBy(program, image)
}

// IdentifyBy is Identify with the program of the kernel side that does it.
func IdentifyBy(program *ebpf.Program, image []byte) (_ File, err error) {
	const (
		attempts = 1000
		busy     = ^uint32(16) + 1 // EBUSY: another thread of this process changes its mappings
	)
	status := uint32(busy)
	for i := 0; i < attempts && status == busy; i++ {
		question := bpf.LedgerEvent{Address: uint64(uintptr(unsafe.Pointer(unsafe.SliceData(image))))}
		if status, err = program.Run(&ebpf.RunOptions{Context: question, ContextOut: &question}); err != nil {
			return File{}, fmt.Errorf("asking the kernel which file is mapped: %w", err)
		}
		if status == 0 && question.Place.Inode != 0 {
			return fileOf(question.Place), nil
		}
		runtime.Gosched()
	}
	return File{}, fmt.Errorf("asking the kernel which file is mapped: status %d", int32(status))
}
