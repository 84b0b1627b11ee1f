package web

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"whatif/internal/code/sourcefile"
	"whatif/internal/profile"
)

// TestTooFew: of a unit that was tried too seldom for an interval no gain is shown: not in its row, its details or its
// circle on the map. The answer says how many such units there are.
func TestTooFew(t *testing.T) {
	p := pageOf(world{}.made())
	v := &p.index.Views[0]
	at := -1
	for i, u := range p.index.Units {
		if u.Name == "checksum" {
			at = i
		}
	}
	r := p.rows(v).Rows[0][at]
	if !r.Few || strings.Join(r.Cells, "") != "–––" || r.Values[1] != nil || r.Spark != [2]string{} {
		t.Errorf("row %+v", r)
	}
	if want := "unclear: 1 experiment, and an interval needs 3"; r.Words != want {
		t.Errorf("words %q, want %q", r.Words, want)
	}
	e := p.details(v, at/perChunk)[at%perChunk].Sides[0].Effects[0]
	if len(e.Curve)+len(e.Marks) > 0 || e.Slope != nil || strings.Contains(e.Chart, `class="curve`) {
		t.Errorf("details: %+v", e)
	}
	if strings.Contains(p.maps(v)[0], "checksum") {
		t.Error("it is on the map")
	}
	kind, text := nothingToGain(0, 6, 3, 0, false)
	want := "Not enough data to say what would help: 6 units were tried, 3 of them too seldom to tell. " +
		"A longer run tells more."
	if kind != "unsure" || text != want {
		t.Errorf("%s: %s", kind, text)
	}
}

// functions is a run with functions as units, one of them with the line of its declaration, and with the lines of
// another one.
func functions(t *testing.T) *profile.Data {
	file := filepath.Join(t.TempDir(), "engine.cc")
	text := ""
	for i := range 200 {
		text += fmt.Sprintf("line(%d);\n", i+1)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	d := world{file: file}.made()
	declared := "main::{lambda at engine.cc:100}::operator()"
	d.Units[1] = profile.Unit{ID: 1, Kind: "func", Name: declared, Func: declared, File: file, Line: 100,
		Binary: "/bin/engine"}
	d.Units[2] = profile.Unit{ID: 2, Kind: "func", Name: "sort", Func: "sort(int*)", File: file, Binary: "/bin/engine"}
	for id, line := range map[uint32]int{3: 33, 5: 31} {
		d.Units[id] = profile.Unit{ID: id, Kind: "line", Name: fmt.Sprintf("engine.cc:%d", line), File: file, Line: line,
			Func: "sort", Binary: "/bin/engine"}
	}
	d.Units[4] = profile.Unit{ID: 4, Kind: "func", Name: "unknown", Func: "unknown()", File: file, Binary: "/bin/engine"}
	d.Sources[file] = sourcefile.Sum([]byte(text))
	return d
}

// TestFunctionSource: the source of a function begins at its declaration, or else at the first line that is known of
// it.
func TestFunctionSource(t *testing.T) {
	p := pageOf(functions(t))
	for _, u := range p.index.Units {
		want := map[string]int{"main::{lambda at engine.cc:100}::operator()": 100, "sort": 31, "engine.cc:33": 33,
			"engine.cc:31": 31}[u.Name]
		if u.Begin != want {
			t.Errorf("the source of %s begins at %d, not %d", u.Name, u.Begin, want)
		}
	}
	b := at(t, onDisk(t, p), size(1400, 900))
	first := func(unit, want string) {
		t.Helper()
		b.run(fmt.Sprintf(`void [...document.querySelectorAll('#body tr')].find(tr => tr.dataset.unit === %q).click()`, unit))
		b.detail(unit)
		const source = `(e => e ? e.querySelector('.at').textContent + ' ' + e.querySelector('.code').textContent + ' ' + ` +
			`e.querySelector('.margin').textContent : document.querySelector('#detail > p:last-child').textContent)`
		if got := value[string](b, source+`(document.querySelector('#detail .source tbody tr'))`); got != want {
			t.Errorf("the source of %s begins with %q, not %q", unit, got, want)
		}
	}
	first("main::{lambda at engine.cc:100}::operator()", "100 line(100); 60.0%")
	first("sort", "31 line(31); 1.0%")
	first("unknown", "The profile does not say where in the file it begins.")
}

// TestEnding: a program that whatif ended has not failed, and what was attached to goes on.
func TestEnding(t *testing.T) {
	for _, c := range []struct{ subject, want string }{{"", " · ended by whatif after 60 s, as asked"}, {"attach", ""}} {
		d := world{}.made()
		d.Run.Subject, d.End.Status, d.End.Ended = c.subject, 143, c.subject == ""
		b := at(t, onDisk(t, pageOf(d)), size(1400, 900))
		if got := b.text("#about dd"); !strings.HasSuffix(got, "Z"+c.want) {
			t.Errorf("subject %q: %s", c.subject, got)
		}
	}
}
