package profile

import (
	"strings"
	"testing"
)

func TestMapFiles(t *testing.T) {
	d := &Data{Units: map[uint32]Unit{
		1: {ID: 1, Kind: "line", Name: "parse.c:118", File: "/build/parse.c", Line: 118},
		2: {ID: 2, Kind: "file", Name: "parse.c", File: "/build/parse.c"},
		3: {ID: 3, Kind: "func", Name: "parse.c", File: "/build/parse.c"},
		4: {ID: 4, Kind: "binary", Name: "server", Binary: "/build/server"},
	}, Sources: map[string]string{"/build/parse.c": "0123"}}
	d.MapFiles(func(file string) string { return strings.Replace(file, "/build/parse.c", "/home/u/row.c", 1) })
	if d.Sources["/home/u/row.c"] != "0123" || len(d.Sources) != 1 {
		t.Errorf("sources %v", d.Sources)
	}
	for id, want := range map[uint32]Unit{
		1: {ID: 1, Kind: "line", Name: "row.c:118", File: "/home/u/row.c", Line: 118},
		2: {ID: 2, Kind: "file", Name: "row.c", File: "/home/u/row.c"},
		3: {ID: 3, Kind: "func", Name: "parse.c", File: "/home/u/row.c"},
		4: {ID: 4, Kind: "binary", Name: "server", Binary: "/build/server"},
	} {
		if d.Units[id] != want {
			t.Errorf("%+v, want %+v", d.Units[id], want)
		}
	}
}
