package report

import (
	"bytes"
	"io"
	"testing"

	"whatif/internal/profile"
)

func TestUnits(t *testing.T) {
	sampled := []Sampled{
		{Unit: profile.Unit{Kind: "line", Name: "parse.c:118", File: "/src/a/parse.c", Line: 118, Func: "parse_row",
			Binary: "/opt/server"}, Samples: 600, Share: 60},
		{Unit: profile.Unit{Kind: "line", Name: "parse.c:7", File: "/src/b/parse.c", Line: 7, Func: "parse_header",
			Binary: "/opt/server"}, Samples: 100, Share: 10},
		{Unit: profile.Unit{Kind: "func", Name: "memcpy", Func: "memcpy", Binary: "/lib/libc.so.6"},
			Samples: 90, Share: 9, Outside: "C library"},
		{Unit: profile.Unit{Kind: "line", Name: "stl_vector.h:9", File: "/usr/include/c++/12/bits/stl_vector.h",
			Line: 9, Func: "std::vector<int>::push_back", Binary: "/opt/server"},
			Samples: 80, Share: 8, Outside: "C++ library, counts for parse.c:118"},
		{Unit: profile.Unit{Kind: "binary", Name: "odd\x1b[2J", Binary: "/tmp/odd\x1b[2J"},
			Samples: 5, Share: 0.5, Outside: "excluded by func:\x1b"},
	}
	for name, opt := range map[string]Options{"sampled": {}, "sampled60": {Width: 60, Top: 3}} {
		var out bytes.Buffer
		if err := Units(&out, UnitList{Units: sampled, Samples: 1000}, opt); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".txt", out.Bytes())
	}
	var out bytes.Buffer
	const empty = "0 samples: 0.0% in scope, 0.0% out of it\n"
	if err := Units(&out, UnitList{}, Options{}); err != nil || out.String() != empty {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// The units of a profile have how often they were tried; JSON names each as -t does.
func TestUnitsOfProfile(t *testing.T) {
	list := UnitList{Tried: true, Samples: 1000, Units: []Sampled{
		{Unit: profile.Unit{Kind: "line", Name: "parse.c:118", File: "/src/a/parse.c", Line: 118, Func: "parse_row",
			Binary: "/opt/server"}, Samples: 600, Share: 60, Tried: 12},
		{Unit: profile.Unit{Kind: "func", Name: "send", Func: "send", Self: true, Binary: "/opt/server"}, Share: 10},
		{Unit: profile.Unit{Kind: "func", Name: "recv", Func: "recv", Binary: "/opt/server"}, Share: 10, Tried: 1},
		{Unit: profile.Unit{Kind: "file", Name: "odd.c", File: "/src/odd.c", Binary: "/opt/server"}, Share: 1},
	}}
	for name, write := range map[string]func(io.Writer, UnitList, Options) error{
		"units.txt": Units, "units-json.txt": UnitsJSON,
	} {
		var out bytes.Buffer
		if err := write(&out, list, Options{Top: 3}); err != nil {
			t.Fatal(err)
		}
		golden(t, name, out.Bytes())
	}
}
