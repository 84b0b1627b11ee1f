package report

import (
	"bytes"
	"testing"

	"whatif/internal/profile"
)

func TestUnits(t *testing.T) {
	sampled := []Sampled{
		{profile.Unit{Kind: "line", Name: "parse.c:118", File: "/src/a/parse.c", Line: 118, Func: "parse_row",
			Binary: "/opt/server"}, 600, ""},
		{profile.Unit{Kind: "line", Name: "parse.c:7", File: "/src/b/parse.c", Line: 7, Func: "parse_header",
			Binary: "/opt/server"}, 100, ""},
		{profile.Unit{Kind: "func", Name: "memcpy", Func: "memcpy", Binary: "/lib/libc.so.6"}, 90, "C library"},
		{profile.Unit{Kind: "line", Name: "stl_vector.h:9", File: "/usr/include/c++/12/bits/stl_vector.h",
			Line: 9, Func: "std::vector<int>::push_back", Binary: "/opt/server"}, 80, "C++ library, counts for parse.c:118"},
		{profile.Unit{Kind: "binary", Name: "odd\x1b[2J", Binary: "/tmp/odd\x1b[2J"}, 5, "excluded by func:\x1b"},
	}
	for name, opt := range map[string]Options{"sampled": {}, "sampled60": {Width: 60, Top: 3}} {
		var out bytes.Buffer
		if err := Units(&out, sampled, 1000, opt); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".txt", out.Bytes())
	}
	var out bytes.Buffer
	if err := Units(&out, nil, 0, Options{}); err != nil || out.String() != "0 samples: 0.0% in scope, 0.0% out of it\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}
