package ledger

import (
	"errors"
	"os"
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
}

func openEvents(ring *ebpf.Map) (_ *events, err error) {
	e := &events{}
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
	waiting := e.conn.Read(func(uintptr) bool {
		r, err = e.ring.Read()
		return !errors.Is(err, os.ErrDeadlineExceeded)
	})
	if waiting != nil { // closed: there is no deadline
		return r, os.ErrClosed
	}
	return r, err
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
