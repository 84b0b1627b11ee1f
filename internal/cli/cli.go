// Package cli is whatif's command line: one file per command, and here what they
// share. It parses, calls the packages that do the work, and prints. Its own
// words go to stderr, since the profiled program owns stdin and stdout; an error
// is one line, `whatif: doing X: why`, and where there is a remedy a second,
// `whatif: hint: what to do`.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"whatif/internal/demo"
	"whatif/internal/hint"
	"whatif/internal/report"
	"whatif/internal/target"
)

// Exit statuses of whatif's own; any other is the profiled program's, or says that it cannot be executed (target.NotExecuted).
const (
	statusFailed = 125 // whatif itself failed
	statusUsage  = 2   // the command line is wrong
)

// Version is printed by `whatif version`.
const Version = "0.1"

// Startup must be the first call of main. It does not return in two kinds of processes that are whatif's own binary:
// one that becomes the profiled program (target.Main), and the demo's program (demo.Init).
func Startup() {
	target.Main()
	demo.Init()
}

// shell is what a command runs in.
type shell struct {
	ctx            context.Context
	stdin          io.Reader
	stdout, stderr io.Writer
	// describe, where it is set, gets the command's flags, and no more is done; see describe.go.
	describe func(*flags)
}

type command struct {
	name    string
	usage   string // after the name
	summary string
	run     func(sh *shell, args []string) (int, error)
}

func commands() []command {
	return []command{
		{"run", "[flags] [--] PROGRAM [ARG...]", "profile a program and its descendants", runCommand},
		{"attach", "[flags] PID...", "profile what already runs, and leave it running", attachCommand},
		{"system", "[flags] [-- LOAD [ARG...]]", "profile the whole machine (while LOAD runs)", systemCommand},
		{"points", "PROGRAM", "what a program offers as progress points", pointsCommand},
		{"report", "[flags] [FILE...]", "print or export profiles; several are merged", reportCommand},
		{"view", "[flags] [FILE...]", "the same in a browser, served on loopback", viewCommand},
		{"diff", "[flags] OLD NEW", "what changed from one profile to another, and did the promised gain arrive", diffCommand},
		{"check", "[flags] FILE | OLD NEW", "exit with 1 if a gain or a loss is surely not as it should be", checkCommand},
		{"demo", "[flags]", "a built-in program with a known answer, and the answer found", demoCommand},
		{"doctor", "", "can this machine do it? what is missing, and the fix", doctorCommand},
		{"version", "", "print the version", versionCommand},
		{"completion", "bash|zsh|fish", "print completions for a shell", completionCommand},
		{"help", "[COMMAND|json]", "print this, a command's flags, or the schema of JSON reports", helpCommand},
	}
}

// Run executes a command line and returns the exit status.
func Run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer, args []string) int {
	sh := &shell{ctx: ctx, stdin: stdin, stdout: stdout, stderr: stderr}
	if len(args) == 0 {
		usage(stderr)
		return statusUsage
	}
	name := args[0]
	switch name {
	case "-h", "-help", "--help":
		name = "help"
	case "-version", "--version":
		name = "version"
	}
	for _, c := range commands() {
		if c.name == name {
			if err := sh.settle(name); err != nil {
				return sh.finish(0, err)
			}
			status, err := c.run(sh, args[1:])
			return sh.finish(status, usageHint(c.name, err))
		}
	}
	err := hint.New(usageError{fmt.Errorf("reading the command line: unknown command %q", name)}, "whatif help lists the commands; to profile a program: whatif run -- "+name)
	return sh.finish(0, err)
}

// usageError marks an error as the command line's.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// finish prints the error, if there is one, and chooses the exit status.
func (sh *shell) finish(status int, err error) int {
	if err == nil {
		return status
	}
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	sh.complain(err)
	if usage := (usageError{}); errors.As(err, &usage) {
		return statusUsage
	}
	if program, ok := errors.AsType[*target.NotExecuted](err); ok {
		return program.Status
	}
	return statusFailed
}

// complain prints an error, and what to do about it.
func (sh *shell) complain(err error) {
	sh.say("whatif: ", err.Error())
	if h := hint.Of(err); h != "" {
		sh.say("whatif: hint: ", h)
	}
}

// say prints lines with a prefix. What is in them may be from a file, and so anybody's.
func (sh *shell) say(prefix, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(sh.stderr, "%s%s\n", prefix, report.Clean(strings.TrimSuffix(line, "\n")))
	}
}

func usage(w io.Writer) {
	fmt.Fprint(w, "whatif finds out what a program would gain if a piece of it were faster.\n\nusage:\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  whatif %-38s %s\n", strings.TrimSpace(c.name+" "+c.usage), c.summary)
	}
	fmt.Fprint(w, "\nA first profile: sudo whatif run -p func:request_done -- ./server\nwhatif help COMMAND lists a command's flags. They may stand before or after operands, but before PROGRAM and LOAD.\n")
}

func helpCommand(sh *shell, args []string) (int, error) {
	if len(args) == 0 || slices.Contains([]string{"help", "-h", "-help", "--help"}, args[0]) {
		usage(sh.stdout)
		return 0, nil
	}
	if args[0] == "json" {
		_, err := sh.stdout.Write(report.Schema)
		return 0, err
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(&shell{ctx: sh.ctx, stdin: sh.stdin, stdout: sh.stdout, stderr: sh.stdout}, []string{"-h"})
		}
	}
	return 0, hint.New(usageError{fmt.Errorf("printing help: unknown command %q", args[0])}, "whatif help lists the commands")
}

func versionCommand(sh *shell, args []string) (int, error) {
	if _, err := parse(sh, newFlags("version"), args, 0, 0); err != nil {
		return 0, err
	}
	fmt.Fprintf(sh.stdout, "whatif %s\n", Version)
	return 0, nil
}

// flags is a flag set that knows how its command is used.
type flags struct {
	*flag.FlagSet
	shorts map[string]string // of long names
	starts bool              // the first operand is a program, and what follows are its arguments
	// How many operands there can be; most < 0 is any number.
	least, most int
}

func newFlags(name string) *flags {
	return &flags{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError), shorts: make(map[string]string)}
}

// short gives a flag a one-letter name beside its long one.
func (f *flags) short(letter, long string) {
	f.Var(f.Lookup(long).Value, letter, "")
	f.shorts[long] = letter
}

// given says whether a flag is on the command line.
func (f *flags) given(name string) (yes bool) {
	f.Visit(func(g *flag.Flag) { yes = yes || g.Name == name || g.Name == f.shorts[name] })
	return yes
}

// parse reads args and checks how many operands there are; most < 0 is any number.
func parse(sh *shell, f *flags, args []string, least, most int) ([]string, error) {
	f.least, f.most = least, most
	if sh.describe != nil {
		sh.describe(f)
		return nil, flag.ErrHelp
	}
	rest, err := f.operands(args)
	if errors.Is(err, flag.ErrHelp) {
		f.help(sh.stderr)
	}
	return rest, err
}

// operands sets the flags in args, and gives the operands if there are as many as there can be.
func (f *flags) operands(args []string) ([]string, error) {
	rest, err := f.read(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return nil, err
	case err != nil:
		return nil, usageError{fmt.Errorf("reading the command line: %w", err)}
	case len(rest) < f.least:
		err = errors.New("missing argument")
	case f.most >= 0 && len(rest) > f.most:
		err = fmt.Errorf("unexpected argument %q", rest[f.most])
	default:
		return rest, nil
	}
	return nil, hint.New(usageError{fmt.Errorf("reading the command line: %w", err)}, "usage: "+usageOf(f.Name()))
}

func usageOf(name string) string {
	for _, c := range commands() {
		if c.name == name {
			return strings.TrimSpace("whatif " + name + " " + c.usage)
		}
	}
	panic("no command " + name)
}

// descriptionOf is what the man page says of a command, too.
func descriptionOf(name string) string {
	for _, c := range commands() {
		if c.name == name {
			return strings.TrimSpace(sentence(c.summary) + ". " + about[name])
		}
	}
	panic("no command " + name)
}

func (f *flags) help(w io.Writer) {
	fmt.Fprintf(w, "usage: %s\n\n", usageOf(f.Name()))
	for _, line := range report.Wrap(descriptionOf(f.Name()), 80) {
		fmt.Fprintln(w, line)
	}
	space := "\n"
	f.VisitAll(func(g *flag.Flag) {
		if g.Usage == "" { // a short name
			return
		}
		fmt.Fprint(w, space)
		space = ""
		what, text := flag.UnquoteUsage(g)
		names := "    --" + g.Name
		if s := f.shorts[g.Name]; s != "" {
			names = "-" + s + ", --" + g.Name
		}
		if oneOf(what) != nil {
			what = strings.ToUpper(g.Name)
		}
		if what != "" {
			names += " " + what
		}
		if g.DefValue != "" && g.DefValue != "0" && g.DefValue != "0s" && g.DefValue != "false" {
			text += " (default " + g.DefValue + ")"
		}
		fmt.Fprintf(w, "  %-28s %s\n", names, text)
	})
}
