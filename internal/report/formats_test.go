package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"whatif/internal/analyze"
	whatif "whatif/internal/profile"
)

// profiles are the invented one and those of runs that went wrong.
func profiles() map[string][]*whatif.Data {
	all := unlucky()
	all["made"] = []*whatif.Data{made()}
	all["latency"] = []*whatif.Data{timed("request")}

	markup := made()
	for id, name := range map[uint32]string{
		1: `<script>alert("1")</script>`, 2: "=HYPERLINK(\"http://x\")", 3: "a|b`c``d *e* @user #12 \x1b[31m",
		4: "-2+3", 5: "名前の長い関数",
	} {
		u := markup.Units[id]
		u.Kind, u.Name, u.Func = "func", name, name
		markup.Units[id] = u
	}
	markup.Run.Points[0].Name = "<b>@point|#1"
	markup.Run.Args = []string{"=cmd", "<img src=x>"}
	markup.Warnings = []whatif.Warning{{Code: "x", Text: "a <script> @user #12 [x](http://x) `code`"}}
	all["markup"] = []*whatif.Data{markup}
	return all
}

// many has 5,000 units, with a few experiments each.
func many() *whatif.Data {
	d := made()
	d.Units, d.Experiments = map[uint32]whatif.Unit{}, nil
	for id := uint32(1); id <= 5000; id++ {
		d.Units[id] = whatif.Unit{ID: id, Kind: "line", Name: fmt.Sprintf("f.c:%d", id), File: "/src/f.c",
			Line: int(id), Func: "f", Binary: "/bin/server"}
		for i := range 2 {
			e := whatif.Experiment{Index: len(d.Experiments), RealNS: 2e8, Samples: 400,
				UnitSamples: map[uint32]int64{id: 40}, Points: []whatif.Visits{{Count: 200, Weight: 140, WindowNS: 1.4e8}}}
			if i == 1 {
				e.Unit, e.Speedup = id, 50
			}
			d.Experiments = append(d.Experiments, e)
		}
	}
	return d
}

// renderers write what can be compared with a golden.
func renderers() map[string]func(runs []*whatif.Data) ([]byte, error) {
	write := func(f func(b *bytes.Buffer, r *analyze.Result) error) func(runs []*whatif.Data) ([]byte, error) {
		return func(runs []*whatif.Data) ([]byte, error) {
			var b bytes.Buffer
			err := f(&b, analysed(runs...))
			return b.Bytes(), err
		}
	}
	coz := func(asJSON bool) func(runs []*whatif.Data) ([]byte, error) {
		return func(runs []*whatif.Data) ([]byte, error) {
			var b bytes.Buffer
			err := Coz(&b, runs, asJSON)
			return b.Bytes(), err
		}
	}
	return map[string]func(runs []*whatif.Data) ([]byte, error){
		"json":  write(func(b *bytes.Buffer, r *analyze.Result) error { return JSON(b, r, Options{}) }),
		"csv":   write(func(b *bytes.Buffer, r *analyze.Result) error { return CSV(b, r, Options{}) }),
		"md":    write(func(b *bytes.Buffer, r *analyze.Result) error { return GitHub(b, r, Options{}) }),
		"pprof": write(func(b *bytes.Buffer, r *analyze.Result) error { return pprofText(b, r, Options{}) }),
		"coz":   coz(false),
		"jsonl": coz(true),
		"ascii": write(func(b *bytes.Buffer, r *analyze.Result) error {
			return Text(b, r, Options{Width: 120, Curves: true, ASCII: true})
		}),
		"tty": write(func(b *bytes.Buffer, r *analyze.Result) error {
			return Text(b, r, Options{Width: 100, Curves: true, Color: true})
		}),
	}
}

// pprofText is a profile for pprof, in the text form of that package.
func pprofText(w io.Writer, r *analyze.Result, opt Options) error {
	var b bytes.Buffer
	if err := Pprof(&b, r, opt); err != nil {
		return err
	}
	p, err := profile.ParseData(b.Bytes())
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, p.String())
	return err
}

// noNumber matches what divisions by zero leave.
var noNumber = regexp.MustCompile(`\b(NaN|[+-]?Inf(inity)?)\b`)

func TestFormats(t *testing.T) {
	for name, runs := range profiles() {
		for ext, render := range renderers() {
			t.Run(name+"."+ext, func(t *testing.T) {
				got, err := render(runs)
				if err != nil {
					t.Fatal(err)
				}
				golden(t, name+"."+ext, got)
				if bad := noNumber.Find(got); bad != nil {
					t.Errorf("there is a %s in it", bad)
				}
				for i, line := range strings.Split(string(got), "\n") {
					line = strings.TrimSuffix(line, "\r")
					if ext == "tty" {
						line = regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(line, "")
					}
					if ext != "json" && ext != "pprof" && clean(line) != strings.ReplaceAll(line, "\t", `\t`) {
						t.Errorf("line %d is not safe to print: %q", i+1, line)
					}
					if ext == "ascii" && strings.IndexFunc(line, func(r rune) bool { return r > 0x7e }) >= 0 {
						t.Errorf("line %d is not ASCII: %q", i+1, line)
					}
				}
			})
		}
	}
}

// TestManyUnits: with 5,000 units every renderer works, and mentions all of them.
func TestManyUnits(t *testing.T) {
	runs := []*whatif.Data{many()}
	for ext, lines := range map[string]int{"csv": 1 + 2*5000, "coz": 2 + 20000 + 5000, "jsonl": 2 + 20000 + 5000} {
		got, err := renderers()[ext](runs)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(got, []byte("\n")); n != lines {
			t.Errorf("%s: %d lines, want %d", ext, n, lines)
		}
	}
	var report jsonReport
	got, err := renderers()["json"](runs)
	if err != nil || json.Unmarshal(got, &report) != nil || len(report.Targets) != 5000 {
		t.Errorf("%d targets: %v", len(report.Targets), err)
	}
	// Each was tried too seldom.
	if got, err := renderers()["md"](runs); err != nil || bytes.Contains(got, []byte("\n| `")) ||
		!bytes.Contains(got, []byte("\n\nToo few experiments to tell: 5000 units.\n")) {
		t.Errorf("a summary: %v\n%s", err, got)
	}
	seven := analysed(made())
	for range 6 {
		seven.Targets = append(seven.Targets, seven.Targets[0])
	}
	var summary bytes.Buffer
	if err := GitHub(&summary, seven, Options{}); err != nil || bytes.Count(summary.Bytes(), []byte("\n| `")) != 5 ||
		!bytes.Contains(summary.Bytes(), []byte("\n4 units more: ")) {
		t.Errorf("a summary of more than five units: %v\n%s", err, summary.Bytes())
	}
	var b bytes.Buffer
	if err := Pprof(&b, analysed(runs...), Options{}); err != nil {
		t.Fatal(err)
	}
	if p, err := profile.Parse(&b); err != nil || len(p.Sample) != 5000 {
		t.Errorf("pprof: %v", err)
	}
	for _, opt := range []Options{{Width: 80}, {Width: 80, Top: 20}, {Width: 120, Curves: true, ASCII: true}} {
		text(t, analysed(runs...), opt)
	}
	if drawn := svg(t, analysed(runs...), Options{Top: 20}); bytes.Count(drawn, []byte("f.c:")) < 20 {
		t.Error("a drawing of fewer than twenty units")
	}
}

func TestCSV(t *testing.T) {
	for name, runs := range profiles() {
		var b bytes.Buffer
		if err := CSV(&b, analysed(runs...), Options{}); err != nil {
			t.Fatal(err)
		}
		if strings.Count(b.String(), "\n") != strings.Count(b.String(), "\r\n") {
			t.Errorf("%s: lines do not end as RFC 4180 wants", name)
		}
		rows, err := csv.NewReader(&b).ReadAll() // checks that all rows have as many cells as the first
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, row := range rows {
			for c, cell := range row {
				if c < 11 && cell != "" && strings.ContainsRune("=+-@\t", rune(cell[0])) {
					t.Errorf("%s: cell %q is a formula", name, cell)
				}
			}
		}
	}
}

func TestPprofTool(t *testing.T) {
	if testing.Short() {
		t.Skip("go tool pprof may have to be built first")
	}
	file := filepath.Join(t.TempDir(), "p.pb.gz")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := Pprof(out, analysed(made()), Options{}); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-top"}, `(?m)^ *69\.36s .* parse_row$`},
		{[]string{"-top", "-lines", "-sample_index=gain.request"},
			`(?m)^ *5\d\d thousandths? .* parse_row /src/parse\.c:118$|^ *0\.6\d* .*|^ *6\d\d.* parse_row /src/parse\.c:118$`},
		{[]string{"-raw"}, `samples/count cpu/nanoseconds.* gain\.request/thousandths gain_at_least\.request/thousandths`},
	} {
		cmd := exec.Command("go", append(append([]string{"tool", "pprof"}, c.args...), file)...)
		cmd.Env = append(os.Environ(), "PPROF_NO_BROWSER=1")
		got, err := cmd.CombinedOutput()
		if err != nil || !regexp.MustCompile(c.want).Match(got) {
			t.Errorf("pprof %v: %v\n%s", c.args, err, got)
		}
	}
}

// cozAnswer is what the parser of COZ's viewer makes of a file.
type cozAnswer struct {
	Warnings []string
	Points   []string
	Data     []struct {
		Name   string
		Points []struct {
			Name         string
			Measurements []struct {
				Speedup float64
				Gain    float64 `json:"progress_speedup"`
			}
		} `json:"progress_points"`
	}
}

// TestCozViewer gives the output, of both kinds, to the parser of COZ's own viewer, in a browser. make test
// installs both.
func TestCozViewer(t *testing.T) {
	parser, err := os.ReadFile("/usr/share/coz-profiler/viewer/js/profile.js")
	if err != nil {
		t.Skip("Debian's coz-profiler is not installed")
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium")
	}
	var files [2]string
	for i, asJSON := range []bool{false, true} {
		var b bytes.Buffer
		if err := Coz(&b, []*whatif.Data{made(), timed("wait")}, asJSON); err != nil {
			t.Fatal(err)
		}
		files[i] = b.String()
	}
	for i, got := range cozView(t, chromium, parser, files[:]) {
		if len(got.Warnings) > 0 || strings.Join(got.Points, " ") != "request wait" {
			t.Errorf("file %d: warnings %q, points %q", i, got.Warnings, got.Points)
		}
		found := false
		for _, line := range got.Data {
			if line.Name != "/src/parse.c:118" {
				continue
			}
			found = true
			// The slope of the invented programs is 0.6. For a latency, COZ's viewer shows gains
			// below the axis.
			for i, slope := range []float64{0.6, -0.6} {
				for _, m := range line.Points[i].Measurements {
					if d := m.Gain - slope*m.Speedup; d > 0.03 || d < -0.03 {
						t.Errorf("COZ's viewer shows for %s a gain of %v at %v", line.Points[i].Name, m.Gain, m.Speedup)
					}
				}
				if n := len(line.Points[i].Measurements); n != 5 {
					t.Errorf("%d measurements of %s, want 5", n, line.Points[i].Name)
				}
			}
		}
		if !found {
			t.Errorf("file %d: parse.c:118 is not in COZ's viewer:\n%+v", i, got)
		}
	}
}

// cozView opens a page that has COZ's parser read files.
func cozView(t *testing.T, chromium string, parser []byte, files []string) []cozAnswer {
	t.Helper()
	texts, err := json.Marshal(files) // escapes < and >
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	page := filepath.Join(dir, "page.html")
	const script = `const answers = texts.map(text => {
	const warnings = [];
	const profile = new Profile(text, null, null, () => 1, (title, text) => warnings.push(title + ": " + text));
	return {warnings, points: profile.getProgressPoints(), data: profile.getSpeedupData(2)};
});
document.body.innerHTML = '<pre id="answer">' + btoa(JSON.stringify(answers)) + '</pre>';`
	html := fmt.Sprintf("<!DOCTYPE html><body><script>%s</script><script>const texts = %s;\n%s</script></body>",
		parser, texts, script)
	if err := os.WriteFile(page, []byte(html), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(chromium, "--headless", "--no-sandbox", "--disable-gpu",
		"--user-data-dir="+filepath.Join(dir, "user"), "--dump-dom", "file://"+page)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	dom, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	answer := regexp.MustCompile(`<pre id="answer">([^<]*)</pre>`).FindSubmatch(dom)
	if answer == nil {
		t.Fatalf("COZ's viewer does not take them:\n%s\n%s", dom, stderr.Bytes())
	}
	out, err := base64.StdEncoding.DecodeString(string(answer[1]))
	if err != nil {
		t.Fatal(err)
	}
	var all []cozAnswer
	if err := json.Unmarshal(out, &all); err != nil || len(all) != len(files) {
		t.Fatalf("%d answers, %v\n%s", len(all), err, out)
	}
	return all
}

// TestCozRoundTrip: the output for COZ can be read, and has the same content.
func TestCozRoundTrip(t *testing.T) {
	want := analysed(made())
	for _, asJSON := range []bool{false, true} {
		var b bytes.Buffer
		if err := Coz(&b, []*whatif.Data{made()}, asJSON); err != nil {
			t.Fatal(err)
		}
		runs, err := whatif.Read("coz", &b)
		if err != nil {
			t.Fatal(err)
		}
		got := analysed(runs...)
		if got.Targets[0].Unit.Name != "parse.c:118" || got.Targets[0].Effects[0].Verdict != analyze.Faster {
			t.Errorf("first target %v: %s", got.Targets[0].Unit, got.Targets[0].Effects[0].Verdict)
		}
		a, b2 := want.Targets[0].Effects[0].Slope, got.Targets[0].Effects[0].Slope
		if d := a.Value - b2.Value; d > 0.03 || d < -0.03 {
			t.Errorf("slope %v, was %v", b2, a)
		}
	}
}

// TestOnly: in every format only what was asked for is written, and a point that does not exist is
// an error.
func TestOnly(t *testing.T) {
	two := made()
	two.Run.Points = append(two.Run.Points, whatif.Point{Name: "flush", Kind: "func"})
	for i := range two.Experiments {
		e := &two.Experiments[i]
		e.Points = append(e.Points, whatif.Visits{Count: 1, Weight: 0.7, WindowNS: e.Points[0].WindowNS})
	}
	two.End.Visits = append(two.End.Visits, 300)
	r := analysed(two)
	for name, write := range map[string]func(w io.Writer, opt Options) error{
		"text":  func(w io.Writer, opt Options) error { return Text(w, r, opt) },
		"json":  func(w io.Writer, opt Options) error { return JSON(w, r, opt) },
		"csv":   func(w io.Writer, opt Options) error { return CSV(w, r, opt) },
		"md":    func(w io.Writer, opt Options) error { return GitHub(w, r, opt) },
		"svg":   func(w io.Writer, opt Options) error { return SVG(w, r, opt) },
		"map":   func(w io.Writer, opt Options) error { return Map(w, r, opt) },
		"pprof": func(w io.Writer, opt Options) error { return pprofText(w, r, opt) },
	} {
		var all, one, top bytes.Buffer
		if err := errors.Join(write(&all, Options{}), write(&one, Options{Point: "flush"}),
			write(&top, Options{Top: 1})); err != nil {
			t.Fatal(err)
		}
		rank := r.Targets[1].Unit.Name
		if !strings.Contains(all.String(), rank) || strings.Contains(top.String(), rank+" ") ||
			strings.Contains(top.String(), rank+`"`) {
			t.Errorf("%s: of the first unit only:\n%s", name, top.String())
		}
		body := one.String()
		if name == "text" { // its head has all points
			_, body, _ = strings.Cut(body, "less time per visit")
		}
		if !strings.Contains(all.String(), "request") || !strings.Contains(body, "flush") ||
			strings.Contains(body, "request") {
			t.Errorf("%s: of one point only:\n%s", name, body)
		}
		if err := write(io.Discard, Options{Point: "x"}); err == nil ||
			!strings.Contains(err.Error(), "selecting point x: the profile has request, flush") {
			t.Errorf("%s: of a point that does not exist: %v", name, err)
		}
	}
}

// TestDoubtFirst: in every format the doubt about a run that says nothing comes first.
func TestDoubtFirst(t *testing.T) {
	r := analysed(unlucky()["nobaseline"]...)
	doubt := r.Doubt()
	if doubt == "" {
		t.Fatal("there is no doubt")
	}
	var text, md, svg bytes.Buffer
	if err := errors.Join(Text(&text, r, Options{}), GitHub(&md, r, Options{}), SVG(&svg, r, Options{})); err != nil {
		t.Fatal(err)
	}
	for _, said := range []string{text.String(), md.String()} {
		if why, ok := r.DoubtReason(); !ok || strings.Count(said, why.Text) != 1 {
			t.Errorf("the reason is %q, and not said once:\n%s", why.Text, said)
		}
	}
	first, _, _ := strings.Cut(doubt, ":")
	for name, text := range map[string]string{"md": md.String(), "svg": svg.String()} {
		at, table := strings.Index(text, first), strings.Index(text, "parse.c")
		if at < 0 || table >= 0 && table < at {
			t.Errorf("%s: the doubt is at %d, the first unit at %d", name, at, table)
		}
	}
}

// TestMany: for a profile with thousands of units, the golden has the size, a checksum and the
// beginning of each format's output.
func TestMany(t *testing.T) {
	runs := []*whatif.Data{many()}
	renderers := renderers()
	renderers["svg"] = func(runs []*whatif.Data) ([]byte, error) {
		var b bytes.Buffer
		err := SVG(&b, analysed(runs...), Options{Top: 20})
		return b.Bytes(), err
	}
	renderers["txt"] = func(runs []*whatif.Data) ([]byte, error) {
		var b bytes.Buffer
		err := Text(&b, analysed(runs...), Options{Width: 80, Top: 20})
		return b.Bytes(), err
	}
	var all bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(renderers)) {
		text, err := renderers[name](runs)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%s: %d lines, %d bytes, %x\n",
			name, bytes.Count(text, []byte("\n")), len(text), sha256.Sum256(text))
		for i, line := range strings.SplitN(string(text), "\n", 6) {
			if i < 5 {
				fmt.Fprintf(&all, "\t%s\n", cutRight(clean(line), 120))
			}
		}
	}
	golden(t, "many.txt", all.Bytes())
}
