package report

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"whatif/internal/profile"
)

func TestShortPaths(t *testing.T) {
	for _, c := range []map[string]string{
		{"/src/parse.c": "parse.c"},
		{"/src/a/parse.c": "a/parse.c", "/src/b/parse.c": "b/parse.c", "/src/c/scan.c": "scan.c"},
		{"/x/src/parse.c": "x/src/parse.c", "/y/src/parse.c": "y/src/parse.c", "/y/lib/parse.c": "lib/parse.c"},
		{"parse.c": "parse.c", "/src/parse.c": "src/parse.c"},
		{"/parse.c": "/parse.c", "parse.c": "parse.c"},
		{"src/parse.c": "src/parse.c", "/x/src/parse.c": "x/src/parse.c"},
		{"/rustc/0123abc/library/core/src/ptr/mod.rs": "ptr/mod.rs",
			"/rustc/0123abc/library/core/src/slice/mod.rs": "slice/mod.rs"},
		{"": ""},
	} {
		paths := []string{}
		for p := range c {
			paths = append(paths, p, p)
		}
		got := shortPaths(paths)
		for p, want := range c {
			if got[p] != want {
				t.Errorf("%v: %s is shown as %q, want %q", c, p, got[p], want)
			}
		}
	}
}

// FuzzShortPaths: no two paths are shown alike, each is an end of its path, and a component less
// would not do.
func FuzzShortPaths(f *testing.F) {
	f.Add("/a/x.c\n/b/x.c\nx.c\n/x.c")
	f.Add("a//b\n/a//b\n//b\nb/")
	f.Fuzz(func(t *testing.T, text string) {
		paths := strings.Split(text, "\n")
		shown := map[string]string{}
		for p, short := range shortPaths(paths) {
			if q, taken := shown[short]; taken {
				t.Errorf("%q and %q are both shown as %q", p, q, short)
			}
			shown[short] = p
			if !strings.HasSuffix(p, short) {
				t.Errorf("%q is shown as %q", p, short)
			}
		}
	})
}

func TestUnitNames(t *testing.T) {
	unit := func(kind, name, file string, line int) profile.Unit {
		return profile.Unit{Kind: kind, Name: name, File: file, Line: line, Binary: "/bin/" + path.Base(file)}
	}
	want := map[profile.Unit]string{
		unit("line", "parse.c:118", "/src/a/parse.c", 118):      "a/parse.c:118",
		unit("line", "parse.c:118", "/src/b/parse.c", 118):      "b/parse.c:118",
		unit("line", "parse.c:119", "/src/b/parse.c", 119):      "b/parse.c:119",
		unit("line", "scan.c:7", "/src/b/scan.c", 7):            "scan.c:7",
		unit("file", "parse.c", "/src/b/parse.c", 0):            "b/parse.c",
		unit("func", "parse", "/src/b/parse.c", 0):              "parse",
		unit("line", "made elsewhere", "/src/c.c", 3):           "made elsewhere",
		{Kind: "binary", Name: "server", Binary: "/opt/server"}: "server",
	}
	name := unitNames(slices.Collect(maps.Keys(want)))
	for u, n := range want {
		if got := name(u); got != n {
			t.Errorf("%+v is shown as %q, want %q", u, got, n)
		}
	}
}
