package cli_test

import (
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"whatif/internal/testing/pty"
	"whatif/internal/testing/realkernel"
)

// onScreen returns the output of a command whose stdout and stderr are a terminal.
func onScreen(t *testing.T, columns uint16, args ...string) string {
	t.Helper()
	screen, program := pty.Open(t)
	defer screen.Close()
	defer program.Close()
	if err := unix.IoctlSetWinsize(int(program.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
	shown := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(screen) // fails with EIO when the command has closed the terminal
		shown <- string(text)
	}()
	cmd := exec.Command(realkernel.Whatif(t), args...)
	cmd.Stdout, cmd.Stderr = program, program
	if err := cmd.Run(); err != nil {
		t.Errorf("%v: %v", cmd.Args, err)
	}
	program.Close()
	return strings.ReplaceAll(<-shown, "\r\n", "\n")
}

var sequence = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")

// On a terminal a table fits the width, and has colours unless the environment says otherwise.
func TestTerminal(t *testing.T) {
	before, err := filepath.Abs("../../docs/tutorial/before.profile")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		noColor, term, lang string
		columns             uint16
		colour, ascii       bool
	}{
		{"", "xterm", "C.UTF-8", 100, true, false},
		{"", "xterm", "C.UTF-8", 70, true, false},
		{"1", "xterm", "C.UTF-8", 100, false, false},
		{"", "dumb", "C.UTF-8", 100, false, false},
		{"", "xterm", "C", 100, true, true},
	} {
		t.Setenv("NO_COLOR", c.noColor)
		t.Setenv("TERM", c.term)
		t.Setenv("LC_ALL", c.lang)
		text := onScreen(t, c.columns, "report", before)
		if got := strings.Contains(text, "\x1b["); got != c.colour {
			t.Errorf("%+v: colours %v", c, got)
		}
		for line := range strings.Lines(text) {
			plain := sequence.ReplaceAllString(strings.TrimSuffix(line, "\n"), "")
			if n := utf8.RuneCountInString(plain); n > int(c.columns) {
				t.Errorf("%+v: a line of %d characters: %q", c, n, plain)
			}
			if c.ascii && len(plain) != utf8.RuneCountInString(plain) {
				t.Errorf("%+v: not ASCII: %q", c, plain)
			}
		}
		if !strings.Contains(text, "words.c:") {
			t.Errorf("%+v: no table:\n%s", c, text)
		}
	}
}

// While a program runs there is one status line, which is overwritten in place and cleared at the end.
func TestStatusLine(t *testing.T) {
	realkernel.Need(t)
	t.Setenv("TERM", "xterm")
	t.Setenv("LC_ALL", "C.UTF-8")
	t.Chdir(t.TempDir())
	text := onScreen(t, 80, "demo", "-d", "3s")
	drawn := 0
	for part := range strings.SplitSeq(text, "\r") {
		line, rest, found := strings.Cut(part, "\x1b[K")
		if !found {
			continue
		}
		if line != "" {
			drawn++
		}
		if n := utf8.RuneCountInString(line); n > 79 || strings.Contains(line, "\n") {
			t.Errorf("a status line of %d characters: %q", n, line)
		}
		if line != "" && rest != "" {
			t.Errorf("%q is printed behind the status line %q", rest, line)
		}
	}
	if drawn < 2 {
		t.Errorf("the status line was drawn %d times:\n%q", drawn, text)
	}
}
