package web

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"whatif/internal/profile"
)

// TestServer asks for what there is, and for what is forbidden.
func TestServer(t *testing.T) {
	page := pageOf(world{file: "/etc/passwd"}.made())
	s, err := Listen(0, func() *Page { return page })
	if err != nil {
		t.Fatal(err)
	}
	defer s.listener.Close()
	root := "/" + s.token + "/"
	ask := func(method, host, path string, headers ...string) (int, string, http.Header) {
		r := httptest.NewRequest(method, "http://"+s.host+"/", nil)
		r.URL.Path, r.Host = path, host
		for i := 0; i+1 < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		body, _ := io.ReadAll(w.Result().Body)
		return w.Code, string(body), w.Result().Header
	}
	code, body, header := ask("GET", s.host, root)
	if code != 200 || !strings.Contains(body, `id="data-index"`) {
		t.Errorf("the page: status %d", code)
	}
	for name, part := range map[string]string{"Content-Security-Policy": "default-src 'none'", "Cache-Control": "no-store",
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY"} {
		if !strings.Contains(header.Get(name), part) {
			t.Errorf("%s: %q", name, header.Get(name))
		}
	}
	if strings.Contains(header.Get("Content-Security-Policy"), "unsafe") {
		t.Error("unsafe policy")
	}
	if code, _, _ := ask("HEAD", s.host, root); code != 200 {
		t.Errorf("HEAD: %d", code)
	}
	_, port, _ := strings.Cut(s.host, ":")
	for _, c := range []struct {
		why          string
		code         int
		method, host string
		path         string
		headers      []string
	}{
		{"another method", 405, "POST", s.host, root, nil},
		{"another method", 405, "OPTIONS", s.host, root, nil},
		{"no token", 404, "GET", s.host, "/", nil},
		{"no token", 404, "GET", s.host, "/latest", nil},
		{"wrong token", 404, "GET", s.host, "/" + strings.ToLower(s.token) + "/", nil},
		{"token cut short", 404, "GET", s.host, "/" + s.token[:10] + "/", nil},
		{"empty token", 404, "GET", s.host, "//", nil},
		{"no slash", 404, "GET", s.host, "/" + s.token, nil},
		{"rebound name", 421, "GET", "evil.example:" + port, root, nil},
		{"another port", 421, "GET", "127.0.0.1:1", root, nil},
		{"another site", 403, "GET", s.host, root, []string{"Origin", "http://evil.example"}},
		{"no site", 403, "GET", s.host, root, []string{"Origin", "null"}},
		{"from another site", 403, "GET", s.host, root, []string{"Sec-Fetch-Site", "cross-site"}},
		{"same machine, another port", 403, "GET", s.host, root, []string{"Sec-Fetch-Site", "same-site"}},
		{"itself", 200, "GET", s.host, root, []string{"Origin", "http://" + s.host, "Sec-Fetch-Site", "same-origin"}},
		{"by name", 200, "GET", "localhost:" + port, root, []string{"Origin", "http://localhost:" + port}},
		{"traversal", 404, "GET", s.host, root + "../../etc/passwd", nil},
		{"traversal", 404, "GET", s.host, root + "0/../../../etc/passwd", nil},
		{"a file", 404, "GET", s.host, root + "0//etc/passwd", nil},
		{"a file's name", 404, "GET", s.host, root + "0/source-/etc/passwd", nil},
		{"no such file", 404, "GET", s.host, root + "0/source-99", nil},
		{"negative", 404, "GET", s.host, root + "0/source--1", nil},
		{"odd number", 404, "GET", s.host, root + "0/source-00", nil},
		{"two numbers", 404, "GET", s.host, root + "0/source-0-0", nil},
		{"no such view", 404, "GET", s.host, root + "0/rows-7", nil},
		{"no such version", 404, "GET", s.host, root + "1/rows-0", nil},
		{"listing", 404, "GET", s.host, root + "0/", nil},
		{"rows", 200, "GET", s.host, root + "0/rows-0", nil},
		{"details", 200, "GET", s.host, root + "0/detail-0-0", nil},
		{"source", 200, "GET", s.host, root + "0/source-0", nil},
		{"latest", 200, "GET", s.host, root + "latest", nil},
		{"wrong key", 404, "GET", s.host, "/open/" + s.token, nil},
		{"no key", 404, "GET", s.host, "/open/", nil},
	} {
		code, body, _ := ask(c.method, c.host, c.path, c.headers...)
		if code != c.code {
			t.Errorf("%s: %s %s (Host %s, %q): status %d, want %d", c.why, c.method, c.path, c.host, c.headers, code, c.code)
		}
		if code != 200 && (strings.Contains(body, "root:") || strings.Contains(body, s.token)) {
			t.Errorf("%s: says too much: %s", c.why, body)
		}
	}
	open := strings.TrimPrefix(s.OpenAddress(), "http://"+s.host)
	if code, _, _ := ask("GET", s.host, open); code != 404 {
		t.Errorf("opening over a connection that the kernel does not know: %d", code)
	}
	s.peer = func(*http.Request) (uint32, error) { return browserUser() }
	if code, _, header := ask("GET", s.host, open); code != 303 || header.Get("Location") != root {
		t.Errorf("opening: %d, to %s", code, header.Get("Location"))
	}
	if code, _, _ := ask("GET", s.host, open); code != 404 {
		t.Errorf("opening twice: %d", code)
	}
}

// TestLive: a page is made when there are new data, and the page before can still be asked.
func TestLive(t *testing.T) {
	l := NewLive("whatif.profile", []string{"./server"})
	s, err := Listen(0, l.Page)
	if err != nil {
		t.Fatal(err)
	}
	defer s.listener.Close()
	if p := s.page(); len(p.index.Units) != 0 || !p.index.Live || p.index.Title != "./server" {
		t.Errorf("at first: %+v", p.index)
	}
	d := world{}.made()
	l.next = time.Time{} // do not wait
	l.Update(d, false)
	first := s.page()
	if first == l.page && len(first.index.Units) != 5 || !first.index.Live {
		t.Errorf("%d units", len(first.index.Units))
	}
	if s.page() != first {
		t.Error("made anew without need")
	}
	d.Experiments = append(d.Experiments, profile.Experiment{Index: len(d.Experiments), RealNS: 1,
		Points: d.Experiments[0].Points})
	if n := len(l.data.Experiments); n != len(d.Experiments)-1 {
		t.Errorf("the snapshot grew to %d", n)
	}
	l.Update(d, true)
	last := s.page()
	if last == first || last.index.Live || last.index.Version == first.index.Version {
		t.Error("the end was not shown")
	}
	if s.kept[first.index.Version] != first || s.kept[last.index.Version] != last || len(s.kept) != 2 {
		t.Errorf("kept: %v", s.kept)
	}
}
