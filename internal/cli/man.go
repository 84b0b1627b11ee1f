package cli

import (
	"fmt"
	"strings"

	"whatif/internal/version"
)

const (
	manDescription = "A causal profiler. It makes one piece of code virtually faster, by stopping everything else for a " +
		"moment whenever that code runs, and watches what happens to the program's progress. Every number has a 95% " +
		"interval, and a verdict."
	manFlags = "Flags may stand before or after operands, but before PROGRAM and LOAD; after -- all is operands. A TIME " +
		"is 30s, 1m30s or 500ms, and a number alone is seconds. A PERIOD or LENGTH needs its unit."
	manStatus = "whatif run exits with the program's own status, 128+n for signal n, also where Ctrl-C or a signal for " +
		"whatif ended the program. Where --duration or --until ended it, the status is 0; with --preserve-status it is " +
		"the program's own. whatif system does the same with its load, and whatif attach exits with 0. 1: whatif check " +
		"found that a limit surely does not hold, or, with --strict, could not tell that it holds. 2: the command line " +
		"is wrong. 125: whatif itself failed. 126: the program cannot be executed. 127: the program is not found."
	manDebuginfod = "Servers of debug information, the directory for what they send, and the largest download."
)

// ManPage returns whatif(1), in roff. TestManPage compares it with the committed page, and writes that page.
func ManPage() string {
	var b strings.Builder
	b.WriteString(".\\\" Generated: go test ./internal/cli -run TestManPage -update\n")
	fmt.Fprintf(&b, ".TH WHATIF 1 \"\" \"whatif %s\" \"User Commands\"\n", version.Number)
	b.WriteString(".SH NAME\nwhatif \\- find out what a program would gain if a piece of it were faster\n.SH SYNOPSIS\n")
	all := describe()
	for i, d := range all {
		if i > 0 {
			b.WriteString(".br\n")
		}
		fmt.Fprintf(&b, ".B whatif %s\n", roff(d.name))
		if d.usage != "" {
			fmt.Fprintf(&b, "%s\n", roff(d.usage))
		}
	}
	b.WriteString(".SH DESCRIPTION\n" + roff(manDescription) + "\n")
	b.WriteString(".PP\n" + roff(manFlags) + "\n")
	b.WriteString(".SH COMMANDS\n")
	for _, d := range all {
		fmt.Fprintf(&b, ".SS whatif %s\n%s.\n", roff(strings.TrimSpace(d.name+" "+d.usage)), roff(sentence(d.summary)))
		if text := about[d.name]; text != "" {
			fmt.Fprintf(&b, ".PP\n%s\n", roff(text))
		}
		for _, f := range d.flags {
			fmt.Fprintf(&b, ".TP\n%s\n%s\n", f.roff(), roff(f.sentence()+f.defaultText()+"."))
		}
	}
	b.WriteString(".SH EXIT STATUS\n" + roff(manStatus) + "\n")
	b.WriteString(".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nNo colours if it is set and not empty.\n")
	b.WriteString(".TP\n.B TERM\nIf it is dumb: no colours and no status line.\n")
	b.WriteString(".TP\n.B LC_ALL, LC_CTYPE, LANG\n" +
		"Whether the terminal takes UTF\\-8; if not, reports there are in ASCII.\n")
	b.WriteString(".TP\n.B DEBUGINFOD_URLS, DEBUGINFOD_CACHE_PATH, DEBUGINFOD_MAXSIZE, XDG_CACHE_HOME\n" +
		roff(manDebuginfod) + "\n")
	b.WriteString(".TP\n.B NIX_DEBUG_INFO_DIRS\nWhere else separate debug information lies.\n")
	b.WriteString(".SH FILES\n.TP\n.I whatif.profile\nwhere whatif run leaves what it measured, unless told otherwise; " +
		"JSON lines. A new one can be read by its owner only.\n")
	b.WriteString(".TP\n.I $XDG_DATA_HOME/whatif/devices/NAME.json\nthe devices of whatif device add; " +
		"without that variable in \\(ti/.local/share.\n")
	return b.String()
}

func (f flagDescription) roff() string {
	s := `\fB` + roff("--"+f.long) + `\fR`
	if f.short != "" {
		s = `\fB` + roff("-"+f.short) + `\fR, ` + s
	}
	if f.value != "" {
		s += ` \fI` + roff(f.value) + `\fR`
	}
	return s
}

func (f flagDescription) defaultText() string {
	if f.def == "" {
		return ""
	}
	return " (default " + f.def + ")"
}

// sentence says what a flag does. Possible values keep their case, so they do not begin the sentence.
func (f flagDescription) sentence() string {
	if f.words != nil {
		return "One of " + strings.Join(f.words, ", ")
	}
	return sentence(f.text)
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// roff escapes the characters that roff would act upon.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, `-`, `\-`, `'`, `\(aq`, "`", `\(ga`, `^`, `\(ha`, `~`, `\(ti`).Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}
