package debuginfod

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"whatif/internal/target"
)

// get asks one server after the other, and returns the path of the file, "" if there is none.
func (c *Client) get(ctx context.Context, id string) string {
	allMiss := true
	for _, url := range c.urls {
		path, err := c.getFrom(ctx, url, id)
		if err == nil {
			return path
		}
		allMiss = allMiss && errors.Is(err, errMiss)
	}
	// A server that could not be reached may have the file.
	if allMiss {
		c.cache.miss(id)
	}
	return ""
}

// errMiss is the error for a server that does not have the file.
var errMiss = errors.New("not there")

func (c *Client) getFrom(ctx context.Context, url, id string) (path string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/buildid/"+id+"/debuginfo", nil)
	if err != nil {
		return "", err
	}
	r.Header.Set("User-Agent", "whatif")
	resp, err := c.http.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotFound:
		return "", errMiss
	case resp.StatusCode != http.StatusOK:
		return "", fmt.Errorf("status %d", resp.StatusCode)
	case resp.ContentLength > c.maxSize:
		return "", errMiss // the file will be too large later, too
	}
	f, err := c.cache.create(id)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			discard(f)
		}
	}()
	// Give up a server that stops sending.
	watch := time.AfterFunc(silence, cancel)
	defer watch.Stop()
	n, err := io.Copy(f, io.LimitReader(&alive{resp.Body, watch}, c.maxSize+1))
	if err != nil {
		return "", err
	}
	if n > c.maxSize {
		return "", errMiss
	}
	if err := target.AsInvokingUser(func() error { return check(f.Name(), id) }); err != nil {
		return "", err
	}
	return c.cache.store(id, f)
}

// alive is a reader that moves a deadline whenever bytes arrive.
type alive struct {
	io.Reader
	watch *time.Timer
}

func (a *alive) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	if n > 0 {
		a.watch.Reset(silence)
	}
	return n, err
}
