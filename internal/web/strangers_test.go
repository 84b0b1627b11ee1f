package web

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// TestManyStrangers: other users of the machine may make as many connections as they like. They take no descriptors
// from whatif, and the browser's connection goes on.
func TestManyStrangers(t *testing.T) {
	page := pageOf(world{}.made())
	s, err := Listen(0, func() *Page { return page })
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(context.Background())
	defer s.Close()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	get := func() {
		t.Helper()
		r, err := client.Get(s.Address())
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		if n, err := io.Copy(io.Discard, r.Body); err != nil || n == 0 || r.StatusCode != http.StatusOK {
			t.Fatalf("status %d, %d bytes, %v", r.StatusCode, n, err)
		}
	}
	get()
	var conns []net.Conn
	for i := range 4 * mostStrangers {
		c, err := net.Dial("tcp", s.Host())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		conns = append(conns, c)
		if i%2 == 0 { // half of them ask for what they may not have, the other half is silent
			fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", s.Host())
		}
	}
	for _, c := range conns[:2*mostStrangers] { // of the first ones each gets at most an answer, and an end
		c.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := io.Copy(io.Discard, c); err != nil && err.(net.Error).Timeout() {
			t.Fatal("the oldest connections are still there")
		}
	}
	s.strangers.mu.Lock()
	n := len(s.strangers.conns)
	s.strangers.mu.Unlock()
	if n > mostStrangers {
		t.Errorf("%d connections of strangers", n)
	}
	get() // over the same connection: it is not one of them
	client.CloseIdleConnections()
	get() // and a new one is served, too
}
