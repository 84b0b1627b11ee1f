package profile

import (
	"slices"
	"testing"
	"time"
)

// built is a run that began with a program and met other binaries, given as pairs of path and id.
func built(at int64, program string, met ...string) *Data {
	d := &Data{Run: Run{Started: time.Unix(at, 0)}, Binaries: map[string]string{}}
	if program != "" {
		d.Run.BuildIDs = map[string]string{"/bin/program": program}
	}
	for i := 0; i+1 < len(met); i += 2 {
		d.Binaries[met[i]] = met[i+1]
	}
	return d
}

func TestBuilds(t *testing.T) {
	a, b, unknown, a2 := built(1, "aa"), built(3, "bb"), built(9, ""), built(2, "aa")
	if builds, none := Builds([]*Data{a, unknown, b, a2}); builds != 2 || none != 1 {
		t.Errorf("%d builds, and %d not known", builds, none)
	}
	if builds, none := Builds([]*Data{unknown, {Part: true}}); builds != 0 || none != 1 {
		t.Errorf("of what is not known: %d and %d", builds, none)
	}
	// An old profile may know the launcher only.
	launcher := built(1, "sh")
	launcher.Units = map[uint32]Unit{1: {ID: 1, Kind: "line", Binary: "/srv/server"},
		2: {ID: 2, Kind: "func", Binary: "[kernel]"}, 3: {ID: 3, Kind: "wait"}}
	if builds, none := Builds([]*Data{launcher}); builds != 1 || none != 1 {
		t.Errorf("of which the launcher is known: %d and %d", builds, none)
	}
	launcher.Binaries["/srv/server"] = "aa"
	if builds, none := Builds([]*Data{launcher}); builds != 1 || none != 0 {
		t.Errorf("of which all is known: %d and %d", builds, none)
	}
	if kept, left := Latest([]*Data{a, unknown, b, a2}); left != 2 || !slices.Equal(kept, []*Data{unknown, b}) {
		t.Errorf("%d kept, %d left out", len(kept), left)
	}
	if kept, left := Latest([]*Data{a, a2}); left != 0 || len(kept) != 2 {
		t.Errorf("of one build: %d kept, %d left out", len(kept), left)
	}
	if kept, left := Latest([]*Data{unknown, unknown}); left != 0 || len(kept) != 2 {
		t.Errorf("of unknown ones: %d kept, %d left out", len(kept), left)
	}
}

// TestDiffer: programs that a launcher starts are distinguished by their own builds, not by the
// launcher's.
func TestDiffer(t *testing.T) {
	launched := built(1, "sh", "/srv/load", "load", "/srv/server", "aa")
	for _, c := range []struct {
		name string
		to   *Data
		want bool
	}{
		{"the same", built(2, "sh", "/srv/load", "load", "/srv/server", "aa"), false},
		{"one was not met", built(2, "sh", "/srv/server", "aa"), false},
		{"nothing else was met", built(2, "sh"), false},
		{"one was built anew", built(2, "sh", "/srv/load", "load", "/srv/server", "bb"), true},
		{"built into another directory", built(2, "sh", "/new/server", "bb"), true},
		{"copied to another directory", built(2, "sh", "/new/server", "aa"), false},
		{"another launcher", built(2, "dash", "/srv/server", "aa"), true},
		{"no program at the start, as in a whole system", built(2, "", "/srv/server", "aa"), false},
		{"the same, and built anew", built(2, "", "/srv/server", "bb"), true},
		{"nothing known", built(2, ""), false},
	} {
		if got := Differ([]*Data{launched}, []*Data{c.to}); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
		if got := Differ([]*Data{c.to}, []*Data{launched}); got != c.want {
			t.Errorf("%s, the other way round: %v", c.name, got)
		}
	}
}

// TestLineKey: a line is the same unit, whatever function it was met in first.
func TestLineKey(t *testing.T) {
	u := Unit{ID: 1, Kind: "line", Name: "v.h:3", File: "/v.h", Line: 3, Func: "grow<int>", Binary: "/a"}
	v := u
	v.ID, v.Func = 9, "grow<char>"
	if u.Key() != v.Key() {
		t.Errorf("%+v and %+v", u.Key(), v.Key())
	}
	u.Kind, v.Kind = "func", "func"
	if u.Key() == v.Key() {
		t.Error("functions are told by their names")
	}
}
