package report

import (
	"bytes"
	"strings"
	"testing"

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
	if want := "placebo: delays of 63% of the time for nothing changed request by"; !strings.Contains(verbose, want) {
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
	warning := strings.Index(harmful, "without making anything faster (a placebo) changed it by -1")
	table := strings.Index(harmful, "parse.c:118")
	if warning < 0 || table < warning {
		t.Errorf("no warning in front of the table:\n%s", harmful)
	}
	out.Reset()
	if err := JSON(&out, analysed(with(2)), Options{Point: "request"}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"dragged": true`) {
		t.Errorf("the JSON report does not say that gains are corrected:\n%s", out.String())
	}
}
