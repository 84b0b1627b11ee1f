package ledger

import (
	"errors"
	"sync"

	"github.com/cilium/ebpf/link"
)

// links is all that is attached. A collected link detaches silently, so they are all
// kept; they come from what answers events, too.
type links struct {
	mu     sync.Mutex
	all    []link.Link
	closed bool
}

// add tells whether it was not too late.
func (l *links) add(more ...link.Link) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.all = append(l.all, more...)
		return true
	}
	for _, k := range more {
		k.Close() // too late: nobody is left to tell
	}
	return false
}

func (l *links) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, k := range l.all {
		errs = append(errs, k.Close())
	}
	l.all, l.closed = nil, true
	return errors.Join(errs...)
}
