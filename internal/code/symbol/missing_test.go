package symbol

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"whatif/internal/code/symbol/debuginfod"
)

// smallAt builds the small program in its own directory.
func smallAt(t *testing.T, flags ...string) *workshop {
	t.Helper()
	w := newWorkshop(t)
	if err := os.WriteFile(w.path("small.c"), []byte(smallProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	w.run(append([]string{"gcc", "-Wl,--build-id=sha1", "-o", "small", "small.c"}, flags...)...)
	return w
}

// dwo returns the program's only .dwo file.
func (w *workshop) dwo() string {
	w.t.Helper()
	all, _ := filepath.Glob(w.path("*.dwo"))
	if len(all) != 1 {
		w.t.Fatal(all)
	}
	return all[0]
}

func TestMissing(t *testing.T) {
	for _, c := range []struct {
		name  string
		flags []string
		after func(w *workshop)
		want  []string // in the sentence; none: nothing is missing
	}{
		{"complete", []string{"-g"}, func(*workshop) {}, nil},
		{"nothing", nil, func(*workshop) {}, []string{"small has no debug information", "-g"}},
		{"no .dwo", []string{"-g", "-gsplit-dwarf", "-O2"}, func(w *workshop) { os.Remove(w.dwo()) },
			[]string{".dwo not found", "inlined"}},
		{"another .dwo", []string{"-g", "-gsplit-dwarf", "-O2"}, func(w *workshop) {
			w.run("gcc", "-g", "-gsplit-dwarf", "-c", "-O0", "-Dwork=labour",
				"-o", strings.TrimSuffix(w.dwo(), ".dwo")+".o", "small.c")
		}, []string{".dwo is from another compilation"}},
		{"another debug file", []string{"-g"}, func(w *workshop) {
			w.run("objcopy", "--only-keep-debug", "small", "small.debug")
			w.run("objcopy", "--strip-all", "--add-gnu-debuglink=small.debug", "small", "new")
			w.run("gcc", "-g", "-O2", "-Wl,--build-id=sha1", "-o", "small.debug", "small.c")
			w.run("mv", "new", "small")
		}, []string{"small has no debug information", "small.debug has another build id"}},
		{"damaged", []string{"-g", "-gz=zlib"}, func(w *workshop) {
			b := open(w.t, w.path("small"))
			at := b.elf.Section(".debug_info").Offset + 60
			data := slices.Clone(b.image)
			for i := range 20 {
				data[at+uint64(i)] ^= 0xff
			}
			if err := os.WriteFile(w.path("new"), data, 0o700); err != nil {
				w.t.Fatal(err)
			}
			w.run("mv", "new", "small")
		}, []string{"reading .debug_info"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := smallAt(t, c.flags...)
			c.after(w)
			b := open(t, w.path("small"))
			main, err := b.Functions("main")
			if slices.Contains(c.flags, "-g") && err == nil && len(main) == 1 {
				frames, err := b.Frames(main[0].FileOffset)
				lines := len(frames) > 0 && frames[0].Line > 0
				if lost := c.name == "another debug file" || c.name == "damaged"; err != nil || lines == lost {
					t.Errorf("%+v, %v", frames, err)
				}
			}
			text := b.Missing()
			if (text == "") != (c.want == nil) || strings.Contains(text, "\n") {
				t.Errorf("%q", text)
			}
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("%q does not contain %q", text, want)
				}
			}
			t.Log(text)
		})
	}
}

// TestMiniSymbols reads names of a stripped binary from .gnu_debugdata, as in Fedora's packages.
func TestMiniSymbols(t *testing.T) {
	w := smallAt(t, "-g", "-rdynamic", "-fno-inline")
	want := open(t, w.path("small"))
	w.run("objcopy", "-S", "--keep-symbol=work", "--keep-symbol=twice", "small", "mini")
	w.run("xz", "mini")
	w.run("objcopy", "--strip-all", "--add-section=.gnu_debugdata=mini.xz", "small", "stripped")
	b := open(t, w.path("stripped"))
	for _, name := range []string{"work", "twice", "main"} {
		x, err := want.Functions(name)
		if err != nil || len(x) != 1 {
			t.Fatal(name, x, err)
		}
		got, err := b.Frames(x[0].FileOffset)
		if err != nil || len(got) != 1 || got[0].Func != name {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if !b.Imports("printf") {
		t.Error("printf is not imported any more")
	}
}

// TestServer checks that a stripped program's lines come from a server.
func TestServer(t *testing.T) {
	w := smallAt(t, "-g")
	stripped := w.strip(w.path("small"), "elsewhere")
	id := open(t, stripped).BuildID()
	if err := os.Rename(w.path("elsewhere"), w.path("served")); err != nil {
		t.Fatal(err)
	}
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked++
		if r.URL.Path != "/buildid/"+id+"/debuginfo" {
			http.NotFound(rw, r)
			return
		}
		http.ServeFile(rw, r, w.path("served"))
	}))
	defer s.Close()
	old := servers
	defer func() { servers = old }()
	client := debuginfod.FromEnvironment(func(name string) string {
		return map[string]string{"DEBUGINFOD_URLS": s.URL, "DEBUGINFOD_CACHE_PATH": w.path("cache")}[name]
	})
	servers = func() *debuginfod.Client { return client }
	b := open(t, stripped)
	if asked != 0 {
		t.Error("asked before anything was needed")
	}
	funcs, err := b.Functions("main")
	if err != nil || len(funcs) != 1 {
		t.Fatal(funcs, err)
	}
	frames, err := b.Frames(funcs[0].FileOffset)
	if err != nil || len(frames) != 1 || filepath.Base(frames[0].File) != "small.c" || asked != 1 {
		t.Errorf("%+v, %v, asked %d times", frames, err, asked)
	}
}
