// Package debuginfod gets debug information by build id from the servers in
// DEBUGINFOD_URLS; without that variable it does nothing. It shares the cache
// of elfutils' client, so that a file is fetched once for gdb, perf and whatif.
//
// FromEnvironment gives a client, Fetch asks it. A profile must not wait for
// a network: Fetch waits a second for all files together, and says "pending"
// after that. The transfer goes on in the background while the program lives,
// and the file is there for the next run; this run does without.
package debuginfod

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// patience is what all calls of Fetch together may wait. A server next
	// door sends a usual file in that time; one on the other side of the
	// world does not, and then waiting longer helps little.
	patience = time.Second
	// silence is how long a server may send nothing at all.
	silence = 30 * time.Second
	// maxTime bounds one transfer, however much comes.
	maxTime = time.Hour
	// maxSize bounds one file, where DEBUGINFOD_MAXSIZE does not; that of a
	// browser is two gigabytes.
	maxSize = 4 << 30
	// atOnce is how many files are fetched at a time.
	atOnce = 2
)

// Client asks a list of servers. Its methods may be called concurrently.
type Client struct {
	urls    []string
	cache   cache
	http    *http.Client
	maxSize int64

	slots chan struct{}

	mu       sync.Mutex
	asked    map[string]*transfer // by build id
	patience time.Duration        // what is left of it
}

// transfer is a file being fetched; path may be read when done is closed.
type transfer struct {
	done chan struct{}
	path string
}

// FromEnvironment gives the client that the variables of elfutils' describe,
// nil if they name no server.
func FromEnvironment(getenv func(string) string) *Client {
	var urls []string
	for _, u := range strings.Fields(getenv("DEBUGINFOD_URLS")) {
		if strings.HasPrefix(u, "http://") || strings.HasPrefix(u, "https://") {
			urls = append(urls, strings.TrimSuffix(u, "/"))
		}
	}
	dir := ownCacheDir(getenv)
	if len(urls) == 0 || dir == "" {
		return nil
	}
	c := &Client{
		urls: urls, cache: cache{dir}, maxSize: maxSize, patience: patience,
		slots: make(chan struct{}, atOnce), asked: map[string]*transfer{},
		http: &http.Client{Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			TLSHandshakeTimeout:   10 * time.Second,
			ResponseHeaderTimeout: silence,
			// The size bound is of what is stored, and debug files are
			// compressed inside where they are at all.
			DisableCompression: true,
		}},
	}
	if n, err := strconv.ParseInt(getenv("DEBUGINFOD_MAXSIZE"), 10, 64); err == nil && n > 0 {
		c.maxSize = min(n, maxSize)
	}
	return c
}

// Fetch gives the path of the file with the debug information for a build id,
// in hexadecimal. It is empty if no server has one, or, with pending, if it is
// not here yet. The first answer for a build id is the answer for good: what
// comes later would give one address two meanings in one profile.
func (c *Client) Fetch(buildID string) (path string, pending bool) {
	if c == nil || !validID(buildID) {
		return "", false
	}
	c.mu.Lock()
	defer c.mu.Unlock() // others wait for the same second, which is used once
	t, ok := c.asked[buildID]
	if !ok {
		t = c.start(buildID)
		c.asked[buildID] = t
	}
	select {
	case <-t.done:
		return t.path, false
	default:
	}
	began := time.Now()
	timer := time.NewTimer(c.patience)
	defer timer.Stop()
	select {
	case <-t.done:
	case <-timer.C:
	}
	c.patience = max(0, c.patience-time.Since(began))
	select {
	case <-t.done:
		return t.path, false
	default:
		// Not looked at again, even if it arrives.
		c.asked[buildID] = &transfer{done: t.done}
		return "", true
	}
}

// start answers from the cache, or begins a transfer.
func (c *Client) start(id string) *transfer {
	t := &transfer{done: make(chan struct{})}
	if path, known := c.cache.look(id); known {
		t.path = path
		close(t.done)
		return t
	}
	go func() {
		defer close(t.done)
		c.slots <- struct{}{}
		defer func() { <-c.slots }()
		ctx, cancel := context.WithTimeout(context.Background(), maxTime)
		defer cancel()
		t.path = c.get(ctx, id)
	}()
	return t
}

// validID reports whether a build id is hexadecimal, of a sensible length: it
// becomes part of paths and addresses.
func validID(id string) bool {
	return len(id) >= 8 && len(id) <= 128 && strings.Trim(id, "0123456789abcdef") == ""
}
