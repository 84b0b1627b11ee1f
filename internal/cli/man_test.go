package cli_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"whatif/internal/cli"
)

// TestManPage compares the committed man page with ManPage.
func TestManPage(t *testing.T) {
	const name = "../../man/whatif.1"
	got := cli.ManPage()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what the commands are; go test ./internal/cli -run TestManPage -update writes it anew", name)
	}
	for _, command := range []string{"run", "report", "diff", "check", "doctor", "completion"} {
		if !strings.Contains(got, "\n.SS whatif "+command) {
			t.Errorf("nothing of %s", command)
		}
	}
	if !regexp.MustCompile(`(?m)^\\fB\\-p\\fR, \\fB\\-\\-point\\fR`).MatchString(got) {
		t.Error("no flag --point with its short name")
	}
	if bad := regexp.MustCompile(`(?m)^['.]([^A-Zb\\]|b[^r])`).FindString(got); bad != "" {
		t.Errorf("roff would act on %q", bad)
	}
	lint(t, name)
}

// lint checks a man page with those formatters that are installed.
func lint(t *testing.T, name string) {
	t.Helper()
	if mandoc, err := exec.LookPath("mandoc"); err == nil {
		if out, err := exec.Command(mandoc, "-Tlint", "-Wwarning", name).CombinedOutput(); err != nil {
			t.Errorf("mandoc: %v\n%s", err, out)
		}
	}
	if groff, err := exec.LookPath("groff"); err == nil {
		out, err := exec.Command(groff, "-man", "-Tutf8", "-ww", "-z", name).CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("groff: %v\n%s", err, out)
		}
	}
}
