package report

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"whatif/internal/analyze"
	whatif "whatif/internal/profile"
)

// profiles are the made-up one and the unlucky ones.
func profiles() map[string][]*whatif.Data {
	all := unlucky()
	all["made"] = []*whatif.Data{made()}
	all["latency"] = []*whatif.Data{timed("request")}

	markup := made()
	for id, name := range map[uint32]string{1: `<script>alert("1")</script>`, 2: "=HYPERLINK(\"http://x\")", 3: "a|b`c``d *e* @user #12 \x1b[31m", 4: "-2+3", 5: "名前の長い関数"} {
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

// many has 5,000 units, a few experiments each.
func many() *whatif.Data {
	d := made()
	d.Units, d.Experiments = map[uint32]whatif.Unit{}, nil
	for id := uint32(1); id <= 5000; id++ {
		d.Units[id] = whatif.Unit{ID: id, Kind: "line", Name: fmt.Sprintf("f.c:%d", id), File: "/src/f.c", Line: int(id), Func: "f", Binary: "/bin/server"}
		for i := range 2 {
			e := whatif.Experiment{Index: len(d.Experiments), RealNS: 2e8, Samples: 400, UnitSamples: map[uint32]int64{id: 40}, Points: []whatif.Visits{{Count: 200, Weight: 140, WindowNS: 1.4e8}}}
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
		"json": write(func(b *bytes.Buffer, r *analyze.Result) error { return JSON(b, r) }),
		"csv":  write(func(b *bytes.Buffer, r *analyze.Result) error { return CSV(b, r, Options{}) }),
		"md":   write(func(b *bytes.Buffer, r *analyze.Result) error { return GitHub(b, r, Options{}) }),
		"pprof": write(func(b *bytes.Buffer, r *analyze.Result) error {
			if err := Pprof(b, r); err != nil {
				return err
			}
			p, err := profile.ParseData(b.Bytes())
			if err != nil {
				return err
			}
			b.Reset()
			b.WriteString(p.String())
			return nil
		}),
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

// noNumber is what divisions by zero leave.
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

// With 5,000 units every renderer works, and says of all of them.
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
	if got, err := renderers()["md"](runs); err != nil || bytes.Count(got, []byte("\n| `")) != 5 {
		t.Errorf("a summary of more than five units: %v\n%s", err, got)
	}
	var b bytes.Buffer
	if err := Pprof(&b, analysed(runs...)); err != nil {
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
		rows, err := csv.NewReader(&b).ReadAll() // all rows have as many cells as the first
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
	if err := Pprof(out, analysed(made())); err != nil {
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
		{[]string{"-top", "-lines", "-sample_index=gain.request"}, `(?m)^ *5\d\d thousandths? .* parse_row /src/parse\.c:118$|^ *0\.6\d* .*|^ *6\d\d.* parse_row /src/parse\.c:118$`},
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

// TestCozViewer gives what we write to the parser of COZ's own viewer, in a browser. Both are
// among what make test installs.
func TestCozViewer(t *testing.T) {
	parser, err := os.ReadFile("/usr/share/coz-profiler/viewer/js/profile.js")
	if err != nil {
		t.Skip("Debian's coz-profiler is not installed")
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium")
	}
	for _, asJSON := range []bool{false, true} {
		var b bytes.Buffer
		if err := Coz(&b, []*whatif.Data{made(), timed("wait")}, asJSON); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(b.String()) // without < and >
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		page := filepath.Join(dir, "page.html")
		const script = `const warnings = [];
const profile = new Profile(cozText, null, null, () => 1, (title, text) => warnings.push(title + ": " + text));
document.body.innerHTML = '<pre id="answer">' + btoa(JSON.stringify({warnings, points: profile.getProgressPoints(), data: profile.getSpeedupData(2)})) + '</pre>';`
		html := fmt.Sprintf("<!DOCTYPE html><body><script>%s</script><script>const cozText = %s;\n%s</script></body>", parser, text, script)
		if err := os.WriteFile(page, []byte(html), 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+filepath.Join(dir, "user"), "--dump-dom", "file://"+page)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		dom, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, stderr.Bytes())
		}
		answer := regexp.MustCompile(`<pre id="answer">([^<]*)</pre>`).FindSubmatch(dom)
		if answer == nil {
			t.Fatalf("COZ's viewer does not take it:\n%s\n%s", dom, stderr.Bytes())
		}
		out, err := base64.StdEncoding.DecodeString(string(answer[1]))
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
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
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if len(got.Warnings) > 0 || strings.Join(got.Points, " ") != "request wait" {
			t.Errorf("warnings %q, points %q", got.Warnings, got.Points)
		}
		found := false
		for _, line := range got.Data {
			if line.Name != "/src/parse.c:118" {
				continue
			}
			found = true
			// The slope of the made-up programs is 0.6; of a latency COZ's viewer shows
			// what is gained below the axis.
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
			t.Errorf("parse.c:118 is not in COZ's viewer:\n%s", out)
		}
	}
}

// What we write for COZ we read, and find the same in it.
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
