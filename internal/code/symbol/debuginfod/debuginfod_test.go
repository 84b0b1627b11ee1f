package debuginfod

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"whatif/internal/target"
)

// debugFile returns an ELF file with a build id, of some length.
func debugFile(id string, length int) []byte {
	desc, err := hex.DecodeString(id)
	if err != nil {
		panic(err)
	}
	le := binary.LittleEndian
	note := le.AppendUint32(nil, 4)
	note = le.AppendUint32(note, uint32(len(desc)))
	note = append(le.AppendUint32(note, 3), "GNU\x00"...)
	note = append(note, desc...)
	h := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 57)...)
	le.PutUint16(h[16:], uint16(elf.ET_DYN))
	le.PutUint16(h[18:], uint16(elf.EM_X86_64))
	le.PutUint32(h[20:], 1)
	le.PutUint64(h[32:], 64) // one program header
	le.PutUint16(h[52:], 64)
	le.PutUint16(h[54:], 56)
	le.PutUint16(h[56:], 1)
	h = le.AppendUint32(h, uint32(elf.PT_NOTE))
	h = le.AppendUint32(h, 4)
	for _, v := range []uint64{120, 0, 0, uint64(len(note)), uint64(len(note)), 4} {
		h = le.AppendUint64(h, v)
	}
	return append(append(h, note...), make([]byte, length)...)
}

const id = "0123456789abcdef0123456789abcdef01234567"

// environment returns a look-up of variables, with a cache for the test.
func environment(t *testing.T, urls string, more ...string) func(string) string {
	dir := t.TempDir()
	return func(name string) string {
		for i := 0; i+1 < len(more); i += 2 {
			if more[i] == name {
				return more[i+1]
			}
		}
		return map[string]string{"DEBUGINFOD_URLS": urls, "DEBUGINFOD_CACHE_PATH": dir}[name]
	}
}

// server answers requests by answer, and counts them.
func server(t *testing.T, answer http.HandlerFunc) (url string, asked *atomic.Int32) {
	asked = new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

func has(data []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/buildid/"+id+"/debuginfo" {
			http.NotFound(w, r)
			return
		}
		w.Write(data)
	}
}

// patient returns a client that waits long enough for a test.
func patient(t *testing.T, getenv func(string) string) *Client {
	t.Helper()
	c := FromEnvironment(getenv)
	if c == nil {
		t.Fatal("no client")
	}
	c.patience = 20 * time.Second
	return c
}

func TestOff(t *testing.T) {
	for _, urls := range []string{"", " ", "ftp://x file:///etc"} {
		if c := FromEnvironment(environment(t, urls)); c != nil {
			t.Errorf("%q: a client", urls)
		}
	}
	var none *Client
	if path, pending := none.Fetch(id); path != "" || pending {
		t.Error("no client, but an answer")
	}
}

func TestFetch(t *testing.T) {
	want := debugFile(id, 100_000)
	empty, emptyAsked := server(t, http.NotFound)
	url, asked := server(t, has(want))
	env := environment(t, empty+" "+url+"/")
	for range 2 { // a second run finds it in the cache
		path, pending := patient(t, env).Fetch(id)
		if pending || path != filepath.Join(env("DEBUGINFOD_CACHE_PATH"), id, "debuginfo") {
			t.Fatalf("%q, pending %v", path, pending)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
	if n, m := asked.Load(), emptyAsked.Load(); n != 1 || m != 1 {
		t.Errorf("asked %d and %d times", n, m)
	}
	alone(t, env)
}

// alone checks that no part of a transfer is left in the cache.
func alone(t *testing.T, env func(string) string) {
	t.Helper()
	left, _ := filepath.Glob(filepath.Join(env("DEBUGINFOD_CACHE_PATH"), "*", "debuginfo?*"))
	if len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestMiss checks that servers are not asked again for a while for a file that none has.
func TestMiss(t *testing.T) {
	url, asked := server(t, http.NotFound)
	env := environment(t, url)
	for range 3 {
		if path, pending := patient(t, env).Fetch(id); path != "" || pending {
			t.Fatalf("%q, pending %v", path, pending)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
	miss := filepath.Join(env("DEBUGINFOD_CACHE_PATH"), id, "debuginfo")
	old := time.Now().Add(-2 * missAge)
	if err := os.Chtimes(miss, old, old); err != nil {
		t.Fatal(err)
	}
	patient(t, env).Fetch(id)
	if n := asked.Load(); n != 2 {
		t.Errorf("asked %d times, the second after a while", n)
	}
	if err := os.WriteFile(filepath.Join(env("DEBUGINFOD_CACHE_PATH"), "cache_miss_s"), []byte("0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	patient(t, env).Fetch(id)
	if n := asked.Load(); n != 3 {
		t.Errorf("asked %d times, with an age of nothing", n)
	}
}

// TestRefused checks wrong answers.
func TestRefused(t *testing.T) {
	good := debugFile(id, 1000)
	for name, answer := range map[string]http.HandlerFunc{
		"another build": has(debugFile(strings.Repeat("ab", 20), 1000)),
		"a page":        has([]byte("<html>please log in</html>")),
		"nothing":       has(nil),
		"too large":     has(debugFile(id, 1<<20)),
		"an error":      func(w http.ResponseWriter, r *http.Request) { http.Error(w, "busy", 503) },
		"cut": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "5000")
			w.Write(good)
		},
		"a circle": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) },
		"too large, unsaid": func(w http.ResponseWriter, r *http.Request) {
			for range 64 {
				w.Write(debugFile(id, 10_000))
				w.(http.Flusher).Flush()
			}
		},
	} {
		url, _ := server(t, answer)
		env := environment(t, url, "DEBUGINFOD_MAXSIZE", "100000")
		if path, pending := patient(t, env).Fetch(id); path != "" || pending {
			t.Errorf("%s: %q, pending %v", name, path, pending)
		}
		alone(t, env)
		// If one server fails, the next is asked.
		works, _ := server(t, has(good))
		env = environment(t, url+" "+works, "DEBUGINFOD_MAXSIZE", "100000")
		if path, _ := patient(t, env).Fetch(id); path == "" {
			t.Errorf("%s: the other server was not asked", name)
		}
	}
}

// TestSlow checks that a profile does not wait, and that the next run has the file.
func TestSlow(t *testing.T) {
	release := make(chan struct{})
	url, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		<-release
		has(debugFile(id, 10))(w, r)
	})
	env := environment(t, url)
	c := FromEnvironment(env)
	c.patience = 50 * time.Millisecond
	began := time.Now()
	for range 5 {
		if path, pending := c.Fetch(id); path != "" || !pending {
			t.Fatalf("%q, pending %v", path, pending)
		}
	}
	other := strings.Repeat("cd", 20)
	if _, pending := c.Fetch(other); !pending {
		t.Error("another file is there at once")
	}
	if d := time.Since(began); d > 10*time.Second {
		t.Errorf("waited for %v", d)
	}
	close(release)
	// This run does not use the file, even after it has arrived.
	c.mu.Lock()
	transfers := []*transfer{c.asked[id], c.asked[other]}
	c.mu.Unlock()
	for _, x := range transfers {
		<-x.done
	}
	if path, _ := c.Fetch(id); path != "" {
		t.Error("the answer changed during the run")
	}
	if path, _ := patient(t, env).Fetch(id); path == "" {
		t.Error("not there in the next run")
	}
}

func TestUnreachable(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	url := s.URL
	s.Close()
	env := environment(t, url)
	if path, pending := patient(t, env).Fetch(id); path != "" || pending {
		t.Errorf("%q, pending %v", path, pending)
	}
	if _, err := os.Stat(filepath.Join(env("DEBUGINFOD_CACHE_PATH"), id)); err == nil {
		t.Error("a server that cannot be reached was noted as one that has nothing")
	}
}

func TestBuildIDs(t *testing.T) {
	url, asked := server(t, http.NotFound)
	c := patient(t, environment(t, url))
	for _, bad := range []string{
		"", "ab", "../../../../etc/passwd", "ABCDEF0123456789", "0123456789abcdef/..", strings.Repeat("a", 1000),
	} {
		if path, pending := c.Fetch(bad); path != "" || pending {
			t.Errorf("%q: %q, %v", bad, path, pending)
		}
	}
	if asked.Load() != 0 {
		t.Error("a server was asked for nonsense")
	}
}

func TestCacheDir(t *testing.T) {
	for _, c := range []struct{ path, xdg, home, want string }{
		{"/c", "/x", "/h", "/c"},
		{"", "/x", "/h", "/x/debuginfod_client"},
		{"", "", "/h", "/h/.cache/debuginfod_client"},
		{"", "", "", ""},
	} {
		got := cacheDir(func(name string) string {
			return map[string]string{"DEBUGINFOD_CACHE_PATH": c.path, "XDG_CACHE_HOME": c.xdg, "HOME": c.home}[name]
		})
		if got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestOfTheUser checks that under sudo the cache is the user's, and that root creates nothing in it, nor through links
// in it.
func TestOfTheUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	const caller = 65534
	dir := t.TempDir()
	users, roots, linked := dir+"/user", dir+"/root", dir+"/linked"
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	must(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o755),
		os.Mkdir(users, 0o755), os.Mkdir(roots, 0o755), os.Mkdir(linked, 0o755),
		os.Symlink(roots, linked+"/"+id), os.Chown(users, caller, caller), os.Chown(linked, caller, caller))
	url, _ := server(t, has(debugFile(id, 1000)))
	t.Setenv("SUDO_UID", strconv.Itoa(caller))
	t.Setenv("SUDO_GID", strconv.Itoa(caller))
	fetch := func(cache string) string {
		t.Helper()
		path, _ := patient(t, environment(t, url, "DEBUGINFOD_CACHE_PATH", cache)).Fetch(id)
		return path
	}
	if path := fetch(users); path != users+"/"+id+"/debuginfo" {
		t.Errorf("the user's cache: %q", path)
	}
	for _, name := range []string{"", "/debuginfo"} {
		st, err := os.Lstat(users + "/" + id + name)
		must(err)
		if uid := st.Sys().(*syscall.Stat_t).Uid; uid != caller {
			t.Errorf("%s belongs to %d", st.Name(), uid)
		}
	}
	for _, cache := range []string{roots, linked} {
		if path := fetch(cache); path != "" {
			t.Errorf("%s: %q", cache, path)
		}
	}
	if files, err := os.ReadDir(roots); err != nil || len(files) > 0 {
		t.Errorf("root made %v, %v", files, err)
	}

	// Root itself has a cache of its own.
	t.Setenv("SUDO_UID", "")
	root, err := target.LookupUser("0")
	must(err)
	for cache, want := range map[string]string{roots: roots, users: root.Home + "/.cache/debuginfod_client"} {
		if got := ownCacheDir(environment(t, url, "DEBUGINFOD_CACHE_PATH", cache)); got != want {
			t.Errorf("%s: %s, want %s", cache, got, want)
		}
	}
}

func TestStale(t *testing.T) {
	dir := t.TempDir()
	old, fresh := filepath.Join(dir, "debuginfo.1"), filepath.Join(dir, "debuginfo.2")
	for _, p := range []string{old, fresh} {
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	past := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	removeStale(dir)
	if _, err := os.Stat(old); err == nil {
		t.Error("a transfer that was cut off is still there")
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Error("a transfer that goes on was removed")
	}
}
