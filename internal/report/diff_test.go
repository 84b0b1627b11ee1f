package report

import (
	"bytes"
	"strings"
	"testing"

	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// rebuilt is made of a later build: its first line moved, and takes half the time.
func rebuilt() *profile.Data {
	d := made()
	d.File, d.Run.BuildIDs = "new.profile", map[string]string{"/bin/server": "bb"}
	u := d.Units[1]
	u.Line, u.Name, u.Text = 130, "parse.c:130", "sum += row[i];"
	d.Units[1] = u
	for i := range d.Experiments {
		e := &d.Experiments[i]
		e.UnitSamples = map[uint32]int64{1: 170, 2: 114, 3: 57, 4: 28, 5: 6}
		v := &e.Points[0]
		v.Weight /= 0.7
		v.Count = int64(float64(v.Count) / 0.7)
	}
	return d
}

func built(id string, d *profile.Data) *profile.Data {
	d.Run.BuildIDs = map[string]string{"/bin/server": id}
	u := d.Units[1]
	u.Text = "sum += row[i];"
	d.Units[1] = u
	return d
}

func TestDiff(t *testing.T) {
	unlucky := unlucky()
	for name, c := range map[string]*analyze.Comparison{
		"diff":       analyze.Compare([]*profile.Data{built("aa", made())}, []*profile.Data{rebuilt()}, analyze.Options{}),
		"diff_same":  analyze.Compare([]*profile.Data{built("aa", made()), built("aa", made())}, []*profile.Data{built("aa", made())}, analyze.Options{}),
		"diff_names": analyze.Compare(unlucky["names"], []*profile.Data{made()}, analyze.Options{}),
		"diff_empty": analyze.Compare(unlucky["empty"], unlucky["nothing"], analyze.Options{}),
		"diff_zero":  analyze.Compare(unlucky["zero"], unlucky["one"], analyze.Options{}),
		"diff_wait":  analyze.Compare([]*profile.Data{timed("wait")}, []*profile.Data{timed("wait")}, analyze.Options{}),
	} {
		t.Run(name, func(t *testing.T) {
			for _, columns := range []int{0, 80} {
				var b bytes.Buffer
				if err := Diff(&b, c, Options{Width: columns, Top: 20}); err != nil {
					t.Fatal(err)
				}
				if columns > 0 {
					golden(t, name+".txt", b.Bytes())
				}
				if bad := noNumber.Find(b.Bytes()); bad != nil {
					t.Errorf("there is a %s in it", bad)
				}
				for line := range strings.Lines(b.String()) {
					if line = strings.TrimSuffix(line, "\n"); clean(line) != line || columns > 0 && width(line) > columns && !strings.HasPrefix(line, "old: ") && !strings.HasPrefix(line, "new: ") {
						t.Errorf("line %q", line)
					}
				}
			}
			var b bytes.Buffer
			if err := DiffJSON(&b, c); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".json", b.Bytes())
			if bad := noNumber.Find(b.Bytes()); bad != nil {
				t.Errorf("there is a %s in it", bad)
			}
		})
	}
}

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"abc": 3, "名前": 4, "é": 1, "e\u0301": 1, "한글": 4, "🙂": 2} {
		if got := width(s); got != want {
			t.Errorf("%q is %d wide, want %d", s, got, want)
		}
	}
	for n := 2; n < 12; n++ {
		for _, s := range []string{"名前の長い関数", "a名b前cのd", "e\u0301e\u0301e\u0301e\u0301"} {
			if l, r := cutLeft(s, n), cutRight(s, n); width(l) > n || width(r) > n {
				t.Errorf("cut to %d: %q and %q", n, l, r)
			}
		}
	}
	for _, l := range wrap("名前の長い関数 x 名前", 6) {
		if width(l) > 6 {
			t.Errorf("wrapped to %q", l)
		}
	}
	if got := Fit("a\x1b[2J名前", 9, true); got != `a\x1b[2J\` {
		t.Errorf("fitted to %q", got)
	}
}
