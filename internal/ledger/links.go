package ledger

import (
	"errors"
	"sync"

	"github.com/cilium/ebpf/link"
)

// links are kept while they are attached: when the garbage collector frees a link, it is detached silently. Several
// goroutines add links, as the answers to events do.
type links struct {
	mu     sync.Mutex
	all    []link.Link
	closed bool
}

// add keeps links. After close it detaches them, and gives false.
func (l *links) add(more ...link.Link) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.all = append(l.all, more...)
		return true
	}
	for _, k := range more {
		k.Close() // an error would help nobody now
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
