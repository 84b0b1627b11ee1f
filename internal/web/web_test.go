package web

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"whatif/internal/code/sourcefile"
	"whatif/internal/profile"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o777); err != nil {
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

// stable is a page without its script and style: its resources, in order.
func stable(t *testing.T, p *Page) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, name := range append([]string{"index"}, p.resources()...) {
		data, err := p.resource(name, true)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.ContainsAny(data, "<>&") {
			t.Errorf("%s has characters that HTML acts upon", name)
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, data, "", " "); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		fmt.Fprintf(&b, "--- %s\n%s\n", name, indented.Bytes())
	}
	return b.Bytes()
}

func TestResources(t *testing.T) {
	golden(t, "made.txt", stable(t, pageOf(world{never: true}.made())))
	golden(t, "waiting.txt", stable(t, pageOf(world{waiting: true}.made())))
	golden(t, "latency.txt", stable(t, pageOf(world{latency: true}.made())))
	before := Profile{Label: "old.profile", Runs: []*profile.Data{world{scale: 0.5}.made()}}
	now := Profile{Label: "new.profile", Runs: []*profile.Data{world{}.made()}}
	golden(t, "compared.txt", stable(t, New(now, &before, 0, false)))
	golden(t, "many.txt", sketch(t, pageOf(world{units: 5000, experiments: 20_000}.made())))
	for name, runs := range unlucky() {
		golden(t, name+".txt", stable(t, pageOf(runs...)))
		// Beside a sound profile, so that data are missing on one side only.
		compared := New(Profile{Label: "new.profile", Runs: runs}, &before, 0, false)
		golden(t, "compared_"+name+".txt", sketch(t, compared))
		stable(t, compared) // it is safe, too
	}
}

// sketch is a short form of pages of megabytes: the beginning of the index, the sizes of all
// resources, and a checksum.
func sketch(t *testing.T, p *Page) []byte {
	t.Helper()
	var b bytes.Buffer
	all := sha256.New()
	for _, name := range append([]string{"index"}, p.resources()...) {
		data, err := p.resource(name, true)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
		fmt.Fprintf(&b, "--- %s: %d bytes\n", name, len(data))
		if name == "index" {
			var indented bytes.Buffer
			if err := json.Indent(&indented, data, "", " "); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s\n", indented.Next(10_000))
		}
	}
	fmt.Fprintf(&b, "all: %x\n", all.Sum(nil))
	return b.Bytes()
}

var elements = regexp.MustCompile(`(?i)<(script|img|iframe|svg|/script)[^>]*>`)

// TestHTML checks that a file has the elements of the page, whatever the names are, asks for
// nothing, and is the same each time.
func TestHTML(t *testing.T) {
	page := func(p *Page) string {
		var b bytes.Buffer
		if err := p.WriteHTML(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for name, runs := range unlucky() {
		html := page(pageOf(runs...))
		if html != page(pageOf(runs...)) {
			t.Errorf("%s: not the same twice", name)
		}
		body := strings.Replace(html, pageJS, "", 1)
		for _, e := range elements.FindAllString(body, -1) {
			if !slices.Contains([]string{"<script>", "</script>"}, e) &&
				!regexp.MustCompile(`^<script type="(application/json|text/plain)" id="data-[a-z0-9-]+">$`).MatchString(e) {
				t.Errorf("%s: element %s", name, e)
			}
		}
		if strings.Contains(html, "{{") || !strings.Contains(html, "connect-src &#39;none&#39;") {
			t.Errorf("%s: not filled in", name)
		}
		if m := regexp.MustCompile(`(?i)(src|href)="?(https?:)?//`).FindString(body); m != "" {
			t.Errorf("%s: %s", name, m)
		}
	}
}

// TestLarge: of 5,000 units, what is needed first is small, and so are chunks.
func TestLarge(t *testing.T) {
	p := pageOf(world{units: 5000, experiments: 20_000}.made())
	for name, most := range map[string]int{"index": 2 << 20, "rows-0": 6 << 20, "detail-0-1": 1 << 20} {
		data, err := p.resource(name, true)
		if err != nil || len(data) > most {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
		}
	}
	if n := len(p.index.Units); n != 5005 {
		t.Errorf("%d units", n)
	}
}

// TestManyExperiments: of a unit with very many experiments, not all are listed or drawn.
func TestManyExperiments(t *testing.T) {
	p := pageOf(world{units: 1, experiments: 20_000}.made())
	at := slices.IndexFunc(p.index.Units, func(u unit) bool { return u.Name == "file0.c:0" })
	d := p.details(&p.index.Views[0], at/perChunk)[at%perChunk]
	if s := d.Sides[0]; len(s.Experiments) != mostListed || s.More != 10_000-mostListed ||
		len(s.Effects[0].Chart) > 100_000 {
		t.Errorf("%d experiments and %d more, chart of %d bytes", len(s.Experiments), s.More, len(s.Effects[0].Chart))
	}
}

func TestSource(t *testing.T) {
	file := filepath.Join(t.TempDir(), "parse.c")
	text := ""
	for i := range 60 {
		text += fmt.Sprintf("\tline(%d); // <b>&\u202e\n", i+1)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	d := world{file: file}.made()
	find := func(single bool) source {
		p := pageOf(d)
		for n := range p.files {
			if p.files[n].path == file {
				return p.source(n, single)
			}
		}
		t.Fatal("no such file")
		return source{}
	}
	for _, c := range []struct {
		name, sum             string
		single, note, hasText bool
	}{
		{"as it was", sourcefile.Sum([]byte(text)), true, false, true},
		{"as it was", sourcefile.Sum([]byte(text)), false, false, true},
		{"changed", "0123", true, true, false},
		{"changed", "0123", false, true, true},
		{"unknown", "", true, true, false},
		{"unknown", "", false, true, true},
	} {
		d.Sources[file] = c.sum
		s := find(c.single)
		if (s.Note != "") != c.note || (len(s.Parts) > 0) != c.hasText {
			t.Errorf("%s, in one file: %v: note %q, %d parts", c.name, c.single, s.Note, len(s.Parts))
		}
		if c.hasText && (s.Parts[0].From != 6 || s.Parts[0].Lines[12] != "\tline(18); // <b>&\\u202e" || len(s.Parts) != 1 ||
			len(s.Parts[0].Lines) != 37) {
			t.Errorf("%s: parts %+v", c.name, s.Parts)
		}
	}
}

// FuzzParts takes any text and any lines.
func FuzzParts(f *testing.F) {
	f.Add("a\nb\nc", 1, 3)
	f.Add("", -5, 1<<40)
	f.Fuzz(func(t *testing.T, text string, a, b int) {
		shown := []stretch{stretchOf("line", min(a, b)), stretchOf("func", max(a, b))}
		slices.SortFunc(shown, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
		rows := strings.Split(text, "\n")
		end := 0
		for _, p := range parts(rows, shown) {
			if p.From <= end || len(p.Lines) == 0 || p.From+len(p.Lines)-1 > len(rows) {
				t.Errorf("part from %d with %d lines of %d", p.From, len(p.Lines), len(rows))
			}
			end = p.From + len(p.Lines) - 1
		}
	})
}

// TestComparedByText: units that diff matches are beside each other. Lines of another build are
// matched by text, not by number.
func TestComparedByText(t *testing.T) {
	now, before := world{}.made(), world{}.made()
	for _, d := range []*profile.Data{now, before} {
		u := d.Units[1]
		u.Text = "sum += row[i];"
		d.Units[1] = u
		d.Run.BuildIDs = map[string]string{"/bin/server": "aa"}
	}
	moved := now.Units[1]
	moved.Line, moved.Name = 25, "parse.c:25"
	now.Units[1] = moved
	other := now.Units[3]
	other.Line, other.Name, other.Text = 18, "parse.c:18", "another line"
	now.Units[3] = other
	now.Run.BuildIDs = map[string]string{"/bin/server": "bb"}
	p := New(Profile{Runs: []*profile.Data{now}}, &Profile{Runs: []*profile.Data{before}}, 0, false)
	for at, u := range p.index.Units {
		both := p.targets[0][at] >= 0 && p.targets[1][at] >= 0
		switch {
		case u.Name == "parse.c:25" && (!both || u.Was != "parse.c:18"):
			t.Errorf("the line that moved: in both %v, was %q", both, u.Was)
		case u.Name == "parse.c:18" && both:
			t.Error("a line stands beside another one that had its number before")
		}
	}
	seen := map[string]bool{}
	for _, u := range p.index.Units {
		if seen[u.ID] {
			t.Errorf("two units are %s", u.ID)
		}
		seen[u.ID] = true
	}
}

// TestTimelineOfParts: the parts of a run of COZ share its time, so they do not follow each other.
func TestTimelineOfParts(t *testing.T) {
	const text = "startup\ttime=1\n" +
		"experiment\tselected=a.c:1\tspeedup=0.00\tduration=1000000000\nthroughput-point\tname=p\tdelta=10\n" +
		"experiment\tselected=a.c:2\tspeedup=0.50\tduration=1000000000\nthroughput-point\tname=p\tdelta=10\n" +
		"experiment\tselected=a.c:1\tspeedup=0.50\tduration=1000000000\nthroughput-point\tname=p\tdelta=10\n" +
		"experiment\tselected=a.c:2\tspeedup=0.00\tduration=1000000000\nthroughput-point\tname=p\tdelta=10\n"
	runs, err := profile.Read("f", strings.NewReader(text))
	if err != nil || len(runs) != 3 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	starts, end := pageOf(runs...).starts(0)
	if end != 4e9 || !slices.Equal(starts, []float64{0, 0, 0}) {
		t.Errorf("from %v to %v", starts, end)
	}
	again, err := profile.Read("f", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if starts, end := pageOf(append(runs, again...)...).starts(0); end != 8e9 ||
		!slices.Equal(starts, []float64{0, 0, 0, 4e9, 4e9, 4e9}) {
		t.Errorf("two of them: from %v to %v", starts, end)
	}
}
