package cli

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"whatif/internal/testing/pty"
)

// Every command is in the list of commands, every flag in a group of its command, and commands have examples.
func TestHelpIsWhole(t *testing.T) {
	var listed []string
	for _, group := range commandGroups {
		listed = append(listed, strings.Fields(group.names)...)
	}
	for _, c := range commands() {
		if !slices.Contains(listed, c.name) {
			t.Errorf("whatif %s is in no group of commandGroups", c.name)
		}
	}
	if len(listed) != len(commands()) {
		t.Errorf("%d commands are listed, there are %d", len(listed), len(commands()))
	}
	for _, d := range describe() {
		if n := len(examples[d.name]); n != 3 && d.name != "version" {
			t.Errorf("whatif %s has %d examples, not 3", d.name, n)
		}
		for _, group := range d.groups {
			if group.title == others {
				t.Errorf("whatif %s: in no group of flagGroups: %+v", d.name, group.flags)
			}
		}
	}
	for name, groups := range flagGroups {
		for _, group := range groups {
			for _, flag := range strings.Fields(group.names) {
				known := slices.ContainsFunc(describe(), func(d description) bool {
					return (d.name == name || flagGroups[d.name] != nil) && d.flag(flag) != nil
				})
				if !known {
					t.Errorf("flagGroups of %s has a flag that no command has: --%s", name, flag)
				}
			}
		}
	}
}

// Help fits the terminal. Only the command lines of examples are not broken, as they are to be copied.
func TestHelpFits(t *testing.T) {
	screen, program := pty.Open(t)
	defer screen.Close()
	defer program.Close()
	for _, cols := range []int{60, 80, 120} {
		size := &unix.Winsize{Row: 24, Col: uint16(cols)}
		if err := unix.IoctlSetWinsize(int(program.Fd()), unix.TIOCSWINSZ, size); err != nil {
			t.Fatal(err)
		}
		if got := columns(program); got != cols {
			t.Errorf("%d columns, and text for %d", cols, got)
		}
	}
	if got := columns(os.Stdin); got != plainWidth && got < narrowest {
		t.Errorf("%d columns", got)
	}
	var text bytes.Buffer
	entry(&text, 40, textColumn, "-p, --point SPEC",
		"one of\n  func:NAME\n  FILE:LINE with some more words that do not fit")
	const want = "  -p, --point SPEC\n" +
		"        one of\n          func:NAME\n          FILE:LINE with some more\n            words that do not fit\n"
	if text.String() != want {
		t.Errorf("narrow:\n%s", &text)
	}
	for name, text := range HelpTexts() {
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			example := strings.HasPrefix(line, "  whatif ") || strings.HasPrefix(line, "  sudo whatif ")
			if n := utf8.RuneCountInString(line); n > plainWidth && !example && !strings.HasPrefix(line, "usage: ") {
				t.Errorf("help %s: a line of %d columns: %s", name, n, line)
			}
			if n := utf8.RuneCountInString(line); n != len(line) || n > 100 {
				t.Errorf("help %s: not ASCII, or too long: %s", name, line)
			}
		}
	}
}
