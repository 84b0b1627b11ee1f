package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"whatif/internal/analyze"
	"whatif/internal/analyze/diff"
	"whatif/internal/profile"
)

var update = flag.Bool("update", false, "write the golden files")

// made is an invented run: deterministic, with every kind of verdict.
func made() *profile.Data {
	d := &profile.Data{
		File: "whatif.profile",
		Run: profile.Run{Version: 1, ID: "r1", Started: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
			Args: []string{"./server", "--name", "a b"}, Host: "h", Kernel: "6.1", CPUs: 2, PeriodNS: 1e6,
			Points: []profile.Point{{Name: "request", Kind: "func", Spec: "func:request"}}},
		Units: map[uint32]profile.Unit{
			1: {ID: 1, Kind: "line", Name: "parse.c:118", File: "/src/parse.c", Line: 118, Func: "parse_row",
				Binary: "/bin/server"},
			2: {ID: 2, Kind: "line", Name: "spin.c:7", File: "/src/spin.c", Line: 7, Func: "lock", Binary: "/bin/server"},
			3: {ID: 3, Kind: "line", Name: "log.c:30", File: "/src/log.c", Line: 30, Func: "write_log", Binary: "/bin/server"},
			4: {ID: 4, Kind: "func", Name: "checksum", File: "/src/sum.c", Line: 3, Func: "checksum", Binary: "/lib/libsum.so"},
			5: {ID: 5, Kind: "line", Name: "cold.c:1", File: "/src/cold.c", Line: 1, Func: "cold", Binary: "/bin/server"},
		},
	}
	slopes := map[uint32]float64{1: 0.6, 2: -0.2, 3: 0}
	add := func(unit uint32, speedup int) {
		n := len(d.Experiments)
		// Noise of one in a hundred, which looks random and is not.
		noise := 1 + 0.01*math.Sin(float64(n*n)*1.7+float64(n))
		e := profile.Experiment{Index: n, Unit: unit, Speedup: speedup, StartNS: int64(n) * 200e6, RealNS: 200e6,
			Pair: n/2 + 1, Samples: 400,
			UnitSamples: map[uint32]int64{1: 240, 2: 80, 3: 40, 4: 20, 5: 4}, OwnNS: 1e6, PausedNS: 5e6}
		s := float64(speedup) / 100
		e.DelayNS = int64(s * 200e6 * float64(e.UnitSamples[unit]) / 400)
		window := 0.7 * float64(e.RealNS-e.DelayNS)
		visits := window / 1e6 / (1 - slopes[unit]*s) / noise
		e.Points = []profile.Visits{{Count: int64(visits / 0.7), Weight: visits, WindowNS: window}}
		d.Experiments = append(d.Experiments, e)
	}
	for i := range 48 {
		speedup := 25 * (i%4 + 1)
		for unit := range uint32(3) {
			if i%2 == 0 {
				add(0, 0)
				add(unit+1, speedup)
			} else {
				add(unit+1, speedup)
				add(0, 0)
			}
		}
	}
	add(0, 0)
	add(4, 50)
	d.Experiments[5].SetAside = "steal"
	d.End = &profile.End{RealNS: 60e9, Visits: []int64{60000}}
	return d
}

// unlucky profiles are those of runs that went wrong.
func unlucky() map[string][]*profile.Data {
	none := &profile.Data{Run: profile.Run{Version: 1, Points: []profile.Point{{Name: "request", Kind: "func"}}},
		Units: map[uint32]profile.Unit{}}

	one := made()
	one.Experiments = one.Experiments[:2]
	one.End, one.Torn, one.Line = nil, true, 1

	noBaseline := made()
	kept := noBaseline.Experiments[:0]
	for _, e := range noBaseline.Experiments {
		if e.Unit != 0 {
			kept = append(kept, e)
		}
	}
	noBaseline.Experiments = kept

	oneUnit := made()
	kept = nil
	for _, e := range oneUnit.Experiments {
		e.UnitSamples = map[uint32]int64{1: 240}
		if e.Unit <= 1 {
			kept = append(kept, e)
		}
	}
	oneUnit.Experiments, oneUnit.Units = kept, map[uint32]profile.Unit{1: oneUnit.Units[1]}

	never := made()
	for i := range never.Experiments {
		never.Experiments[i].Points = []profile.Visits{{WindowNS: 1e8}}
	}
	never.End.Visits = []int64{0}

	names := made()
	long := strings.Repeat("abcdefghi/", 30)
	names.Run.Args = []string{"./\x1b]0;title\a", "a\nb", long, "\xff"}
	names.Run.Points[0].Name = "re\x1b[2Jquest\u202e"
	for id, u := range names.Units {
		u.Name, u.Func = long+u.Name, "\r\x00"+u.Func+strings.Repeat("<T>", 100)
		names.Units[id] = u
	}
	names.Warnings = []profile.Warning{{Code: "\x1b", Text: "a\x1b[31m warning\n of " + long}}

	// Numbers for which divisions give NaN and infinity.
	zero := made()
	for i := range zero.Experiments {
		e := &zero.Experiments[i]
		e.Samples, e.UnitSamples = 0, nil
		switch i % 4 {
		case 0:
			e.RealNS = 0
		case 1:
			e.DelayNS = e.RealNS
			e.Points[0].WindowNS = 0
		case 2:
			e.Points[0].Weight = 1e-300
		case 3:
			e.Points[0].Weight, e.Points[0].WindowNS = 9e18, 1
		}
	}
	return map[string][]*profile.Data{"nothing": nil, "empty": {none}, "one": {one}, "nobaseline": {noBaseline},
		"oneunit": {oneUnit}, "never": {never}, "names": {names}, "zero": {zero}}
}

func analysed(runs ...*profile.Data) *analyze.Result { return analyze.Analyze(runs, analyze.Options{}) }

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update writes it anew):\n%s", path, got)
	}
}

func text(t *testing.T, r *analyze.Result, opt Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, r, opt); err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(b.String(), "\n") {
		if opt.Width > 0 && width(line) > max(opt.Width, narrowest) {
			t.Errorf("line %d has %d characters, more than %d: %s", i+1, width(line), opt.Width, line)
		}
		if c := clean(line); c != line {
			t.Errorf("line %d is not safe to print: %q", i+1, line)
		}
	}
	return b.Bytes()
}

func TestText(t *testing.T) {
	r := analysed(made())
	two := made()
	two.Run.Points = append(two.Run.Points, profile.Point{Name: "flush", Kind: "func"})
	for i := range two.Experiments {
		e := &two.Experiments[i]
		e.Points = append(e.Points, profile.Visits{Count: 1, Weight: 0.7, WindowNS: e.Points[0].WindowNS})
	}
	two.End.Visits = append(two.End.Visits, 300)
	for _, c := range []struct {
		name string
		r    *analyze.Result
		opt  Options
	}{
		{"wide", r, Options{}},
		{"80", r, Options{Width: 80}},
		{"60", r, Options{Width: 60}},
		{"top", r, Options{Width: 80, Top: 2}},
		{"points", analysed(two, made()), Options{Width: 100}},
		{"point", analysed(two), Options{Width: 100, Point: "flush"}},
	} {
		t.Run(c.name, func(t *testing.T) { golden(t, c.name+".txt", text(t, c.r, c.opt)) })
	}
	for name, runs := range unlucky() {
		t.Run(name, func(t *testing.T) {
			golden(t, name+".txt", text(t, analysed(runs...), Options{Width: 80}))
			text(t, analysed(runs...), Options{})
			text(t, analysed(runs...), Options{Width: 1})
		})
	}
}

// waiting is the run made with units that also wait: one hardly does anything else, one waits for
// several things, and one too little to be mentioned.
func waiting() *profile.Data {
	d := made()
	d.Run.Waiting = []string{"disk", "net", "sleep"}
	for i := range d.Experiments {
		e := &d.Experiments[i]
		e.UnitWaitedNS = map[uint32]map[string]int64{
			1: {"disk": e.RealNS / 4, "lock": 2 * e.RealNS, "sleep": e.RealNS / 20},
			2: {"sleep": e.RealNS / 2}, 3: {"net": e.RealNS / 200}}
		e.UnitWaits = map[uint32]int64{1: e.RealNS / 3, 2: e.RealNS / 2}
	}
	return d
}

func TestWaits(t *testing.T) {
	r := analysed(waiting())
	for _, c := range []struct {
		name string
		opt  Options
	}{{"waits", Options{}}, {"waits100", Options{Width: 100}}, {"waits80", Options{Width: 80, Curves: true}},
		{"waits60", Options{Width: 60}}} {
		golden(t, c.name+".txt", text(t, r, c.opt))
	}
}

// TestWaitsOfSomeRuns: a run that did not record waits says nothing about their amount.
func TestWaitsOfSomeRuns(t *testing.T) {
	alone, beside := analysed(waiting()), analysed(waiting(), made())
	seen := 0
	for _, one := range alone.Targets {
		for _, both := range beside.Targets {
			if one.Unit.Name != both.Unit.Name {
				continue
			}
			if one.Waited > 0 {
				seen++
			}
			if one.Waited != both.Waited || !maps.Equal(one.Waiting, both.Waiting) {
				t.Errorf("%s: waits %v%% %v, beside another run %v%% %v",
					one.Unit.Name, one.Waited, one.Waiting, both.Waited, both.Waiting)
			}
		}
	}
	if seen != 2 {
		t.Errorf("%d units that wait in both, want 2", seen)
	}
}

// TestVerbose: with Verbose the report says where and from what each run was made, and what
// measuring cost.
func TestVerbose(t *testing.T) {
	a, b := made(), made()
	a.Run.CPUModel, a.Run.BuildIDs = "Model \x1b[1m T", map[string]string{"/bin/server": "aa",
		"/bin/\x1bx": "0123456789abcdef"}
	a.End.CountingNS, a.End.Tables = []int64{36e6}, &profile.Tables{Rows: 12, MaxRows: 3000, Bytes: 3 << 20}
	for i := range a.Experiments {
		a.Experiments[i].HeldNS, a.Experiments[i].DealtNS = 2e6, 1e7
	}
	b.Run.Host, b.Run.Kernel, b.Run.CPUs, b.End = "g", "6.18", 8, nil
	golden(t, "verbose.txt", text(t, analysed(a, b), Options{Width: 100, Verbose: true}))
}

// TestNoneUpTo: a unit that was not tried to the end is not said to be without effect to the end.
func TestNoneUpTo(t *testing.T) {
	d := made()
	for i := range d.Experiments {
		e := &d.Experiments[i]
		if e.Unit == 3 && e.Speedup > 25 {
			e.Unit, e.Speedup = 0, 0
		}
	}
	r := analysed(d)
	for _, width := range []int{0, 70} {
		got := string(text(t, r, Options{Width: width}))
		if strings.Contains(got, "the program waits for something else") ||
			!strings.Contains(got, "no effect: up to 25%; more was not tried") {
			t.Errorf("%s", got)
		}
	}
}

func TestUnknownPoint(t *testing.T) {
	err := Text(io.Discard, analysed(made()), Options{Point: "re\x1bquest"})
	if err == nil || err.Error() != `selecting point re\x1bquest: the profile has request` {
		t.Errorf("error %v", err)
	}
	if err := Text(io.Discard, analysed(), Options{Point: "x"}); err == nil {
		t.Error("no error for a point of an empty profile")
	}
}

func TestJSON(t *testing.T) {
	for name, runs := range unlucky() {
		t.Run(name, func(t *testing.T) { golden(t, name+".json", toBytes(t, analysed(runs...))) })
	}
	t.Run("made", func(t *testing.T) { golden(t, "made.json", toBytes(t, analysed(made()))) })
}

func toBytes(t *testing.T, r *analyze.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := JSON(&b, r, Options{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestContract reads a report with the names that the documents promise.
func TestContract(t *testing.T) {
	var got struct {
		Version int
		Points  []struct {
			Name, Kind string
			Visits     int64
		}
		Targets []struct {
			Unit, Name, File, Func, Binary string
			Line                           int
			Share                          float64
			Samples                        int64
			Points                         []struct {
				Name, Metric, Verdict string
				Slope                 *float64
				SlopeCI               []float64 `json:"slope_ci"`
				Experiments           int
				Curve                 []struct {
					Speedup     int
					Gain        float64
					CI          []float64
					Experiments int
				}
			}
		}
		Warnings []struct{ Code, Text string }
	}
	if err := json.Unmarshal(toBytes(t, analysed(made())), &got); err != nil {
		t.Fatal(err)
	}
	if got.Version != 1 || len(got.Points) != 1 || got.Points[0].Visits != 60000 || got.Points[0].Kind != "func" {
		t.Errorf("version %d, points %+v", got.Version, got.Points)
	}
	if len(got.Targets) != 5 {
		t.Fatalf("%d targets", len(got.Targets))
	}
	first := got.Targets[0]
	if first.Unit != "line" || first.Name != "parse.c:118" || first.File != "/src/parse.c" || first.Line != 118 ||
		first.Func != "parse_row" ||
		first.Binary != "/bin/server" || first.Share != 60 || first.Samples != 240*289 {
		t.Errorf("first target %+v", first)
	}
	e := first.Points[0]
	if e.Name != "request" || e.Metric != "throughput" || e.Verdict != "faster" || math.Abs(*e.Slope-0.6) > 0.01 ||
		len(e.SlopeCI) != 2 || e.Experiments != 48 {
		t.Errorf("its effect %+v", e)
	}
	for i, l := range e.Curve {
		if l.Speedup != 25*i || math.Abs(l.Gain-15*float64(i)) > 1 || len(l.CI) != 2 || l.CI[0] > l.Gain || l.CI[1] < l.Gain {
			t.Errorf("level %+v", l)
		}
	}
	if len(e.Curve) != 5 || e.Curve[0].Gain != 0 || e.Curve[1].Experiments != 12 {
		t.Errorf("curve %+v", e.Curve)
	}
	var verdicts []string
	for _, tg := range got.Targets {
		verdicts = append(verdicts, tg.Points[0].Verdict)
	}
	if want := []string{"faster", "slower", "none", "unsure", "unsure"}; !reflect.DeepEqual(verdicts, want) {
		t.Errorf("verdicts %v, want %v", verdicts, want)
	}
}

// TestJSONWithoutNumbers: a result that contains NaN and infinity, which it never should, is
// written without them.
func TestJSONWithoutNumbers(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	bad := analyze.Estimate{Value: nan, Low: -inf, High: inf, Known: true, Bounded: true}
	half := analyze.Estimate{Value: 1, Low: -inf, High: nan, Known: true, Bounded: true}
	r := &analyze.Result{Points: []analyze.Point{{Rate: inf, Noise: nan}}, Runs: []analyze.RunFacts{{}},
		Targets: []analyze.Target{{Share: nan, Tried: 1, Effects: []analyze.Effect{{Slope: bad, Phase: inf,
			Curve: []analyze.Level{{Gain: bad}, {Speedup: 5, Gain: half, Raw: bad}}}}}}}
	var back struct {
		Targets []struct {
			Points []struct{ Curve []struct{ CI any } }
		}
	}
	if err := json.Unmarshal(toBytes(t, r), &back); err != nil {
		t.Fatal(err)
	}
	if c := back.Targets[0].Points[0].Curve; len(c) != 1 || c[0].CI != nil {
		t.Errorf("curve %+v, want one level without an interval", c)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestWriteErrors(t *testing.T) {
	for name, err := range map[string]error{"text": Text(failing{}, analysed(made()), Options{}),
		"JSON": JSON(failing{}, analysed(made()), Options{})} {
		if err == nil || !strings.HasSuffix(err.Error(), ": full") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain π 世":      "plain π 世",
		"\x1b[31m":       `\x1b[31m`,
		"a\tb\nc\x00":    `a\tb\nc\x00`,
		"\xff\u202e\x7f": `\xff\u202e\x7f`,
		"\ufffd":         "\ufffd",
		"\u200b":         `\u200b`,
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
	if got := command([]string{"a", "", "b c", "d'e"}); got != `a '' 'b c' 'd'\''e'` {
		t.Errorf("command: %s", got)
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want []string
	}{
		{"aa bb cc", 5, []string{"aa bb", "cc"}},
		{"aa bb", 0, []string{"aa bb"}},
		{"abcdefgh ij", 3, []string{"abc", "def", "gh", "ij"}},
		{"a bcdefg", 3, []string{"a", "bcd", "efg"}},
	} {
		if got := Wrap(c.in, c.n); !reflect.DeepEqual(got, c.want) {
			t.Errorf("Wrap(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
	if l, r := cutLeft("abcdef", 3), cutRight("abcdef", 3); l != "…ef" || r != "ab…" {
		t.Errorf("cut to %s and %s", l, r)
	}
}

func Example() {
	var b bytes.Buffer
	if err := Text(&b, analysed(made()), Options{Top: 1}); err != nil {
		panic(err)
	}
	fmt.Print(strings.Split(b.String(), "\n")[0])
	// Output: ./server --name 'a b'
}

// TestOverlappingShares: shares of functions overlap. The report says so where it shows, and
// nowhere else.
func TestOverlappingShares(t *testing.T) {
	const note = "shares add up to more than 100%"
	for _, c := range []struct {
		kind string
		self bool
		want bool
	}{{"func", false, true}, {"func", true, false}, {"line", false, false}} {
		d := made()
		u := d.Units[3]
		u.Kind, u.Self = c.kind, c.self
		d.Units[3] = u
		other := d.Units[4]
		other.Kind = "line"
		d.Units[4] = other
		for i := range d.Experiments {
			d.Experiments[i].UnitSamples[3] = 200
		}
		var out bytes.Buffer
		if err := Text(&out, analysed(d), Options{}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), note); got != c.want {
			t.Errorf("%+v: %v\n%s", c, got, out.String())
		}
		if got := strings.Contains(out.String(), "(own code)"); got != c.self {
			t.Errorf("%+v: own code: %v", c, got)
		}
	}
}

// TestWarningPrefix: a warning has the same form in a report and in a comparison, so that it can be
// searched for.
func TestWarningPrefix(t *testing.T) {
	busy := made()
	busy.Warnings = []profile.Warning{{Code: "cpuset", Text: "some CPUs are not seen"}}
	var out bytes.Buffer
	c := diff.Compare([]*profile.Data{busy}, []*profile.Data{made()}, analyze.Options{})
	if err := Diff(&out, c, Options{}); err != nil {
		t.Fatal(err)
	}
	for of, got := range map[string]string{"report": string(text(t, analysed(busy), Options{})), "diff": out.String()} {
		all := regexp.MustCompile(`(?m)^.*warning.*$`).FindAllString(got, -1)
		if len(all) == 0 {
			t.Errorf("%s: no warning:\n%s", of, got)
		}
		for _, line := range all {
			if !regexp.MustCompile(`^whatif: warning: .* \[[a-z-]+\]$`).MatchString(line) {
				t.Errorf("%s: %s", of, line)
			}
		}
	}
}

// TestSaid: of a warning that was printed as it came, the report has the code only, but what leaves no answer is said
// again.
func TestSaid(t *testing.T) {
	busy := made()
	busy.Warnings = []profile.Warning{{Code: "cpuset", Text: "some CPUs are not seen"},
		{Code: "no-data", Text: "no experiment can be used"}, {Code: "smt", Text: "two threads share a core"}}
	r := analysed(busy)
	said := map[string]bool{}
	for _, w := range r.Warnings {
		said[WarningLine(w)] = w.Code != "smt"
	}
	var b bytes.Buffer
	if err := Text(&b, r, Options{Said: said}); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"some CPUs are not seen": false, "\nWarnings printed above: cpuset\n": true,
		"no experiment can be used": true, "two threads share a core": true,
	} {
		if strings.Contains(b.String(), text) != want {
			t.Errorf("%q is there: %t\n%s", text, !want, b.String())
		}
	}
}

// TestNeverVisited: the rows of a point that was never visited do not blame the intervals; the
// verdict of the JSON report stays.
func TestNeverVisited(t *testing.T) {
	r := analysed(unlucky()["never"]...)
	for _, w := range []int{0, 60, 200} {
		got := string(text(t, r, Options{Width: w}))
		if !strings.Contains(got, "never visited: nothing to measure") || strings.Contains(got, "too wide") ||
			strings.Contains(got, "unsure") {
			t.Errorf("%d columns:\n%s", w, got)
		}
	}
	for _, target := range NewModel(r).Targets {
		for _, e := range target.Points {
			if e.Verdict != analyze.Unsure || e.Reason != "never visited: nothing to measure" {
				t.Errorf("%s: %s, %s", target.Name, e.Verdict, e.Reason)
			}
		}
	}
}
