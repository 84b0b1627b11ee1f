package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"whatif/internal/analyze"
	"whatif/internal/profile"
)

func svg(t *testing.T, r *analyze.Result, opt Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := SVG(&b, r, opt); err != nil {
		t.Fatal(err)
	}
	wellFormed(t, b.Bytes())
	return b.Bytes()
}

// wellFormed checks that names did not become markup, and that numbers are numbers.
func wellFormed(t *testing.T, file []byte) {
	t.Helper()
	for d := xml.NewDecoder(bytes.NewReader(file)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, file)
		}
		if e, ok := token.(xml.StartElement); ok {
			if e.Name.Local == "script" || e.Name.Local == "T" {
				t.Errorf("element %s", e.Name.Local)
			}
			for _, a := range e.Attr {
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") || strings.HasPrefix(a.Name.Local, "on") {
					t.Errorf("%s %s=%q", e.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
	}
}

func TestSVG(t *testing.T) {
	all := analyze.Analyze([]*profile.Data{made()}, analyze.Options{Trials: true})
	golden(t, "top.svg", svg(t, all, Options{Top: 2}))
	golden(t, "unit.svg", svg(t, all, Options{Unit: "parse.c:118"}))
	for name, runs := range profiles() {
		r := analyze.Analyze(runs, analyze.Options{Trials: true})
		golden(t, name+".svg", svg(t, r, Options{Top: 2}))
		svg(t, r, Options{})
	}
	hostile := made()
	for id, u := range hostile.Units {
		u.Func = `"><script>alert(1)</script>`
		u.Name = u.Func + u.Name
		hostile.Units[id] = u
	}
	svg(t, analysed(hostile), Options{})
	for _, opt := range []Options{{Unit: "no.c:1"}, {Point: "none"}} {
		if err := SVG(io.Discard, all, opt); err == nil {
			t.Errorf("%+v: no error", opt)
		}
	}
}
