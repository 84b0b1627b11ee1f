// Package debuginfod fetches debug information by build id from the servers in DEBUGINFOD_URLS. Without that
// variable it does nothing. It shares the cache of elfutils' client, so gdb, perf and whatif fetch a file
// once.
//
// Call FromEnvironment, then Fetch for each build id. A profile must not wait for a network. So all calls of
// Fetch together wait one second, and later answers are "pending". The transfer continues in the background
// while the program runs. This run does not use the file, but the next does.
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
	// patience is the time that all calls of Fetch together may wait. A near server sends a usual file
	// in that time. A far one does not, and waiting longer would help little.
	patience = time.Second
	// silence is the longest time in which a server may send nothing.
	silence = 30 * time.Second
	// maxTime bounds one transfer.
	maxTime = time.Hour
	// maxSize bounds one file; DEBUGINFOD_MAXSIZE may lower it. A browser's file is two gigabytes.
	maxSize = 4 << 30
	// atOnce is the number of files that are fetched at once.
	atOnce = 2
)

// Client fetches files from a list of servers. Its methods may be called concurrently.
type Client struct {
	urls    []string
	cache   cache
	http    *http.Client
	maxSize int64

	slots chan struct{}

	mu       sync.Mutex
	asked    map[string]*transfer // by build id
	patience time.Duration        // the rest of it
}

// transfer is a file that is being fetched. path may be read when done is closed.
type transfer struct {
	done chan struct{}
	path string
}

// FromEnvironment returns a client for elfutils' variables, nil if they name no server.
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
			// The bound of the size is of the stored bytes, and debug files have their own compression.
			DisableCompression: true,
		}},
	}
	if n, err := strconv.ParseInt(getenv("DEBUGINFOD_MAXSIZE"), 10, 64); err == nil && n > 0 {
		c.maxSize = min(n, maxSize)
	}
	return c
}

// Fetch returns the path of the file with the debug information for a build id, in hexadecimal. The path is
// empty if no server has the file or, with pending, if the file has not arrived yet. Later calls for the same
// build id return the first answer: otherwise one address would have two meanings in one profile.
func (c *Client) Fetch(buildID string) (path string, pending bool) {
	if c == nil || !validID(buildID) {
		return "", false
	}
	c.mu.Lock()
	defer c.mu.Unlock() // other calls wait here, in the same second
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
		// The file is not used in this run, even if it arrives.
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

// validID reports whether a build id is hexadecimal and has a sensible length, as it becomes a part of paths and
// URLs.
func validID(id string) bool {
	return len(id) >= 8 && len(id) <= 128 && strings.Trim(id, "0123456789abcdef") == ""
}
