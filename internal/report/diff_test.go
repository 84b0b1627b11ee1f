package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"whatif/internal/analyze"
	"whatif/internal/analyze/diff"
	"whatif/internal/profile"
)

// rebuilt is the run made from a later build: its first line moved, and takes half the time.
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
	d.Run.BuildIDs, d.Binaries = map[string]string{"/bin/server": id}, map[string]string{"/lib/libsum.so": "cc"}
	u := d.Units[1]
	u.Text = "sum += row[i];"
	d.Units[1] = u
	return d
}

func TestDiff(t *testing.T) {
	unlucky := unlucky()
	for name, c := range map[string]*diff.Comparison{
		"diff": diff.Compare([]*profile.Data{built("aa", made())}, []*profile.Data{rebuilt()}, analyze.Options{}),
		"diff_same": diff.Compare([]*profile.Data{built("aa", made()), built("aa", made())},
			[]*profile.Data{built("aa", made())}, analyze.Options{}),
		"diff_names":      diff.Compare(unlucky["names"], []*profile.Data{made()}, analyze.Options{}),
		"diff_empty":      diff.Compare(unlucky["empty"], unlucky["nothing"], analyze.Options{}),
		"diff_zero":       diff.Compare(unlucky["zero"], unlucky["one"], analyze.Options{}),
		"diff_nobaseline": diff.Compare(unlucky["nobaseline"], []*profile.Data{made()}, analyze.Options{}),
		"diff_oneunit":    diff.Compare([]*profile.Data{made()}, unlucky["oneunit"], analyze.Options{}),
		"diff_never":      diff.Compare([]*profile.Data{made()}, unlucky["never"], analyze.Options{}),
		"diff_wait":       diff.Compare([]*profile.Data{timed("wait")}, []*profile.Data{timed("wait")}, analyze.Options{}),
	} {
		t.Run(name, func(t *testing.T) {
			for _, point := range []string{"nosuch", "\x1b"} {
				opt := Options{Point: point}
				err := errors.Join(Diff(io.Discard, c, opt), DiffJSON(io.Discard, c, opt))
				if err == nil || strings.Count(err.Error(), "selecting point ") != 2 || strings.Contains(err.Error(), "\x1b") {
					t.Errorf("point %q: %v", point, err)
				}
			}
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
					if line = strings.TrimSuffix(line, "\n"); clean(line) != line ||
						columns > 0 && width(line) > columns && !strings.HasPrefix(line, "old: ") && !strings.HasPrefix(line, "new: ") {
						t.Errorf("line %q", line)
					}
				}
			}
			var b bytes.Buffer
			if err := DiffJSON(&b, c, Options{}); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".json", b.Bytes())
			b.Reset()
			if err := GitHubDiff(&b, c, Options{}); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".md", b.Bytes())
			for line := range strings.Lines(b.String()) {
				if line = strings.TrimSuffix(line, "\n"); clean(line) != line {
					t.Errorf("line %q", line)
				}
			}
			if bad := noNumber.Find(b.Bytes()); bad != nil {
				t.Errorf("there is a %s in it", bad)
			}
		})
	}
}

// TestDiffMany: of 5,000 units on each side the first are shown, and all are in the JSON.
func TestDiffMany(t *testing.T) {
	before := many()
	for i := range before.Experiments { // the program was slower in this one
		before.Experiments[i].Points = []profile.Visits{{Count: 150, Weight: 105, WindowNS: 1.4e8}}
	}
	c := diff.Compare([]*profile.Data{before}, []*profile.Data{many()}, analyze.Options{})
	var b bytes.Buffer
	if err := Diff(&b, c, Options{Width: 80, Top: 20}); err != nil {
		t.Fatal(err)
	}
	golden(t, "diff_many.txt", b.Bytes())
	b.Reset()
	if err := DiffJSON(&b, c, Options{}); err != nil {
		t.Fatal(err)
	}
	var all jsonDiff
	if err := json.Unmarshal(b.Bytes(), &all); err != nil || len(all.Targets) != 5000 {
		t.Errorf("%d of 5,000 units: %v", len(all.Targets), err)
	}
}

// TestDiffMetrics: a latency and the throughput of its end are about the same visits, so their CPU
// time is given once. Only what was asked for is shown.
func TestDiffMetrics(t *testing.T) {
	run := func(share int64) (runs []*profile.Data) {
		for range 2 {
			d := timed("request")
			d.Run.Points = append(d.Run.Points, profile.Point{Name: "flush", Kind: "func"})
			for i := range d.Experiments {
				e := &d.Experiments[i]
				e.Points = append(e.Points, profile.Visits{Count: 100, Weight: 70 + float64(i%3), WindowNS: e.Points[0].WindowNS})
				e.UnitSamples = map[uint32]int64{1: share + int64(i%5), 2: 80 + int64(i%3), 3: 40, 4: 20}
			}
			runs = append(runs, d)
		}
		return runs
	}
	c := diff.Compare(run(240), run(120), analyze.Options{})
	print := func(opt Options) string {
		var b bytes.Buffer
		if err := Diff(&b, c, opt); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	all := print(Options{})
	for what, want := range map[string]int{
		"less CPU time for each request": 1, " less time, measured ": 2, " less mean latency, measured ": 1,
		"less mean latency of request, in percent": 1, "less time per visit of request, in percent": 1,
		"flush": 4, // one of them in a warning

	} {
		if got := strings.Count(all, what); got != want {
			t.Errorf("%q stands there %d times, want %d:\n%s", what, got, want, all)
		}
	}
	if one, _, _ := strings.Cut(print(Options{Point: "request"}), "warning:"); strings.Contains(one, "flush") ||
		!strings.Contains(one, "latency request: ") {
		t.Errorf("of request:\n%s", one)
	}
	var b bytes.Buffer
	if err := DiffJSON(&b, c, Options{Point: "flush", Top: 1}); err != nil {
		t.Fatal(err)
	}
	var j jsonDiff
	if err := json.Unmarshal(b.Bytes(), &j); err != nil || len(j.Points) != 1 || len(j.Targets) != 1 ||
		len(j.Targets[0].Effects) > 1 || len(j.Targets[0].Promises) > 1 {
		t.Errorf("%v: %s", err, b.Bytes())
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
	for _, l := range Wrap("名前の長い関数 x 名前", 6) {
		if width(l) > 6 {
			t.Errorf("wrapped to %q", l)
		}
	}
	if got := Fit("a\x1b[2J名前", 9, true); got != `a\x1b[2J\` {
		t.Errorf("fitted to %q", got)
	}
}

// TestDiffArithmetic: the percentage of a diff is that of the two times beside it, and an interval
// with unequal halves is written by its ends.
func TestDiffArithmetic(t *testing.T) {
	old, err := profile.ReadFiles([]string{"../../docs/tutorial/before.profile"})
	if err != nil {
		t.Fatal(err)
	}
	now, err := profile.ReadFiles([]string{"../../docs/tutorial/after.profile"})
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^process_page: ([\d.]+)% (less|more) time per visit ` +
		`\(([\d.]+) to ([\d.]+)\)(?:, [\d.]+ times as fast)?: ` +
		`([\d.]+) us → ([\d.]+) us \(([\d.]+)/s → ([\d.]+)/s\)$`)
	for _, c := range []struct {
		old, now []*profile.Data
		word     string
		sign     float64
	}{{old, now, "less", 1}, {now, old, "more", -1}} {
		var b bytes.Buffer
		if err := Diff(&b, diff.Compare(c.old, c.now, analyze.Options{}), Options{}); err != nil {
			t.Fatal(err)
		}
		m := line.FindStringSubmatch(b.String())
		if m == nil || m[2] != c.word {
			t.Fatalf("no line of the point that says %s:\n%s", c.word, b.String())
		}
		var x [9]float64
		for i := range m {
			x[i], _ = strconv.ParseFloat(m[i], 64)
		}
		percent, low, high, from, to := x[1], x[3], x[4], x[5], x[6]
		if is := c.sign * 100 * (from - to) / from; math.Abs(is-percent) > 0.5 {
			t.Errorf("%s: from %g to %g us is %.1f%%", m[0], from, to, is)
		}
		if math.Abs(1e6/x[7]-from) > 1 || math.Abs(1e6/x[8]-to) > 1 {
			t.Errorf("%s: the rates are not those of the times", m[0])
		}
		if low >= percent || high <= percent || strings.Contains(m[0], "±") {
			t.Errorf("%s: wrong interval", m[0])
		}
	}
}
