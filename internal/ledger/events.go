package ledger

import (
	"errors"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"
)

// events is the ring through which the kernel side asks. It is waited for by Go's own
// poller. In a system call of its own, as the ring's reader waits, a goroutine keeps what
// Go's scheduler calls a processor, and a thread of the runtime looks some sixty times
// whether to take that away: a quarter of a millisecond for each event, most of what
// whatif itself took of a core.
type events struct {
	ring *ringbuf.Reader
	wake *os.File // the ring once more, in Go's poller
	conn syscall.RawConn

	// Each time that this process is woken costs more than what it is woken for. New code is
	// sampled all the time, but when the program has run for a while it is code that
	// hardly ever runs, and an answer may wait.
	patient *uint32 // the kernel side is told
	count   int     // records since
	since   time.Time
	began   time.Time

	samplesOnly bool // see Options
}

const (
	// longest is how long a question about code waits at most, if there are few of them. One
	// answer often leads to the next question, up the stack: so each waits for a small part of
	// the time that was measured so far; or so long from the first on where only samples are taken, as
	// being woken is then much of what whatif costs.
	longest = 30 * time.Millisecond
	part    = 200
	// In an impatient stretch fewer than few, from one look to the next more than many, change it. A
	// thread's samples wait for the answers, too, and there is room for a few of them only.
	stretch, few, many = 200 * time.Millisecond, 20, 3
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
	e.ring.SetDeadline(time.Unix(1, 0)) // it gives what is there, and never waits
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

// next waits for a record; os.ErrClosed after close.
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
		if !errors.Is(waiting, os.ErrDeadlineExceeded) { // closed: package poll has an error of its own for that
			return r, os.ErrClosed
		}
	}
	e.count++
	return r, err
}

// pace decides, when all was read, whether to be woken for what comes; else it says when
// to look again.
func (e *events) pace(now time.Time) time.Time {
	switch patient := *e.patient != 0; {
	case patient && e.count > many:
		atomic.StoreUint32(e.patient, 0)
		e.count, e.since = 0, now
	case patient:
		e.count = 0
	case now.Sub(e.since) > stretch:
		if e.count < few {
			atomic.StoreUint32(e.patient, 1)
		}
		e.count, e.since = 0, now
	}
	if *e.patient == 0 {
		return time.Time{}
	}
	if e.samplesOnly {
		return now.Add(longest)
	}
	return now.Add(min(longest, now.Sub(e.began)/part))
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
