package cli

import (
	"bytes"
	"errors"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"whatif/internal/hint"
)

// TestFlagsAnywhere checks that flags may stand before or after operands.
func TestFlagsAnywhere(t *testing.T) {
	parsed := func(starts bool, line string) (top int, d time.Duration, verbose bool, rest []string, err error) {
		f := newFlags("report")
		f.starts = starts
		f.IntVar(&top, "top", 20, "`N`")
		f.seconds(&d, "duration", 0, "`TIME`")
		f.short("d", "duration")
		f.BoolVar(&verbose, "verbose", false, "more")
		rest, err = f.read(strings.Fields(line))
		return
	}
	for _, c := range []struct {
		line    string
		starts  bool
		top     int
		d       time.Duration
		verbose bool
		rest    string
	}{
		{"a.profile --top 3", false, 3, 0, false, "a.profile"},
		{"--top=3 a b --verbose -d 1m30s", false, 3, 90 * time.Second, true, "a b"},
		{"123 -d 30", false, 20, 30 * time.Second, false, "123"},
		{"-d 1.5 123", false, 20, 1500 * time.Millisecond, false, "123"},
		{"-verbose a -top 4", false, 4, 0, true, "a"}, // package flag's way of a long name
		{"--verbose=false a", false, 20, 0, false, "a"},
		{"a -- --top 3", false, 20, 0, false, "a --top 3"},
		{"a - b", false, 20, 0, false, "a - b"},
		{"-d 5 ./server -d 7 --top 3", true, 20, 5 * time.Second, false, "./server -d 7 --top 3"},
		{"--top 3 -- ./server --verbose", true, 3, 0, false, "./server --verbose"},
		{"-- -d 3", true, 20, 0, false, "-d 3"},
	} {
		top, d, verbose, rest, err := parsed(c.starts, c.line)
		if err != nil || top != c.top || d != c.d || verbose != c.verbose || strings.Join(rest, " ") != c.rest {
			t.Errorf("%s: top %d, %v, verbose %v, %q, %v", c.line, top, d, verbose, rest, err)
		}
	}
	for line, want := range map[string]string{
		"a --tpo 3":      "unknown flag --tpo",
		"-x":             "unknown flag -x",
		"a --top":        "flag --top needs a value",
		"a -d":           "flag -d needs a value",
		"-top x":         `flag --top: "x" is not a value that it takes`,
		"--top 1e99":     `flag --top: "1e99" is not a value that it takes`,
		"-d NaN":         `flag -d: "NaN" is not a length of time`,
		"-d 1e400":       `flag -d: "1e400" is not a length of time`,
		"--duration ''":  `flag --duration: "''" is not a length of time`,
		"--verbose=much": `flag --verbose: "much" is not a value that it takes`,
	} {
		if _, _, _, _, err := parsed(false, line); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
	if _, _, _, _, err := parsed(false, "a b --help"); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("--help behind operands: %v", err)
	}
}

// TestUsageNamesFlags checks that the usage of a command says [flags] if and only if it has flags, and that every error
// of the command line has a hint.
func TestUsageNamesFlags(t *testing.T) {
	for _, d := range describe() {
		if has := len(d.flags()) > 0; has != strings.Contains(d.usage, "[flags]") {
			t.Errorf("%s has %d flags, and its usage is %q", d.name, len(d.flags()), d.usage)
		}
	}
	if !slices.Contains(strings.Fields(helpTopics(describe())), "json") || !strings.Contains(usageOf("help"), "json") {
		t.Error("nobody finds the topic json")
	}
	for _, line := range []string{
		"report --format pie", "report --top -1", "report --unit x", "run -p / x", "run -t x x", "run --waiting x x",
		"run --unit x x", "run --include x x", "check x", "attach x", "attach", "completion x", "help x", "x", "diff x",
		"demo -d x", "run --period 1us x", "run --seed x x",
	} {
		var out bytes.Buffer
		if status := Run(t.Context(), nil, &out, &out, strings.Fields(line)); status != statusUsage {
			t.Errorf("%s: status %d\n%s", line, status, &out)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != 2 || !strings.HasPrefix(lines[0], "whatif: ") || !strings.HasPrefix(lines[1], "whatif: hint: ") {
			t.Errorf("%s: %q", line, lines)
		}
	}
	if h := hint.Of(span{new(time.Duration), false}.Set("5")); h != "write 5ms or 5s" {
		t.Errorf("hint %q", h)
	}
}

// TestLiveWarning checks that a warning during a run has the same form as in the report.
func TestLiveWarning(t *testing.T) {
	var out bytes.Buffer
	log := newLog(&out, newStatus(&out, true), true)
	log.Warn("point a: never visited", "code", "never-visited")
	log.Warn("it goes on")
	log.Debug("found", "sites", 3)
	want := "whatif: warning: point a: never visited [never-visited]\nwhatif: warning: it goes on\nwhatif: found sites=3\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
