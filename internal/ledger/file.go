package ledger

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/cilium/ebpf"

	"whatif/bpf"
)

// File is a file as the kernel tells them apart, by whatever path it was reached: what
// a mapping of it leads to, and a probe is set on. On overlayfs, where two containers have
// an image in common, and on btrfs that is not what stat says.
type File struct {
	Dev   uint32
	Inode uint64
}

// fileOf is the file that a place is in.
func fileOf(p Place) File { return File{p.Dev, p.Inode} }

// File is the file that the event is about; zero if that is not known.
func (e Event) File() File { return fileOf(e.Place) }

// Identify says which file an image is, that this process has mapped.
func (l *Ledger) Identify(image []byte) (File, error) {
	const (
		attempts = 1000
		busy     = ^uint32(16) + 1 // EBUSY: another thread of this process changes its mappings
	)
	program, err := l.programs.get("identify")
	if err != nil {
		return File{}, err
	}
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
