package cli

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"whatif/internal/report"
)

const (
	// textColumn is where the texts of flags begin in a command's help.
	textColumn = 31
	// commandColumn is where the summaries begin in the list of commands.
	commandColumn = 39
	// Text is as wide as the terminal, but not wider than is easy to read. What is not a terminal counts as plainWidth.
	plainWidth, widest, narrowest = 80, 120, 40
)

// A commandGroup is a part of the list of commands.
type commandGroup struct {
	title string
	names string
}

// commandGroups has every command, in the order of the list.
var commandGroups = []commandGroup{
	{"Begin", "doctor demo points units"},
	{"Profile", "run attach system record"},
	{"Read what was found", "report view diff check ask"},
	{"More", "device version completion help"},
}

// A flagGroup is a part of a command's flags.
type flagGroup struct {
	title string // may be empty if it is the only one
	names string // long names, those of daily use first
}

// profiling are the groups of the commands that profile. begin is the group that stands first.
func profiling(begin ...flagGroup) []flagGroup {
	return append(begin,
		flagGroup{"What counts as progress", "point latency"},
		flagGroup{"How long", "duration until repeat warmup"},
		flagGroup{"Results", "output overwrite report view quiet verbose color"},
		flagGroup{"Which code is made faster", "target together unit speedups waiting include exclude kernel vmlinux"},
		flagGroup{"How the program is run", "user preserve-status runtime-flags java-agent exempt"},
		flagGroup{"On another machine", "device device-knobs host"},
		flagGroup{"More", "no-delays list-units source-path experiment period seed"})
}

// flagGroups are, by command, the groups in which help and the man page list its flags.
var flagGroups = map[string][]flagGroup{
	"run":    profiling(),
	"record": profiling(),
	"attach": profiling(flagGroup{"Which processes, beside PID", "name cgroup children"}),
	"system": profiling(),
	"report": {{"", "format output top point verbose color unit compare device host mixed source-path"}},
	"ask":    {{"", "together cores device host format color"}},
	"points": {{"", "duration name cgroup children user"}},
	"units": {{"", "duration unit top format output"}, flagGroup{"Which code is in scope",
		"include exclude kernel vmlinux source-path"}, flagGroup{"Which processes", "name cgroup children user"},
		flagGroup{"More", "mixed verbose color"}},
	"view":   {{"", "compare port no-browser mixed source-path"}},
	"diff":   {{"", "format output top point color mixed source-path"}},
	"check":  {{"", "min-gain max-regress point strict mixed source-path"}},
	"demo":   {{"", "duration"}},
	"device": {{"", "output duration name format overwrite peer serve dir anyway"}},
}

// others is the title of the flags that are in no group.
const others = "Others"

// grouped sorts a command's flags into its groups. Flags of no group come last.
func (f *flags) grouped() (all []flagGroup) {
	left := map[string]bool{}
	f.VisitAll(func(g *flag.Flag) { left[g.Name] = g.Usage != "" }) // without: a letter, or hidden
	for _, group := range flagGroups[f.Name()] {
		var has []string
		for _, name := range strings.Fields(group.names) {
			if left[name] {
				has = append(has, name)
				left[name] = false
			}
		}
		if has != nil {
			all = append(all, flagGroup{group.title, strings.Join(has, " ")})
		}
	}
	var rest []string
	for name := range left {
		if left[name] {
			rest = append(rest, name)
		}
	}
	if slices.Sort(rest); rest != nil {
		all = append(all, flagGroup{others, strings.Join(rest, " ")})
	}
	return all
}

// columns is how wide text for w is to be.
func columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if n := width(f); n > 0 {
			return max(narrowest, min(n, widest))
		}
	}
	return plainWidth
}

// usage lists the commands.
func usage(w io.Writer) {
	cols := columns(w)
	paragraph(w, cols, "whatif finds out what a program would gain if a piece of it were faster.")
	for _, group := range commandGroups {
		fmt.Fprintf(w, "\n%s:\n", group.title)
		for _, name := range strings.Fields(group.names) {
			c := commandNamed(name)
			entry(w, cols, commandColumn, strings.TrimSpace(name+" "+c.usage), c.summary)
		}
	}
	fmt.Fprint(w, "\nFirst profiles:\n"+
		"  sudo whatif run -p func:request_done -d 30s -- ./server\n"+
		"  sudo whatif run --repeat 60 -- ./convert input.dat\n"+
		"  sudo whatif attach -p func:request_done -d 30s PID\n\n")
	paragraph(w, cols, "whatif help COMMAND lists the flags of a command, with examples. Flags may stand before or after "+
		"operands, but before PROGRAM and LOAD.")
}

// help prints how the command is used: usage, description, examples, flags.
func (f *flags) help(w io.Writer) {
	cols := columns(w)
	fmt.Fprintf(w, "usage: %s\n\n", usageOf(f.Name()))
	paragraph(w, cols, descriptionOf(f.Name()))
	if all := examples[f.Name()]; all != nil {
		fmt.Fprint(w, "\nExamples:\n")
		for _, e := range all {
			for _, line := range report.Wrap(e.what, cols-4) {
				fmt.Fprintf(w, "  # %s\n", line)
			}
			fmt.Fprintf(w, "  %s\n", e.command)
		}
	}
	for _, group := range f.grouped() {
		fmt.Fprintln(w)
		fmt.Fprintf(w, "%s:\n", cmp.Or(group.title, "Flags"))
		for _, name := range strings.Fields(group.names) {
			d := f.describeFlag(f.Lookup(name))
			entry(w, cols, textColumn, d.typed(), d.text+d.defaultText())
		}
	}
}

// typed is how a flag is typed.
func (d flagDescription) typed() string {
	names := "    --" + d.long
	if d.short != "" {
		names = "-" + d.short + ", --" + d.long
	}
	return strings.TrimRight(names+" "+d.value, " ")
}

// entry prints a term and its text, which begins at a column. The text's line breaks are kept, so a list of forms stays
// one. In a narrow terminal the text stands below the term.
func entry(w io.Writer, cols, column int, term, text string) {
	beside := column
	if cols < 2*column {
		beside = 8
	}
	lead := fmt.Sprintf("  %-*s", beside-2, term)
	if len(lead) > beside || strings.HasSuffix(lead, term) || beside != column {
		fmt.Fprintf(w, "  %s\n", term)
		lead = strings.Repeat(" ", beside)
	}
	for part := range strings.SplitSeq(text, "\n") {
		plain := strings.TrimLeft(part, " ")
		indent := part[:len(part)-len(plain)]
		for i, line := range report.Wrap(plain, cols-beside-len(indent)-1) {
			fmt.Fprintf(w, "%s%s%s\n", lead, indent, line)
			lead = strings.Repeat(" ", beside)
			if i == 0 && indent != "" { // what does not fit hangs below its form
				indent += "  "
			}
		}
	}
}

func paragraph(w io.Writer, cols int, text string) {
	for _, line := range report.Wrap(text, cols) {
		fmt.Fprintln(w, line)
	}
}
