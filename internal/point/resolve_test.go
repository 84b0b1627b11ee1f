package point

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"whatif/internal/symbol"
)

// fake is a binary with a few functions.
type fake struct {
	path    string
	funcs   map[string][]symbol.Func
	near    []string
	imports string
	inlined string
	lines   error
	broken  error
}

func (f *fake) Path() string { return f.path }
func (f *fake) Functions(match string) ([]symbol.Func, error) {
	return f.funcs[match], f.broken
}
func (f *fake) Nearest(string, int) []string { return f.near }
func (f *fake) Imports(s string) bool        { return s == f.imports }
func (f *fake) CheckLine(string, int) error  { return f.lines }
func (f *fake) HasFunc(name string) (bool, error) {
	return len(f.funcs[name]) > 0 || name == f.inlined, f.broken
}

func funcs(offsets ...uint64) []symbol.Func {
	var fs []symbol.Func
	for _, o := range offsets {
		fs = append(fs, symbol.Func{Name: "done", Symbol: "done", FileOffset: o, Size: 8})
	}
	return fs
}

func mustParse(t *testing.T, s string) Spec {
	t.Helper()
	spec, err := Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func TestResolve(t *testing.T) {
	exe := &fake{path: "/home/u/server", funcs: map[string][]symbol.Func{"done": funcs(0x1100, 0x1200)}, imports: "deflate"}
	lib := &fake{path: "/usr/lib/libz.so.1", funcs: map[string][]symbol.Func{"done": funcs(0x500), "deflate": funcs(0x700)}}
	all := []*fake{exe, lib}
	for spec, want := range map[string][]Site{
		"func:done":                    {{"/home/u/server", 0x1100, 8, "done", "done"}, {"/home/u/server", 0x1200, 8, "done", "done"}},
		"func:./server:done":           {{"/home/u/server", 0x1100, 8, "done", "done"}, {"/home/u/server", 0x1200, 8, "done", "done"}},
		"func:/usr/lib/libz.so.1:done": {{"/usr/lib/libz.so.1", 0x500, 8, "done", "done"}},
		"func:deflate":                 {{"/usr/lib/libz.so.1", 0x700, 8, "done", "done"}},
	} {
		if got, err := Resolve(mustParse(t, spec), all); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %+v, %v", spec, got, err)
		}
	}
}

func TestResolveErrors(t *testing.T) {
	exe := &fake{path: "/home/u/server", near: []string{"request_done"}, imports: "deflate", inlined: "small",
		funcs: map[string][]symbol.Func{"label": {{Name: "label", Symbol: "label", FileOffset: 0x1300}}}}
	broken := &fake{path: "/home/u/broken", broken: errors.New("reading it: damaged")}
	for _, c := range []struct {
		spec     string
		binaries []*fake
		want     []string
	}{
		{"func:reqest_done", []*fake{exe}, []string{"no function reqest_done in /home/u/server", "there is request_done"}},
		{"func:deflate", []*fake{exe}, []string{"name the library", "func:PATH:deflate"}},
		{"func:small", []*fake{exe}, []string{"inlined", "noinline"}},
		{"func:label", []*fake{exe}, []string{"without a size"}},
		{"func:./client:done", []*fake{exe}, []string{"no binary ./client", "/home/u/server"}},
		{"func:done", []*fake{broken}, []string{"damaged"}},
		{"func:done", nil, []string{"no function done"}},
	} {
		sites, err := Resolve(mustParse(t, c.spec), c.binaries)
		if err == nil {
			t.Errorf("%s: %+v", c.spec, sites)
			continue
		}
		for _, w := range append(c.want, c.spec) {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v, without %q", c.spec, err, w)
			}
		}
	}
	if sites, err := Find(mustParse(t, "func:reqest_done"), []*fake{exe}); sites != nil || err != nil {
		t.Errorf("found %+v, %v", sites, err)
	}
	if _, err := Find(mustParse(t, "func:label"), []*fake{exe}); err == nil {
		t.Error("found a label")
	}
	var missing *symbol.NotFound
	_, err := Resolve(mustParse(t, "func:reqest_done"), []*fake{exe})
	if !errors.As(err, &missing) || !slices.Equal(missing.Near, exe.near) {
		t.Errorf("%v is no NotFound with the nearest names", err)
	}
	var unsupported *UnsupportedError
	if _, err := Resolve(Spec{Kind: USDT, Text: "usdt:x"}, []*fake{exe}); !errors.As(err, &unsupported) {
		t.Errorf("usdt: %v", err)
	}
}

func TestTargetMatch(t *testing.T) {
	chain := []symbol.Frame{
		{Func: "std::swap<int>(int&, int&)", Short: "std::swap<int>", File: "/usr/include/c++/12/bits/move.h", Line: 204},
		{Func: "shop::Cart::add(int)", Short: "shop::Cart::add", File: "/src/cart.cc", Line: 30},
		{Func: "main", Short: "main", File: "/src/main.cc", Line: 9},
	}
	for in, want := range map[string]int{
		"move.h:204": 0, "cart.cc:30": 1, "src/cart.cc:30": 1, "/src/main.cc:9": 2, "cart.cc:31": -1, "art.cc:30": -1,
		"func:std::swap": 0, "func:shop::Cart::add": 1, "func:shop::Cart::add(int)": 1, "func:main": 2, "func:add": -1, "func:shop::*": 1,
	} {
		target, err := ParseTarget(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := target.Match(chain); got != want {
			t.Errorf("%s: %d", in, got)
		}
		if target.Match(nil) != -1 {
			t.Errorf("%s matches nothing at all", in)
		}
	}
}

func TestCheck(t *testing.T) {
	noFile := &symbol.NotFound{What: "file", Name: "parse.c", Where: "/lib/x.so"}
	noLine := &symbol.NotFound{What: "line with code", Name: "parse.c:3", Where: "/home/u/server", Near: []string{"parse.c:4"}}
	has := &fake{path: "/home/u/server", funcs: map[string][]symbol.Func{"done": funcs(1)}, inlined: "small", near: []string{"done"}}
	for _, c := range []struct {
		target   string
		binaries []*fake
		want     string // "" for no error
	}{
		{"func:done", []*fake{{}, has}, ""},
		{"func:small", []*fake{has}, ""},
		{"func:dome", []*fake{has}, "there is done"},
		{"parse.c:3", []*fake{has}, ""},
		{"parse.c:3", []*fake{{lines: noFile}, {lines: noLine}}, "there is parse.c:4"},
		{"parse.c:3", []*fake{{lines: noLine}, {lines: noFile}}, "there is parse.c:4"},
		{"parse.c:3", []*fake{{lines: noFile}, has}, ""},
		{"parse.c:3", nil, "no binaries"},
	} {
		target, err := ParseTarget(c.target)
		if err != nil {
			t.Fatal(err)
		}
		err = Check(target, c.binaries)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, not %q", c.target, err, c.want)
		}
	}
}

// The real thing has what is asked of it.
var (
	_ Binary = (*symbol.Binary)(nil)
	_ Code   = (*symbol.Binary)(nil)
)
