package point

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"whatif/internal/code/symbol"
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

	goCode  bool
	entries []symbol.LineEntry
	probes  []symbol.USDTProbe
	asked   string // file of the last question for lines
}

func (f *fake) IsGoCode(uint64) bool                    { return f.goCode }
func (f *fake) ReturnLines(symbol.Func) []string        { return []string{"a.go:7", "a.go:9"} }
func (f *fake) USDTProbes() ([]symbol.USDTProbe, error) { return f.probes, f.broken }
func (f *fake) LineEntries(file string, line int) ([]symbol.LineEntry, error) {
	f.asked = file
	if len(f.entries) == 0 {
		return nil, f.lines
	}
	if !symbol.MatchFile(file, f.entries[0].File) {
		return nil, &symbol.NotFound{}
	}
	return f.entries, nil
}

func (f *fake) Path() string { return f.path }
func (f *fake) Name() string { return strings.TrimPrefix(f.path, "/proc/7/root") }
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
	exe := &fake{path: "/home/u/server", imports: "deflate",
		funcs: map[string][]symbol.Func{"done": funcs(0x1100, 0x1200)}}
	lib := &fake{path: "/usr/lib/libz.so.1",
		funcs: map[string][]symbol.Func{"done": funcs(0x500), "deflate": funcs(0x700)}}
	all := []*fake{exe, lib}
	site := func(binary string, offset uint64) Site {
		return Site{Binary: binary, Offset: offset, Size: 8, Func: "done", Symbol: "done", Entry: true}
	}
	for spec, want := range map[string][]Site{
		"func:done":                    {site("/home/u/server", 0x1100), site("/home/u/server", 0x1200)},
		"func:./server:done":           {site("/home/u/server", 0x1100), site("/home/u/server", 0x1200)},
		"func:/usr/lib/libz.so.1:done": {site("/usr/lib/libz.so.1", 0x500)},
		"func:deflate":                 {site("/usr/lib/libz.so.1", 0x700)},
	} {
		if got, err := Resolve(mustParse(t, spec), all, new(Before)); err != nil || !slices.Equal(got, want) {
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
		{"func:small", []*fake{exe}, []string{"inlined", "FILE:LINE", "noinline"}},
		{"func:label", []*fake{exe}, []string{"without a size"}},
		{"func:./client:done", []*fake{exe}, []string{"no binary ./client", "/home/u/server"}},
		{"func:done", []*fake{broken}, []string{"damaged"}},
		{"func:done", nil, []string{"no function done"}},
	} {
		sites, err := Resolve(mustParse(t, c.spec), c.binaries, new(Before))
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
	if sites, err := Find(mustParse(t, "func:reqest_done"), []*fake{exe}, new(Before)); sites != nil || err != nil {
		t.Errorf("found %+v, %v", sites, err)
	}
	if _, err := Find(mustParse(t, "func:label"), []*fake{exe}, new(Before)); err == nil {
		t.Error("found a label")
	}
	var missing *symbol.NotFound
	_, err := Resolve(mustParse(t, "func:reqest_done"), []*fake{exe}, new(Before))
	if !errors.As(err, &missing) || !slices.Equal(missing.Near, exe.near) {
		t.Errorf("%v is no NotFound with the nearest names", err)
	}
}

// TestResolvePattern checks that a pattern means functions of the program and its own libraries, and
// of the system's libraries only if there are no others.
func TestResolvePattern(t *testing.T) {
	exe := &fake{path: "/home/u/server", funcs: map[string][]symbol.Func{"handle_*": funcs(0x1100, 0x1200)}}
	own := &fake{path: "/home/u/libshop.so", funcs: map[string][]symbol.Func{"handle_*": funcs(0x300)}}
	system := &fake{path: "/usr/lib/libz.so.1",
		funcs: map[string][]symbol.Func{"handle_*": funcs(0x500), "inflate*": funcs(0x700)}}
	all := []*fake{exe, own, system}
	for spec, want := range map[string]string{
		"func:handle_*":                    "/home/u/server+1100 /home/u/server+1200 /home/u/libshop.so+300 ",
		"func:/usr/lib/libz.so.1:handle_*": "/usr/lib/libz.so.1+500 ",
		"func:inflate*":                    "/usr/lib/libz.so.1+700 ",
	} {
		sites, err := Resolve(mustParse(t, spec), all, new(Before))
		got := ""
		for _, s := range sites {
			got += fmt.Sprintf("%s+%x ", s.Binary, s.Offset)
		}
		if err != nil || got != want {
			t.Errorf("%s: %s, %v", spec, got, err)
		}
	}
	exe.funcs["*"] = make([]symbol.Func, MaxSites+1)
	for i := range exe.funcs["*"] {
		exe.funcs["*"][i] = symbol.Func{Name: "f", FileOffset: uint64(i), Size: 1}
	}
	_, err := Resolve(mustParse(t, "func:*"), []*fake{exe}, new(Before))
	if err == nil || !strings.Contains(err.Error(), "4097 places, at most 4096") {
		t.Errorf("everything: %v", err)
	}
}

// TestResolveResolver checks that a resolver, which chooses a function for the processor, is refused.
func TestResolveResolver(t *testing.T) {
	resolver := []symbol.Func{{Name: "memcpy", Symbol: "memcpy", FileOffset: 1, Size: 9, Resolver: true}}
	libc := &fake{path: "/usr/lib/libc.so.6", funcs: map[string][]symbol.Func{"memcpy": resolver}}
	sites, err := Resolve(mustParse(t, "func:memcpy"), []*fake{libc}, new(Before))
	if err == nil || !strings.Contains(err.Error(), "chooses an implementation") ||
		strings.Contains(err.Error(), "func:__") {
		t.Errorf("%+v, %v", sites, err)
	}
	libc.funcs["memcpy"] = append(funcs(7), resolver...) // memcpy@GLIBC_2.2.5
	libc.funcs["memcpy"][0].Symbol = "memcpy"
	libc.funcs["__memcpy_*"] = []symbol.Func{
		{Symbol: "__memcpy_avx_unaligned", Size: 9}, {Symbol: "__memcpy_chk", Size: 9, Resolver: true},
	}
	_, err = Resolve(mustParse(t, "func:memcpy"), []*fake{libc}, new(Before))
	if err == nil || !strings.Contains(err.Error(), "func:__memcpy_avx_unaligned or another") {
		t.Error(err)
	}
	// Versions that the compiler made of a function count as the function.
	libc.funcs["memcpy"] = append(resolver, symbol.Func{Name: "memcpy", Symbol: "memcpy.avx2", FileOffset: 5, Size: 9})
	sites, err = Resolve(mustParse(t, "func:memcpy"), []*fake{libc}, new(Before))
	if err != nil || len(sites) != 1 || sites[0].Offset != 5 {
		t.Errorf("%+v, %v", sites, err)
	}
}

// TestResolveInContainer finds a container's files, which are opened through /proc, by the names
// that its processes use.
func TestResolveInContainer(t *testing.T) {
	exe := &fake{path: "/proc/7/root/srv/server", funcs: map[string][]symbol.Func{"handle_*": funcs(0x1100)}}
	libc := &fake{path: "/proc/7/root/usr/lib/libc.so.6",
		funcs: map[string][]symbol.Func{"handle_*": funcs(0x500), "read": funcs(0x600)}}
	for spec, want := range map[string]string{
		"func:handle_*":                   exe.path,
		"func:/usr/lib/libc.so.6:read":    libc.path,
		"func:" + libc.path + ":handle_*": libc.path,
	} {
		sites, err := Resolve(mustParse(t, spec), []*fake{exe, libc}, new(Before))
		if err != nil || len(sites) != 1 || sites[0].Binary != want {
			t.Errorf("%s: %+v, %v", spec, sites, err)
		}
	}
	_, err := Resolve(mustParse(t, "func:dome"), []*fake{exe}, new(Before))
	if err == nil || !strings.Contains(err.Error(), "in /srv/server") {
		t.Error(err)
	}
}

func TestResolveReturn(t *testing.T) {
	exe := &fake{path: "/home/u/server", funcs: map[string][]symbol.Func{"done": funcs(0x1100)}}
	sites, err := Resolve(mustParse(t, "func:done%return"), []*fake{exe}, new(Before))
	if err != nil || len(sites) != 1 || !sites[0].Return {
		t.Errorf("%+v, %v", sites, err)
	}
	exe.goCode = true
	_, err = Resolve(mustParse(t, "func:done%return"), []*fake{exe}, new(Before))
	if err == nil || !strings.Contains(err.Error(), "is a Go function") ||
		!strings.Contains(err.Error(), "-p a.go:7 -p a.go:9") {
		t.Errorf("of Go: %v", err)
	}
}

// TestResolveLine finds a line in all binaries with code of the same file.
func TestResolveLine(t *testing.T) {
	exe := &fake{path: "/home/u/server", entries: []symbol.LineEntry{
		{File: "/src/a.h", FileOffset: 1, Size: 3, Func: "f"},
		{File: "/src/a.h", FileOffset: 2, Size: 1, Func: "g", Entry: true},
	}}
	own := &fake{path: "/home/u/libshop.so", entries: []symbol.LineEntry{{File: "/src/a.h", FileOffset: 3}}}
	other := &fake{path: "/home/u/libother.so", entries: []symbol.LineEntry{{File: "/elsewhere/a.h", FileOffset: 4}}}
	system := &fake{path: "/usr/lib/libz.so.1", entries: []symbol.LineEntry{{File: "/src/a.h", FileOffset: 5}}}
	sites, err := Resolve(mustParse(t, "a.h:3"), []*fake{exe, own, system}, new(Before))
	if err != nil || len(sites) != 3 || sites[0].Size != 3 || !sites[1].Entry || sites[2].Binary != own.path {
		t.Errorf("%+v, %v", sites, err)
	}
	_, err = Resolve(mustParse(t, "a.h:3"), []*fake{exe, other}, new(Before))
	const two = "in /home/u/server, /home/u/libother.so: elsewhere/a.h:3, src/a.h:3"
	if err == nil || !strings.Contains(err.Error(), two) {
		t.Errorf("two files: %v", err)
	}
	lacks := func(what string, near ...string) *fake {
		return &fake{path: "/home/u/x", lines: &symbol.NotFound{What: what, Name: "a.h:3", Where: "x", Near: near}}
	}
	if sites, err = Find(mustParse(t, "a.h:3"), []*fake{lacks("file")}, new(Before)); err != nil || sites != nil {
		t.Errorf("%+v, %v", sites, err)
	}
	lack := []*fake{lacks("file"), lacks("line with code", "a.h:4")}
	_, err = Resolve(mustParse(t, "a.h:3"), lack, new(Before))
	if err == nil || !strings.Contains(err.Error(), "there is a.h:4") {
		t.Error(err)
	}
	twice := &fake{path: "/home/u/x",
		lines: &symbol.Ambiguous{Name: "a.h:3", Where: "x", Files: []string{"b/a.h", "c/a.h"}}}
	_, err = Resolve(mustParse(t, "a.h:3"), []*fake{twice}, new(Before))
	if err == nil || !strings.Contains(err.Error(), "b/a.h, c/a.h") {
		t.Error(err)
	}
}

func TestResolveUSDT(t *testing.T) {
	exe := &fake{path: "/home/u/server", probes: []symbol.USDTProbe{
		{Provider: "shop", Name: "sold", FileOffset: 1, Semaphore: 9},
		{Provider: "shop", Name: "sold", FileOffset: 2},
		{Provider: "x", Name: "sold", FileOffset: 3},
	}}
	lib := &fake{path: "/usr/lib/libz.so.1",
		probes: []symbol.USDTProbe{{Provider: "shop", Name: "sold", FileOffset: 4}}}
	for spec, want := range map[string]int{"usdt:shop:sold": 3, "usdt:sold": 4, "usdt:x:sold": 1} {
		sites, err := Resolve(mustParse(t, spec), []*fake{exe, lib}, new(Before))
		if err != nil || len(sites) != want || sites[0].Size != 0 {
			t.Errorf("%s: %+v, %v", spec, sites, err)
		}
	}
	if sites, err := Find(mustParse(t, "usdt:bought"), []*fake{exe}, new(Before)); err != nil || sites != nil {
		t.Errorf("%+v, %v", sites, err)
	}
	_, err := Resolve(mustParse(t, "usdt:shop:solt"), []*fake{exe}, new(Before))
	if err == nil || !strings.Contains(err.Error(), "there is x:sold, shop:sold") {
		t.Error(err)
	}
	_, err = Resolve(mustParse(t, "usdt:x"), []*fake{{path: "/home/u/x"}}, new(Before))
	if err == nil || !strings.Contains(err.Error(), "no USDT probes at all") {
		t.Error(err)
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
		"func:std::swap": 0, "func:shop::Cart::add": 1, "func:shop::Cart::add(int)": 1, "func:main": 2, "func:add": -1,
		"func:shop::*": 1,
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
	noLine := &symbol.NotFound{What: "line with code", Name: "parse.c:3", Where: "/home/u/server",
		Near: []string{"parse.c:4"}}
	unlike := &symbol.NotFound{What: "file", Name: "parse.c", Where: "/home/u/server"}
	system := &symbol.NotFound{What: "file", Name: "parse.c", Where: "/usr/lib/x86_64-linux-gnu/libc.so.6",
		Near: []string{"parse_tz.c"}}
	has := &fake{path: "/home/u/server", funcs: map[string][]symbol.Func{"done": funcs(1)}, inlined: "small",
		near: []string{"done"}}
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
		{"parse.c:3", []*fake{{lines: unlike}, {lines: system}}, "in /home/u/server"},
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

// *symbol.Binary has the methods of both interfaces.
var (
	_ Binary = (*symbol.Binary)(nil)
	_ Code   = (*symbol.Binary)(nil)
)
