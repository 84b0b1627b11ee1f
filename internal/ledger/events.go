package ledger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"whatif/bpf"
)

// Event is a question of the kernel side. With none of the flags, a place was sampled of which nothing is known.
type Event struct {
	Exec   bool // a process runs another program now, whose file is in Place; inode 0: that is not known
	Table  bool // a stack led to a page of code whose table is not known
	Mapped bool // a file was mapped, and it is not known whether it counts progress points, see SetFile
	Named  bool // there are NewNames

	Process int
	Address uint64 // of the place, in that process
	Place   Place  // of a table, the page: at a multiple of TableBytes; of the vDSO with inode 0
}

// NextEvent waits for an event. It returns os.ErrClosed after Close.
func (k *knownCode) NextEvent() (Event, error) {
	r, err := k.events.next()
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

func (k *knownCode) openEvents(samplesOnly bool) (err error) {
	if k.events, err = openEvents(k.maps.Events, &k.page.control.Patient, samplesOnly); err != nil {
		return fmt.Errorf("opening the ring of events: %w", err)
	}
	return nil
}

// events is the ring through which the kernel side asks. Go's own poller waits for it. The ring's reader would wait in
// a system call of its own. Then the goroutine keeps a processor, as Go's scheduler calls it, and a thread of the
// runtime looks some sixty times whether to take that away. That costs a quarter of a millisecond for each event, which
// was most of what whatif itself took of a core.
type events struct {
	ring *ringbuf.Reader
	wake *os.File // the ring once more, in Go's poller
	conn syscall.RawConn

	// Each wake-up of this process costs more than the answer to the event. New code is sampled all the time. But once
	// the program has run for a while, that is code that hardly ever runs, and its answer may wait.
	patient *uint32 // for the kernel side: this process polls, and is not woken
	count   int     // of records since the last change or look
	since   time.Time
	began   time.Time

	samplesOnly bool // see Options
}

const (
	// longestPause is how long an event about code waits at most while there are few of them. One answer often leads to
	// the next question, about code further up the stack. So each event waits for a small part of the measured time,
	// which is 1/pauseParts. Where only samples are taken it always waits for longestPause, as wake-ups are then much of
	// what whatif costs.
	longestPause = 30 * time.Millisecond
	pauseParts   = 200
	// With fewer than fewRecords in a paceStretch, patience begins. With more than manyRecords from one look to the next
	// it ends. A thread's samples wait for the answers, too, and there is room for a few of them only.
	paceStretch, fewRecords, manyRecords = 200 * time.Millisecond, 20, 3
)

func openEvents(ring *ebpf.Map, patient *uint32, samplesOnly bool) (_ *events, err error) {
	e := &events{patient: patient, samplesOnly: samplesOnly, since: time.Now(), began: time.Now()}
	if e.ring, err = ringbuf.NewReader(ring); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			e.close()
		}
	}()
	e.ring.SetDeadline(time.Unix(1, 0)) // it returns what is there, and never waits
	fd, err := unix.FcntlInt(uintptr(ring.FD()), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil { // or Go does not poll it
		unix.Close(fd)
		return nil, err
	}
	e.wake = os.NewFile(uintptr(fd), "events")
	if e.conn, err = e.wake.SyscallConn(); err != nil {
		return nil, err
	}
	return e, e.wake.SetReadDeadline(time.Time{}) // an error if it cannot be polled
}

// next waits for a record. It returns os.ErrClosed after close.
func (e *events) next() (r ringbuf.Record, err error) {
	read := func(uintptr) bool {
		r, err = e.ring.Read()
		return !errors.Is(err, os.ErrDeadlineExceeded)
	}
	for !read(0) {
		waiting := e.wake.SetReadDeadline(e.pace(time.Now()))
		if waiting == nil {
			waiting = e.conn.Read(read)
		}
		if waiting == nil {
			break
		}
		if !errors.Is(waiting, os.ErrDeadlineExceeded) { // closed, for which package poll has an error of its own
			return r, os.ErrClosed
		}
	}
	e.count++
	return r, err
}

// pace is called when all records have been read. It decides whether the next one is to wake this process: the zero
// time. If not, it returns when to look again.
func (e *events) pace(now time.Time) time.Time {
	switch patient := *e.patient != 0; {
	case patient && e.count > manyRecords:
		atomic.StoreUint32(e.patient, 0)
		e.count, e.since = 0, now
	case patient:
		e.count = 0
	case now.Sub(e.since) > paceStretch:
		if e.count < fewRecords {
			atomic.StoreUint32(e.patient, 1)
		}
		e.count, e.since = 0, now
	}
	if *e.patient == 0 {
		return time.Time{}
	}
	if e.samplesOnly {
		return now.Add(longestPause)
	}
	return now.Add(min(longestPause, now.Sub(e.began)/pauseParts))
}

func (e *events) close() error {
	var errs []error
	if e.wake != nil {
		if err := e.wake.Close(); !errors.Is(err, os.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, e.ring.Close())...)
}
