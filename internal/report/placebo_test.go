package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// TestPlacebo: a placebo is in no table and in no other program's profile. Its effect is shown, and
// a warning about an effect that should not exist comes first.
func TestPlacebo(t *testing.T) {
	with := func(unit uint32) *profile.Data {
		d := made()
		u := d.Units[unit]
		u.Kind, u.Name, u.File, u.Line = profile.Placebo, profile.Placebo, "", 0
		d.Units[unit] = u
		return d
	}
	harmless := analysed(with(3))
	plain, verbose := string(text(t, harmless, Options{})), string(text(t, harmless, Options{Verbose: true}))
	if strings.Contains(plain, "placebo") || strings.Contains(plain, "write_log") {
		t.Errorf("one that changed nothing is in the table:\n%s", plain)
	}
	if want := "placebo: delays of 7% of the time for nothing changed request by"; !strings.Contains(verbose, want) {
		t.Errorf("without %q:\n%s", want, verbose)
	}
	var out bytes.Buffer
	if err := JSON(&out, harmless, Options{Point: "request", Top: 1}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"unit": "placebo"`) {
		t.Errorf("the JSON report has none:\n%s", out.String())
	}
	out.Reset()
	if err := Coz(&out, []*profile.Data{with(3)}, false); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "selected=placebo") {
		t.Error("COZ's viewer would show it as a line")
	}
	harmful := string(text(t, analysed(with(2)), Options{}))
	first := strings.Index(harmful, "confidence: fair: delays alone changed the program")
	table := strings.Index(harmful, "parse.c:118")
	said := strings.Contains(harmful, "without making anything faster (a placebo) changed it by -1")
	if first < 0 || table < first || !said {
		t.Errorf("no doubt in front of the table, or no warning:\n%s", harmful)
	}
	out.Reset()
	if err := JSON(&out, analysed(with(2)), Options{Point: "request"}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"dragged": true`) {
		t.Errorf("the JSON report does not say that gains are corrected:\n%s", out.String())
	}
}

// TestConfidence: each doubt that may make numbers wrong has its words. More doubts make less confidence.
func TestConfidence(t *testing.T) {
	for code, level := range levelOf {
		is := slices.ContainsFunc(doubtful, func(d struct{ code, words string }) bool { return d.code == code })
		if is != (level == "careful") {
			t.Errorf("%s is %s: has words for the confidence: %v", code, level, is)
		}
	}
	r := analysed(made())
	for n, want := range []string{"good", "fair", "fair", "poor"} {
		r.Warnings = nil
		for _, d := range doubtful[:n] {
			r.Warnings = append(r.Warnings, analyze.Warning{Code: d.code})
		}
		if got := confidence(r); !strings.HasPrefix(got, "confidence: "+want) {
			t.Errorf("%d doubts: %s", n, got)
		}
	}
}
