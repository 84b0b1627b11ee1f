package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"whatif/internal/report"
)

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// width is the number of columns of the terminal; 0 if f is not a terminal.
func width(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

// dumb tells whether the terminal takes no control sequences, or that is unknown.
func dumb() bool {
	t := os.Getenv("TERM")
	return t == "" || t == "dumb"
}

// colors says when text is coloured; "": on a terminal, unless NO_COLOR is set.
type colors string

const (
	always colors = "always"
	never  colors = "never"
)

func (c *colors) String() string { return string(*c) }

func (c *colors) Set(s string) error {
	switch s {
	case "auto":
		*c = ""
	case string(always), string(never):
		*c = colors(s)
	default:
		return fmt.Errorf("%q is none of auto, always and never", s)
	}
	return nil
}

// colored gives a command that prints tables its --color.
func (f *flags) colored() {
	f.Var(&f.color, "color", "`auto|always|never` (default: colours on a terminal, unless NO_COLOR is set)")
}

// terminalOptions fits the options of a text report to the terminal w. If w is not a terminal, they stay as they are.
func (sh *shell) terminalOptions(w io.Writer, opt report.Options) report.Options {
	opt.Color = sh.color == always
	f, ok := w.(*os.File)
	if !ok || !isTerminal(f) {
		return opt
	}
	opt.Width = width(f)
	opt.Curves = true
	opt.Color = opt.Color || sh.color == "" && os.Getenv("NO_COLOR") == "" && !dumb()
	opt.ASCII = !utf8Locale()
	return opt
}

// utf8Locale tells whether the character set is UTF-8. It reads the same variables as setlocale(3).
func utf8Locale() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := os.Getenv(name); v != "" {
			_, set, _ := strings.Cut(strings.ToLower(v), ".")
			set, _, _ = strings.Cut(set, "@")
			return set == "utf-8" || set == "utf8"
		}
	}
	return false
}
