package main

import (
	"io"
	"strings"
	"testing"
)

// TestApply checks that each change is made once, within its line, and that there is an error if it cannot be made.
func TestApply(t *testing.T) {
	var source strings.Builder
	for _, c := range changes {
		for _, r := range c.replaces {
			if strings.Contains(r[0]+r[1], "\n") {
				t.Errorf("%s: %q is longer than a line: what follows gets other numbers", c.name, r[1])
			}
			source.WriteString("before();\n" + r[0] + "\n")
		}
	}
	changed, err := apply(source.String(), changes)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		for _, r := range c.replaces {
			if strings.Count(changed, r[1]) != 1 {
				t.Errorf("%s: %q is not in it once:\n%s", c.name, r[1], changed)
			}
		}
		if !strings.Contains(changed, "change_"+c.name) && c.target == "" {
			t.Errorf("%s: its variable is not looked at", c.name)
		}
	}
	if _, err := apply(source.String()+source.String(), changes); err == nil || !strings.Contains(err.Error(), "2 times") {
		t.Errorf("twice in the source: %v", err)
	}
	if _, err := apply("", changes); err == nil || !strings.Contains(err.Error(), "0 times") {
		t.Errorf("not in the source: %v", err)
	}
}

func TestTargetIn(t *testing.T) {
	c := change{replaces: [][2]string{{"x = 1;", "x = 2;"}}}
	if got := c.targetIn("a\nb\n  x = 1;\n"); got != "sqlite3.c:3" {
		t.Errorf("target %s", got)
	}
	c.target = "func:f"
	if got := c.targetIn(""); got != "func:f" {
		t.Errorf("target %s", got)
	}
}

func TestOptions(t *testing.T) {
	o, err := parseOptions(io.Discard, []string{"-only", "seek,fill", "-modes", "private"})
	if err != nil || strings.Join(names(o.changes), " ") != "seek fill" || len(o.modes) != 1 {
		t.Errorf("%+v, %v", o, err)
	}
	for _, wrong := range [][]string{
		{"-only", "nothing"}, {"-modes", "both"}, {"-rounds", "1"}, {"-seconds", "0"}, {"-predict", "NaN"}, {"more"},
	} {
		if _, err := parseOptions(io.Discard, wrong); err == nil {
			t.Errorf("%v: taken", wrong)
		}
	}
}

func TestMedian(t *testing.T) {
	if got := median([]float64{1, 2, 9}); got != 2 {
		t.Error(got)
	}
	if got := median([]float64{1, 2, 3, 9}); got != 2.5 {
		t.Error(got)
	}
}
