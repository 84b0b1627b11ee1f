package web

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// strangers are the connections that have not shown the token yet. Every user of the machine can make such connections,
// and each costs whatif a descriptor and some memory. So there are few of them: a new one ends the oldest. The browser
// shows the token with its first request, and then its connection is none of them any more.
type strangers struct {
	mu    sync.Mutex
	conns []net.Conn // the oldest first
}

const (
	// mostStrangers is more than the connections that a browser makes at once.
	mostStrangers = 64
	headerWithin  = 10 * time.Second
	// idleFor is longer than the page's pauses between two requests.
	idleFor = 2 * time.Minute
)

type connKey struct{}

// name makes a connection known to the handlers of its requests.
func (s *strangers) name(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// follow is called when a connection begins or ends.
func (s *strangers) follow(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state {
	case http.StateNew:
		if s.conns = append(s.conns, c); len(s.conns) > mostStrangers {
			s.conns[0].Close()
			s.conns = slices.Delete(s.conns, 0, 1)
		}
	case http.StateClosed, http.StateHijacked:
		s.remove(c)
	}
}

// trust says that a request has shown the token.
func (s *strangers) trust(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(net.Conn); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.remove(c)
	}
}

func (s *strangers) remove(c net.Conn) {
	s.conns = slices.DeleteFunc(s.conns, func(one net.Conn) bool { return one == c })
}
