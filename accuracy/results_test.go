package main

import (
	"strings"
	"testing"
)

func TestReplaceSection(t *testing.T) {
	one := replaceSection("", "suite", "first\n")
	two := replaceSection(one, "forms", "second\n")
	three := replaceSection(two, "suite", "third\n")
	const sections = "\n## suite\n\nthird\n\n## forms\n\nsecond\n"
	if !strings.HasPrefix(three, "# Results\n") || !strings.HasSuffix(three, sections) {
		t.Errorf("got %q", three)
	}
	if again := replaceSection(three, "suite", "third\n"); again != three {
		t.Errorf("once more: %q", again)
	}
}

func TestSectionOf(t *testing.T) {
	for _, test := range []struct {
		only []string
		want string
	}{{nil, "suite"}, {[]string{"forms"}, "forms"}, {[]string{"barrier"}, ""}, {[]string{"forms", "across"}, ""}} {
		got, err := sectionOf(test.only)
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%v: %q, %v; want %q", test.only, got, err, test.want)
		}
	}
}
