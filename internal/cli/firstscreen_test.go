package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"whatif/internal/analyze"
	"whatif/internal/profile"
	"whatif/internal/report"
)

const (
	readme      = "../../README.md"
	example     = "../../docs/example"
	firstScreen = 60 // lines
)

// TestReadmeShows compares the table at the top of the README with the report on the profile from which the table was
// made, and its picture with the map of that profile. It also checks what the README says about it. With -update both
// are made again.
func TestReadmeShows(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```\n(\\$ [^\n]*orders)\n(.*?)\n```\n").FindSubmatchIndex(text)
	if block == nil {
		t.Fatal("the README begins without a run of orders")
	}
	runs, err := profile.ReadFiles([]string{filepath.Join(example, "orders.profile")})
	if err != nil {
		t.Fatal(err)
	}
	result := analyze.Analyze(runs, analyze.Options{})
	var out bytes.Buffer
	if err := report.Text(&out, result, report.Options{Width: 100, Top: 20}); err != nil {
		t.Fatal(err)
	}
	want := strings.TrimRight(out.String(), "\n")
	if got := string(text[block[4]:block[5]]); got != want && *update {
		text = append(append(bytes.Clone(text[:block[4]]), want...), text[block[5]:]...)
		if err := os.WriteFile(readme, text, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if got != want {
		t.Errorf("whatif prints\n%s\nthe README shows\n%s\n(go test ./internal/cli -run TestReadmeShows -update)", want, got)
	}
	var picture bytes.Buffer
	if err := report.Map(&picture, result, report.Options{Top: 20}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(example, "map.svg")
	if was, err := os.ReadFile(file); !bytes.Equal(was, picture.Bytes()) && *update {
		if err := os.WriteFile(file, picture.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(was, picture.Bytes()) {
		t.Errorf("%s is not what whatif draws (make pictures): %v", file, err)
	}
	if n := bytes.Count(text[:block[5]], []byte("\n")); n > firstScreen {
		t.Errorf("the table ends at line %d", n)
	}

	// The README says: the line with the largest share has no visible gain, and the leading line has a smaller share.
	first, hottest := &result.Targets[0], &result.Targets[0]
	for i := range result.Targets {
		if result.Targets[i].Share > hottest.Share {
			hottest = &result.Targets[i]
		}
	}
	gain, known := hottest.Effects[0].At(50)
	nothing := known && gain.Bounded && gain.Low < 0 && gain.High > 0
	if first == hottest || !nothing || first.Effects[0].Verdict != analyze.Faster {
		t.Errorf("%s leads (%s); %s has the largest share, and gains %+v at 50%%",
			first.Unit.Name, first.Effects[0].Verdict, hottest.Unit.Name, gain)
	}
	for name, line := range map[string]string{"sends you to line ": hottest.Unit.Name, "Line ": first.Unit.Name} {
		if !strings.Contains(string(text), name+strings.TrimPrefix(line, "orders.c:")) {
			t.Errorf("the README does not say %q of %s", name, line)
		}
	}
}

// TestReadmeFigures compares the README's figures of accuracy with those of the suite.
func TestReadmeFigures(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile("../../accuracy/RESULTS.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitN(string(text), "\n", firstScreen+1)[:firstScreen]
	screen := strings.Join(lines, " ") // sentences go over line ends
	find := func(pattern string) []string {
		found := regexp.MustCompile(pattern).FindStringSubmatch(string(said))
		if found == nil {
			t.Fatalf("accuracy/RESULTS.md has no %s", pattern)
		}
		return found[1:]
	}
	all := find(`mean absolute error over (\d+) programs: ([\d.]+) points`)
	coz := find(`on the (\d+) programs that coz can run: ([\d.]+) points, coz ([\d.]+)`)
	within := find(`intervals that contain the truth: \d+ of \d+ \((\d+)%\)`)
	forms := find(`(?s)mean absolute error over 64 programs.*?intervals that contain the truth: \d+ of \d+ \((\d+)%\)`)
	for _, want := range []string{
		"in each of " + all[0] + " programs", "off by " + all[1] + " percentage points",
		"On the " + coz[0] + " that COZ can run",
		"off by " + coz[1] + " points and COZ by " + coz[2] + ".",
		"in " + within[0] + "% of the cases", "in " + forms[0] + "% of a group",
	} {
		if !strings.Contains(screen, want) {
			t.Errorf("the first %d lines do not say %q", firstScreen, want)
		}
	}
}
