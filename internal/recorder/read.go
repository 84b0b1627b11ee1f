package recorder

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"github.com/cilium/ebpf/ringbuf"

	"whatif/bpf"
	"whatif/internal/ledger"
)

// place is a stack that the kernel side has told of, and where in the program it was.
type place struct {
	address, pointer uint64
	frames           []uint64
}

// mostPlaces bounds the stacks that are kept: a program that makes ever new ones must not fill the memory.
const mostPlaces = 1 << 16

// read reads all rings.
func (r *Recorder) read() error {
	var rec ringbuf.Record
	for i, ring := range r.kernel.rings {
		for {
			err := ring.ReadInto(&rec)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				break
			}
			if err != nil {
				return fmt.Errorf("reading the ring of CPU %d: %w", r.kernel.cpus[i], err)
			}
			if err := r.take(rec.RawSample); err != nil {
				return fmt.Errorf("reading the ring of CPU %d: %w", r.kernel.cpus[i], err)
			}
		}
	}
	return nil
}

const recordSize = int(unsafe.Sizeof(record{}))

// take takes one record and what is behind it.
func (r *Recorder) take(raw []byte) error {
	if len(raw) < recordSize {
		return fmt.Errorf("a record has %d bytes", len(raw))
	}
	var rec record
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&rec)), recordSize), raw)
	behind := raw[recordSize:]
	switch bpf.RecordRecordKind(rec.Kind) {
	case bpf.RecordRecordKindRECORD_STACK:
		r.takeStack(&rec, behind)
		return nil
	case bpf.RecordRecordKindRECORD_FILE, bpf.RecordRecordKindRECORD_TABLE:
		var at bpf.RecordRecordPlace
		if len(raw) < int(unsafe.Sizeof(at)) {
			return fmt.Errorf("a place has %d bytes", len(raw))
		}
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&at)), unsafe.Sizeof(at)), raw)
		r.code.ask(question{
			table: rec.Kind == uint8(bpf.RecordRecordKindRECORD_TABLE), number: rec.Extra, process: int(rec.Process),
			place:   ledger.Place{Inode: at.Place.Inode, Offset: at.Place.Offset, Dev: at.Place.Dev},
			address: at.Address,
		})
		return nil
	case bpf.RecordRecordKindRECORD_STATE:
		r.numbers.named(rec.Thread, rec.Process, nameOf(behind))
	case bpf.RecordRecordKindRECORD_FORK:
		r.numbers.forked(rec.Thread, rec.Other, nameOf(behind))
	case bpf.RecordRecordKindRECORD_EXEC:
		r.numbers.execed(rec.Thread, rec.Process, nameOf(behind))
	}
	if r.open {
		r.raw = append(r.raw, rec)
	}
	return nil
}

func (r *Recorder) takeStack(rec *record, behind []byte) {
	if _, known := r.places[rec.Place]; known || len(r.places) >= mostPlaces {
		return
	}
	p := place{address: rec.Object, pointer: rec.Time, frames: make([]uint64, len(behind)/8)}
	for i := range p.frames {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&p.frames[i])), 8), behind[8*i:])
	}
	r.places[rec.Place] = p
}
