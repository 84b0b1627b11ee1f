package ledger

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	"whatif/bpf"
)

// Place is a place in the code: an offset in a file, whatever process maps it.
type Place = bpf.LedgerPlace

// Event is something that the kernel side wants to be known.
type Event struct {
	// Exec: a process runs another program now, whose file Place says, if its inode is not 0. Table: a stack led to a page of
	// code whose table is not known. None of all: a place was sampled that is unknown.
	Exec, Table bool
	// Mapped: a file was mapped of which it is not known whether it counts progress
	// points; see SetFile. Named: there are NewNames.
	Mapped, Named bool

	Process int
	Address uint64 // of the place, in that process
	Place   Place  // of a table, the page: at a multiple of TableBytes; of the vDSO with inode 0
}

// NextEvent waits for an event. It returns os.ErrClosed after Close.
func (l *Ledger) NextEvent() (Event, error) {
	r, err := l.events.next()
	if err != nil {
		return Event{}, err
	}
	var e bpf.LedgerEvent
	if n, err := binary.Decode(r.RawSample, binary.NativeEndian, &e); err != nil || n < len(r.RawSample) {
		return Event{}, fmt.Errorf("reading an event of %d bytes: %w", len(r.RawSample), errors.Join(err))
	}
	return Event{
		Exec:    e.Kind == uint32(bpf.LedgerEventKindEVENT_EXEC),
		Table:   e.Kind == uint32(bpf.LedgerEventKindEVENT_TABLE),
		Mapped:  e.Kind == uint32(bpf.LedgerEventKindEVENT_MAPPED),
		Named:   e.Kind == uint32(bpf.LedgerEventKindEVENT_NAMED),
		Process: int(e.Tgid),
		Address: e.Address,
		Place:   e.Place,
	}, nil
}

// Code is what the kernel side is told of a place.
type Code struct {
	Unit  uint32 // or with Options.Stacks its chain; 0 for none
	Spins bool   // it waits busily
	// Line: it is in the line of a sampled point, the one that is called Point.
	Line  bool
	Point int
}

// SetPlace says what is known of the code at a place.
func (l *Ledger) SetPlace(p Place, c Code) error {
	word := c.Unit
	if c.Spins {
		word |= 1 << 31
	}
	if c.Line {
		word |= uint32(1+c.Point) << bpf.LedgerSharedNumberNUMBER_UNIT_POINT_SHIFT
	}
	if err := l.maps.Places.Put(p, word); err != nil {
		return fmt.Errorf("telling the kernel the unit of a place: %w", err)
	}
	return nil
}

// ForgetPlace lets the kernel ask again, because nothing could be said now.
func (l *Ledger) ForgetPlace(p Place) error {
	if err := l.maps.Places.Delete(p); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
		return fmt.Errorf("forgetting a place: %w", err)
	}
	return nil
}
