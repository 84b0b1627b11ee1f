package cli

import (
	"fmt"
	"strings"

	"whatif/internal/version"
)

const (
	manDescription = "A causal profiler. It makes one piece of code virtually faster, by stopping everything else for a " +
		"moment whenever that code runs, and watches what happens to the program's progress. Every gain that enough " +
		"experiments or a recording tell has an interval, made to hold the truth in 95 of 100 cases, and every unit has " +
		"a verdict."
	manFlags = "Flags may stand before or after operands, but before PROGRAM and LOAD; after -- all is operands. A TIME " +
		"is 30s, 1m30s or 500ms, and a number alone is seconds. A PERIOD or LENGTH needs its unit."
	manStatus = "whatif run exits with the program's own status, 128+n for signal n, also where Ctrl-C or a signal for " +
		"whatif ended the program. Where --duration or --until ended it, the status is 0; with --preserve-status it is " +
		"the program's own. whatif system does the same with its load, and whatif attach exits with 0."
	manBugs = "docs/limits.md lists what whatif cannot do, and how you notice. A report of a bug needs what whatif " +
		"doctor and whatif version print, and the command line; CONTRIBUTING.md says where to send it."
)

// statuses are the exit statuses of whatif itself.
var statuses = [][2]string{
	{"0", "All went well."},
	{"1", "whatif check: a limit is violated, or, with --strict, it cannot be told that it holds."},
	{"2", "The command line is wrong."},
	{"125", "whatif itself failed."},
	{"126, 127", "PROGRAM cannot be executed; PROGRAM is not found."},
}

var environment = [][2]string{
	{"NO_COLOR", "No colours if it is set and not empty."},
	{"TERM", "If it is dumb: no colours and no status line."},
	{"LC_ALL, LC_CTYPE, LANG", "Whether the terminal takes UTF-8; if not, reports there are in ASCII."},
	{"DEBUGINFOD_URLS, DEBUGINFOD_CACHE_PATH, DEBUGINFOD_MAXSIZE, XDG_CACHE_HOME",
		"debuginfod server URLs, cache directory and maximum download size."},
	{"NIX_DEBUG_INFO_DIRS", "More directories with separate debug information."},
}

var manualFiles = [][2]string{
	{"whatif.profile", "Where whatif run leaves what it measured, unless told otherwise; JSON lines. A new one can be " +
		"read by its owner only."},
	{"$XDG_DATA_HOME/whatif/devices/NAME.json", "The devices of whatif device add; without that variable in " +
		"~/.local/share."},
}

// A manual writes a man page, in roff.
type manual struct{ strings.Builder }

func (m *manual) section(title string)  { fmt.Fprintf(m, ".SH %s\n", title) }
func (m *manual) paragraph(text string) { fmt.Fprintf(m, ".PP\n%s\n", roff(text)) }

// terms writes a list of terms in a font, B or I, and their texts.
func (m *manual) terms(font string, all [][2]string) {
	for _, term := range all {
		fmt.Fprintf(m, ".TP\n.%s %s\n%s\n", font, roff(term[0]), roff(term[1]))
	}
}

// ManPage returns whatif(1), in roff. TestManPage compares it with the committed page, and writes that page.
func ManPage() string {
	var m manual
	m.WriteString(".\\\" Generated: go test ./internal/cli -run TestManPage -update\n")
	fmt.Fprintf(&m, ".TH WHATIF 1 \"\" \"whatif %s\" \"User Commands\"\n", version.Number)
	m.section("NAME")
	m.WriteString("whatif \\- find out what a program would gain if a piece of it were faster\n")
	m.section("SYNOPSIS")
	all := describe()
	for i, d := range all {
		if i > 0 {
			m.WriteString(".br\n")
		}
		fmt.Fprintf(&m, ".B whatif %s\n", roff(d.name))
		if d.usage != "" {
			fmt.Fprintf(&m, "%s\n", roff(d.usage))
		}
	}
	m.section("DESCRIPTION")
	m.paragraph(manDescription)
	m.paragraph(manFlags)
	m.section("COMMANDS")
	for _, d := range all {
		m.command(d, all)
	}
	m.section("EXIT STATUS")
	m.paragraph(manStatus)
	m.terms("B", statuses)
	m.section("ENVIRONMENT")
	m.terms("B", environment)
	m.section("FILES")
	m.terms("I", manualFiles)
	m.section("EXAMPLES")
	for _, d := range all {
		for _, e := range examples[d.name] {
			fmt.Fprintf(&m, ".PP\n%s:\n.PP\n.EX\n    %s\n.EE\n", roff(sentence(e.what)), roff(e.command))
		}
	}
	m.section("BUGS")
	m.paragraph(manBugs)
	m.section("SEE ALSO")
	m.WriteString(".BR perf (1),\n.BR coz (1),\n.BR bpftrace (8),\n.BR debuginfod (8),\n.BR capabilities (7)\n")
	m.paragraph("docs/index.md lists all documents, in the order in which they help. " +
		"A package has them in /usr/share/doc/whatif.")
	return m.String()
}

// command describes a command. The commands that profile have nearly the same flags: those of whatif run are told once.
func (m *manual) command(d description, all []description) {
	fmt.Fprintf(m, ".SS whatif %s\n%s\n", roff(strings.TrimSpace(d.name+" "+d.usage)), roff(ended(sentence(d.summary))))
	if text := about[d.name]; text != "" {
		m.paragraph(text)
	}
	told := map[string]string{}
	if run := all[0]; d.name != run.name && flagGroups[d.name] != nil && d.flag("latency") != nil {
		m.paragraph("It takes the flags of whatif run" + but(run, d) + ".")
		for _, f := range run.flags() {
			told[f.long] = f.text
		}
	}
	for _, group := range d.groups {
		title := group.title
		for _, f := range group.flags {
			if told[f.long] == f.text {
				continue
			}
			if title != "" {
				fmt.Fprintf(m, ".PP\n.I %s\n", roff(title))
				title = ""
			}
			fmt.Fprintf(m, ".TP\n%s\n%s\n", f.roff(), f.roffText())
		}
	}
}

// but names those flags of run that a command does not have, and says whether others follow.
func but(run, d description) string {
	var without []string
	for _, f := range run.flags() {
		if d.flag(f.long) == nil {
			without = append(without, "--"+f.long)
		}
	}
	text := ""
	if without != nil {
		text = ", without " + strings.Join(without, ", ")
	}
	for _, f := range d.flags() {
		if of := run.flag(f.long); of == nil || of.text != f.text {
			return text + "; these are its own, or differ"
		}
	}
	return text
}

// flag finds a flag; nil: the command has none of that name.
func (d description) flag(long string) *flagDescription {
	for _, f := range d.flags() {
		if f.long == long {
			return &f
		}
	}
	return nil
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

// roffText says what a flag does. Possible values keep their case, so they do not begin the sentence.
func (f flagDescription) roffText() string {
	text := f.text
	if f.words != nil {
		_, rest, _ := strings.Cut(text, " ")
		text = strings.TrimSpace("one of " + strings.Join(f.words, ", ") + " " + rest)
	}
	lines := strings.Split(sentence(text)+f.defaultText()+".", "\n")
	for i, line := range lines {
		lines[i] = roff(line)
	}
	return strings.Join(lines, "\n.br\n")
}

// ended ends a sentence.
func ended(s string) string {
	if strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
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
