package debugfile

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"whatif/internal/code/symbol/object"
	"whatif/internal/openfile"
)

func TestLocate(t *testing.T) {
	for name, want := range map[string][2]string{
		"/usr/bin/x":               {"", "/usr/bin/x"},
		"/proc/12/root/usr/bin/x":  {"/proc/12/root", "/usr/bin/x"},
		"/proc/12/root":            {"/proc/12/root", "/"},
		"/proc/self/exe":           {"", "/proc/self/exe"},
		"/proc/12/cwd/x":           {"", "/proc/12/cwd/x"},
		"/proc/9999999/exe":        {"", "/proc/9999999/exe"}, // gone
		"/procedure/12/root/bin/x": {"", "/procedure/12/root/bin/x"},
	} {
		if root, inside := locate(name); root != want[0] || inside != want[1] {
			t.Errorf("%s: %s, %s", name, root, inside)
		}
	}
}

// program compiles a small program with debug information, and returns its path.
func program(t testing.TB, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	src := filepath.Join(dir, "small.c")
	const text = "static int twice(int x) { return x + x; }\nint main(int n, char **v) { return twice(n); }\n"
	if err := os.WriteFile(src, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, dir, append([]string{"gcc", "-g", "-Wl,--build-id=sha1", "-o", "small", src}, flags...)...)
	return filepath.Join(dir, "small")
}

func run(t testing.TB, dir string, command ...string) {
	t.Helper()
	if _, err := exec.LookPath(command[0]); err != nil {
		t.Skipf("%s is not installed", command[0])
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, text)
	}
}

func open(t testing.TB, path string) *object.File {
	t.Helper()
	o, err := object.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	return o
}

func copyTo(t testing.TB, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o700)
	}
	if err == nil {
		err = os.WriteFile(to, data, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// finder returns a finder for the binary at a path below root, as for a process with that root directory.
func finder(t testing.TB, root, path string) *Finder {
	t.Helper()
	o, err := object.OpenIn(openfile.Own(), root, path)
	if err != nil {
		t.Fatal(err)
	}
	f := New(o, nil)
	f.roots = []string{root, ""}
	t.Cleanup(func() { f.Close(); o.Close() })
	return f
}

// TestOrder checks that the first debug file in gdb's order is used, and when it is removed, the next.
func TestOrder(t *testing.T) {
	small := program(t)
	dir := filepath.Dir(small)
	run(t, dir, "objcopy", "--only-keep-debug", "small", "small.debug")
	run(t, dir, "objcopy", "--strip-all", "--add-gnu-debuglink=small.debug", "small", "stripped")
	id := open(t, small).BuildID()
	root := t.TempDir()
	copyTo(t, filepath.Join(dir, "stripped"), root+"/opt/app/bin/small")
	places := []string{
		"/usr/lib/debug/.build-id/" + id[:2] + "/" + id[2:] + ".debug",
		"/opt/app/bin/small.debug",
		"/opt/app/bin/.debug/small.debug",
		"/usr/lib/debug/opt/app/bin/small.debug",
	}
	for _, p := range places {
		copyTo(t, filepath.Join(dir, "small.debug"), root+p)
	}
	for _, p := range places {
		f := finder(t, root, "/opt/app/bin/small")
		got := f.Separate()
		if got == nil || got.Path != p || got.Root != root {
			t.Errorf("%+v, not %s", got, p)
		}
		if len(f.Problems()) > 0 {
			t.Error(f.Problems())
		}
		// A file of another build in its place is a problem, and is not used.
		copyTo(t, program(t, "-DX", "-O2"), root+p)
		f = finder(t, root, "/opt/app/bin/small")
		if got := f.Separate(); got != nil && got.Path == p {
			t.Errorf("%s is of another build", p)
		}
		if said := strings.Join(f.Problems(), " "); !strings.Contains(said, p+" has another build id") {
			t.Errorf("%s: %s", p, said)
		}
		if err := os.Remove(root + p); err != nil {
			t.Fatal(err)
		}
	}
	if got := finder(t, root, "/opt/app/bin/small").Separate(); got != nil {
		t.Errorf("%s, but all were removed", got.Path)
	}
}

// TestChecksum checks that without a build id the checksum is compared.
func TestChecksum(t *testing.T) {
	small := program(t, "-Wl,--build-id=none")
	dir := filepath.Dir(small)
	run(t, dir, "objcopy", "--only-keep-debug", "small", "small.debug")
	run(t, dir, "objcopy", "--strip-all", "--add-gnu-debuglink=small.debug", "small", "stripped")
	if f := New(open(t, dir+"/stripped"), nil); f.Separate() == nil {
		t.Error(f.Problems())
	}
	data, err := os.ReadFile(dir + "/small.debug")
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(dir+"/small.debug", data, 0o700); err != nil {
		t.Fatal(err)
	}
	f := New(open(t, dir+"/stripped"), nil)
	if f.Separate() != nil || !strings.Contains(strings.Join(f.Problems(), " "), "checksum") {
		t.Error(f.Problems())
	}
}

// TestItself reads files that refer to themselves.
func TestItself(t *testing.T) {
	small := program(t)
	dir := filepath.Dir(small)
	id := open(t, small).BuildID()
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	raw := []byte("loop\x00")
	for i := 0; i < len(id); i += 2 {
		var b byte
		for _, c := range id[i : i+2] {
			b = b<<4 | byte(strings.IndexRune("0123456789abcdef", c))
		}
		raw = append(raw, b)
	}
	write("link", raw)
	run(t, dir, "objcopy", "--add-section=.gnu_debugaltlink=link", "small", "loop")
	f := New(open(t, dir+"/loop"), nil)
	if o := f.Alternate(f.binary); o == nil {
		t.Error(f.Problems())
	}
	f.Close()
}

type fetch struct {
	asked   []string
	path    string
	pending bool
}

func (f *fetch) Fetch(id string) (string, bool) {
	f.asked = append(f.asked, id)
	return f.path, f.pending
}

// TestFetched checks that a server is asked last.
func TestFetched(t *testing.T) {
	small := program(t)
	dir := filepath.Dir(small)
	id := open(t, small).BuildID()
	run(t, dir, "objcopy", "--strip-all", "small", "stripped")
	server := &fetch{path: small}
	f := New(open(t, dir+"/stripped"), server)
	if o := f.Separate(); o == nil || o.Path != small || !slices.Equal(server.asked, []string{id}) {
		t.Errorf("%v, asked %v", o, server.asked)
	}
	f.Close()
	server = &fetch{pending: true}
	f = New(open(t, dir+"/stripped"), server)
	if f.Separate() != nil || !f.Pending() {
		t.Error("not pending")
	}
	copyTo(t, small, dir+"/global/.build-id/"+id[:2]+"/"+id[2:]+".debug")
	server = &fetch{path: small}
	f = New(open(t, dir+"/stripped"), server)
	f.Global = []string{dir + "/global"}
	if f.Separate() == nil || len(server.asked) != 0 {
		t.Error("asked for what is installed")
	}
	f.Close()
}

func TestMini(t *testing.T) {
	small := program(t)
	dir := filepath.Dir(small)
	run(t, dir, "objcopy", "-S", "--keep-symbol=twice", "small", "mini")
	run(t, dir, "xz", "mini")
	run(t, dir, "objcopy", "--strip-all", "--add-section=.gnu_debugdata=mini.xz", "small", "stripped")
	f := New(open(t, dir+"/stripped"), nil)
	defer f.Close()
	o := f.Mini()
	if o == nil {
		t.Fatal(f.Problems())
	}
	if !o.Has(".symtab") {
		t.Error("no symbol table")
	}
	if err := os.WriteFile(dir+"/junk", []byte("\xfd7zXZ\x00 and so on"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "objcopy", "--strip-all", "--add-section=.gnu_debugdata=junk", "small", "broken")
	g := New(open(t, dir+"/broken"), nil)
	defer g.Close()
	if g.Mini() != nil || len(g.Problems()) != 1 {
		t.Error(g.Problems())
	}
}

func TestLinks(t *testing.T) {
	link := append([]byte("a.debug\x00"), 1, 2, 3, 4)
	if name, sum, ok := debugLink(link); !ok || name != "a.debug" || sum != 0x04030201 {
		t.Error(name, sum, ok)
	}
	padded := append([]byte("ab\x00\x00"), 1, 0, 0, 0)
	if name, sum, ok := debugLink(padded); !ok || name != "ab" || sum != 1 {
		t.Error(name, sum, ok)
	}
	for _, bad := range [][]byte{
		nil, {0}, []byte("a"), []byte("a\x00\x00\x00"), append([]byte("../a\x00\x00\x00\x00"), 1, 2, 3, 4), link[:11],
	} {
		if name, _, ok := debugLink(bad); ok {
			t.Errorf("%q: %s", bad, name)
		}
	}
	if name, id, ok := altLink([]byte("/x/y\x00\xab\xcd")); !ok || name != "/x/y" || id != "abcd" {
		t.Error(name, id, ok)
	}
	name, sum, is, ok := supplementary([]byte("\x05\x00\x00/x\x00\x02\xab\xcd"))
	if !ok || is || name != "/x" || sum != "abcd" {
		t.Error(name, sum, is, ok)
	}
	if _, sum, is, ok := supplementary([]byte("\x05\x00\x01\x00\x02\xab\xcd")); !ok || !is || sum != "abcd" {
		t.Error(sum, is, ok)
	}
}

// FuzzLinks reads arbitrary sections.
func FuzzLinks(f *testing.F) {
	f.Add([]byte("a.debug\x00\x01\x02\x03\x04"))
	f.Add([]byte("\x05\x00\x00/x\x00\x02\xab\xcd"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if name, _, ok := debugLink(data); ok && (name == "" || strings.ContainsAny(name, "/\x00")) {
			t.Errorf("%q", name)
		}
		if name, id, ok := altLink(data); ok && (name == "" || id == "" || strings.Contains(name, "\x00")) {
			t.Errorf("%q %q", name, id)
		}
		if name, sum, is, ok := supplementary(data); ok && (sum == "" || is != (name == "")) {
			t.Errorf("%q %q %v", name, sum, is)
		}
	})
}

// FuzzMini reads arbitrary compressed files.
func FuzzMini(f *testing.F) {
	if xz, err := exec.LookPath("xz"); err == nil {
		for _, text := range []string{"", "abcabcabcabcabcabc", strings.Repeat("\x7fELF", 10_000)} {
			cmd := exec.Command(xz, "-c")
			cmd.Stdin = strings.NewReader(text)
			if out, err := cmd.Output(); err == nil {
				f.Add(out)
			}
		}
	}
	f.Add(binary.LittleEndian.AppendUint32([]byte("\xfd7zXZ\x00\x00\x04"), 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		image, err := unxz(data)
		if err != nil {
			return
		}
		if len(image) > maxMini {
			t.Errorf("%d bytes", len(image))
		}
		if o, err := object.New("x", bytes.Clone(image)); err == nil {
			o.Has(".symtab")
			o.Close()
		}
	})
}
