package web

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"whatif/internal/hint"
)

// Server shows a page on loopback to every client that has its address. Other users of the machine
// do not know the token in it. A site that a browser shows meanwhile has another origin, whatever
// name it gives to this machine.
//
// The normal sequence is Listen, Serve in a goroutine, OpenBrowser with OpenAddress, and Close.
type Server struct {
	latest   func() *Page
	listener net.Listener
	http     *http.Server
	host     string
	token    string
	// peer is the user at the other end of a request's connection.
	peer      func(*http.Request) (uint32, error)
	strangers strangers

	mu   sync.Mutex
	once string           // key that opens the page once; "" when used up
	kept map[string]*Page // the latest two, by version: a browser may still ask for the one before
	last []string
}

// Listen makes a server of the page that latest returns for each request, on a port; 0 for any free
// port.
func Listen(port int, latest func() *Page) (*Server, error) {
	l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
	if errors.Is(err, unix.EADDRINUSE) || errors.Is(err, unix.EACCES) {
		return nil, hint.New(fmt.Errorf("listening on port %d of loopback: %w", port, err),
			"another program has the port, or it is below 1024: choose another number, or leave --port out")
	}
	if err != nil {
		l, err = net.Listen("tcp", fmt.Sprint("[::1]:", port))
	}
	if err != nil {
		return nil, fmt.Errorf("listening on loopback: %w", err)
	}
	s := &Server{latest: latest, listener: l, host: l.Addr().String(), token: rand.Text(), once: rand.Text(),
		kept: map[string]*Page{}}
	s.peer = s.peerOf
	s.http = &http.Server{
		Handler: s, ReadHeaderTimeout: headerWithin, IdleTimeout: idleFor, MaxHeaderBytes: 64 << 10,
		ConnState: s.strangers.follow, ConnContext: s.strangers.name,
	}
	return s, nil
}

// Address is the address of the page.
func (s *Server) Address() string { return "http://" + s.host + "/" + s.token + "/" }

// OpenAddress leads to the page once, and only for the owner of the browser that OpenBrowser
// starts. It is for the command line of that browser, which all users of the machine can read,
// perhaps sooner than the browser asks. A file with the key would be hidden from them, but also
// from browsers that run in a sandbox (snap, flatpak).
func (s *Server) OpenAddress() string { return "http://" + s.host + "/open/" + s.once }

// Serve answers until ctx is done.
func (s *Server) Serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { s.http.Close() })
	defer stop()
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the page: %w", err)
	}
	return nil
}

// Port is the port on which the server listens.
func (s *Server) Port() int { return s.listener.Addr().(*net.TCPAddr).Port }

// Host is the host and port on which the server listens.
func (s *Server) Host() string { return s.host }

// Close ends Serve.
func (s *Server) Close() { s.http.Close() }

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", policy("'self'")+"; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	if status := s.refused(r); status != 0 {
		http.Error(w, http.StatusText(status), status)
		return
	}
	if key, ok := strings.CutPrefix(r.URL.Path, "/open/"); ok {
		// To find the socket's owner takes the longer the more sockets there are, so a wrong key ends it before.
		if !s.opens(key) || !s.fromBrowser(r) || !s.use(key) {
			http.NotFound(w, r)
			return
		}
		s.strangers.trust(r)
		http.Redirect(w, r, "/"+s.token+"/", http.StatusSeeOther)
		return
	}
	token, rest, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if !ok || !same(token, s.token) {
		http.NotFound(w, r)
		return
	}
	s.strangers.trust(r)
	s.answer(w, r, rest)
}

// refused returns a status for requests that are not from the page: another method, another host
// name, or another site.
func (s *Server) refused(r *http.Request) int {
	_, port, _ := net.SplitHostPort(s.host)
	origin := r.Header.Get("Origin")
	site := r.Header.Get("Sec-Fetch-Site")
	switch {
	case r.Host != s.host && r.Host != "localhost:"+port:
		return http.StatusMisdirectedRequest
	case origin != "" && origin != "http://"+r.Host:
		return http.StatusForbidden
	case site != "" && site != "same-origin" && site != "none":
		return http.StatusForbidden
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return http.StatusMethodNotAllowed
	}
	return 0
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// opens says whether the key opens the page.
func (s *Server) opens(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.once != "" && same(key, s.once)
}

// use uses up the key for opening the page.
func (s *Server) use(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.once == "" || !same(key, s.once) {
		return false
	}
	s.once = ""
	return true
}

// fromBrowser says whether a request is from the owner of the browser that OpenBrowser starts.
func (s *Server) fromBrowser(r *http.Request) bool {
	want, err := browserUser()
	if err != nil {
		return false
	}
	uid, err := s.peer(r)
	return err == nil && uid == want
}

func (s *Server) peerOf(r *http.Request) (uint32, error) {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return 0, err
	}
	return peerUser(from, s.listener.Addr().(*net.TCPAddr).AddrPort())
}

// answer serves what comes after the token: "" is the page itself, latest the index if it is not
// the version that the browser has, and VERSION/NAME a resource.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, rest string) {
	version, name, isResource := strings.Cut(rest, "/")
	switch {
	case rest == "":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = s.page().write(w, "'self'", false, func() error { return nil }) // an error means that the browser has gone
		return
	case rest == "latest":
		p := s.page()
		if r.URL.Query().Get("version") == p.index.Version {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		s.send(w, p, "index")
		return
	case isResource:
		s.mu.Lock()
		p := s.kept[version]
		s.mu.Unlock()
		if p != nil {
			s.send(w, p, name)
			return
		}
	}
	http.NotFound(w, r)
}

func (s *Server) send(w http.ResponseWriter, p *Page, name string) {
	data, err := p.resource(name, false)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(data) // an error means that the browser has gone
}

// page is the latest page. It is kept for the requests that it leads to.
func (s *Server) page() *Page {
	p := s.latest()
	s.mu.Lock()
	defer s.mu.Unlock()
	v := p.index.Version
	if s.kept[v] == nil {
		s.last = append(s.last, v)
		if len(s.last) > 2 {
			delete(s.kept, s.last[0])
			s.last = s.last[1:]
		}
	}
	s.kept[v] = p
	return p
}
