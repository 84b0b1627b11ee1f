package scope

import (
	"strings"
	"testing"

	"whatif/internal/code/symbol"
)

func rules(t *testing.T, texts ...string) []Rule {
	t.Helper()
	var all []Rule
	for _, text := range texts {
		r, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if r.String() != text {
			t.Errorf("%s is read as %s", text, r)
		}
		all = append(all, r)
	}
	return all
}

func TestParse(t *testing.T) {
	for _, s := range []string{"", "parse.c", "file:parse.c", "func:", "binary: ", ":x", "source"} {
		if r, err := Parse(s); err == nil || !strings.Contains(err.Error(), "expected binary:GLOB") {
			t.Errorf("%q: %+v, %v", s, r, err)
		}
	}
}

func TestOutside(t *testing.T) {
	server := symbol.Origin{Path: "/opt/app/server", Executable: true, Lines: true}
	own := symbol.Origin{Path: "/opt/app/libown.so.1", Lines: true}
	libz := symbol.Origin{Path: "/usr/lib/x86_64-linux-gnu/libz.so.1.2.13"}
	libc := symbol.Origin{Path: "/usr/lib/x86_64-linux-gnu/libc.so.6 (deleted)"}
	parse := symbol.Frame{Func: "parse_row(char const*)", Short: "parse_row", File: "/src/app/parse.c", Line: 118}
	vendored := symbol.Frame{Func: "ZSTD_compress", Short: "ZSTD_compress",
		File: "/src/app/third_party/zstd/zstd.c", Line: 3}
	vector := symbol.Frame{Func: "std::vector<int>::push_back(int)", Short: "std::vector<int>::push_back",
		File: "/usr/include/c++/12/bits/stl_vector.h", Line: 9}
	deflate := symbol.Frame{Func: "deflate", Short: "deflate"}
	swift := symbol.Frame{Func: "specialized main.Store.add(item:)", Short: "specialized main.Store.add(item:)"}
	for _, c := range []struct {
		include, exclude string
		origin           symbol.Origin
		frame            symbol.Frame
		want             string
	}{
		{"", "", server, parse, ""},
		{"", "", server, vector, "C++ library"},
		{"", "", libz, deflate, "system library"},
		{"", "", libc, deflate, "C library"},
		{"", "source:third_party/*", server, vendored, "excluded by source:third_party/*"},
		{"", "source:third_party/*", server, parse, ""},
		{"", "source:party/*", server, vendored, ""},
		{"", "source:*.c", server, parse, "excluded by source:*.c"},
		{"", "binary:libown*", own, parse, "excluded by binary:libown*"},
		{"", "binary:own*", own, parse, ""},
		{"", "func:parse_*", server, parse, "excluded by func:parse_*"},
		{"", "func:parse_row", server, parse, "excluded by func:parse_row"},
		{"binary:libz.so*", "", libz, deflate, ""},
		{"binary:libz.so*", "", server, parse, "not included"},
		{"binary:libz.so*", "", server, vector, "C++ library"},
		{"binary:libc.so.6", "", libc, deflate, ""},
		{"source:/src/app/*", "", server, vendored, ""},
		{"source:/src/app/*", "source:third_party/*", server, vendored, "excluded by source:third_party/*"},
		{"source:/src/app/*", "", server, vector, "C++ library"},
		{"source:src/app/*", "", libz, deflate, "system library"},
		{"source:parse.c", "", server, parse, ""},
		{"source:app/parse.c", "", server, parse, ""},
		{"source:*", "", server, vector, ""},
		{"source:*", "", libz, deflate, "system library"},
		{"func:deflate", "", libz, deflate, ""},
		{"func:std::vector*", "", server, vector, ""},
		{"func:main.Store.*", "func:main.Store.add(item:)", server, swift, "excluded by func:main.Store.add(item:)"},
		{"func:main.Store.*", "func:main.Store.add(count:)", server, swift, ""},
		{"binary:server", "source:/usr/include/*", server, vector, "excluded by source:/usr/include/*"},
		{"source:parse.c binary:libz*", "", libz, deflate, ""},
		{"source:parse.c binary:libz*", "", server, parse, ""},
		{"source:mine/*", "", server, parse, ""}, // by the path that is shown
	} {
		s := Scope{Include: rules(t, strings.Fields(c.include)...), Exclude: rules(t, strings.Fields(c.exclude)...),
			Shown: func(file string) string { return strings.Replace(file, "/src/app/", "/home/u/mine/", 1) }}
		if got := s.WhyOutside(c.origin, c.frame); got != c.want {
			t.Errorf("--include %q --exclude %q: %s in %s: %q, want %q",
				c.include, c.exclude, c.frame.Func, c.origin.Path, got, c.want)
		}
	}
}

func TestFirst(t *testing.T) {
	server := symbol.Origin{Path: "/opt/app/server", Executable: true, Lines: true}
	chain := []symbol.Frame{
		{Func: "std::swap", Short: "std::swap", File: "/usr/include/c++/12/bits/move.h", Line: 204},
		{Func: "sort", Short: "sort", File: "/src/sort.cc", Line: 10},
		{Func: "main", Short: "main", File: "/src/main.cc", Line: 3},
	}
	for _, c := range []struct {
		include, exclude []Rule
		want             int
	}{
		{nil, nil, 1},
		{nil, rules(t, "source:sort.cc"), 2},
		{nil, rules(t, "binary:server"), -1},
		{rules(t, "source:main.cc"), nil, 2},
		{rules(t, "func:std::*"), nil, 0},
	} {
		s := Scope{Include: c.include, Exclude: c.exclude}
		if got := s.First(server, chain); got != c.want {
			t.Errorf("%v %v: %d, want %d", c.include, c.exclude, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("source:third_party/*", "/src/third_party/a.c")
	f.Fuzz(func(t *testing.T, text, file string) {
		r, err := Parse(text)
		if err != nil {
			return
		}
		s := Scope{Exclude: []Rule{r}}
		s.WhyOutside(symbol.Origin{Path: file}, symbol.Frame{Func: file, Short: file, File: file, Line: 1})
	})
}
