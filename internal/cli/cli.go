// Package cli is whatif's command line. It parses, calls the packages that do the work, and prints.
//
// The normal sequence is that of cmd/whatif: Startup, then Run with the arguments. Run returns the exit status.
// Each command has a file of its own; cli.go has what they share.
//
// The profiled program owns stdin and stdout, so whatif's own messages go to stderr. An error is one line,
// `whatif: doing X: why`. If there is a remedy, a second line follows, `whatif: hint: what to do`.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"whatif/internal/demo"
	"whatif/internal/device"
	"whatif/internal/hint"
	"whatif/internal/knobs"
	"whatif/internal/report"
	"whatif/internal/target"
	"whatif/internal/version"
)

// The exit statuses of whatif itself. Any other status is that of the profiled program, or says that the program
// cannot be executed (target.NotExecuted).
const (
	statusFailed = 125 // whatif itself failed
	statusUsage  = 2   // the command line is wrong
)

// Startup must be the first call of main. It does not return in three kinds of processes that are whatif's own binary:
// one that becomes the profiled program (target.Main), one that keeps a network and a disk for it (knobs.Main), and the
// demo's program (demo.Init).
func Startup() {
	target.Main()
	knobs.Main()
	demo.Init()
	outliveLimits()
}

// outliveLimits keeps whatif alive when it comes to a limit for files (RLIMIT_FSIZE) or processor time. By default Go
// would print the stacks of all goroutines and exit, and the profile would end there. A write beyond the limit is then
// an error, as on a full disk. Programs that whatif starts do not inherit this.
func outliveLimits() {
	signal.Notify(make(chan os.Signal, 1), unix.SIGXFSZ, unix.SIGXCPU)
}

// shell has what a command reads and writes.
type shell struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	// describe, if set, gets the command's flags, and the command does nothing else; see describe.go.
	describe func(*flags)
	color    colors
}

type command struct {
	name    string
	usage   string // what follows the name on a command line
	summary string
	run     func(ctx context.Context, sh *shell, args []string) (int, error)
}

func commands() []command {
	return []command{
		{"run", "[flags] [--] PROGRAM [ARG...]", "profile a program and its descendants", runCommand},
		{"record", "[flags] [--] PROGRAM [ARG...]", "record a program, never stop it, and estimate gains from that",
			recordCommand},
		{"attach", "[flags] PID...", "profile what already runs, and leave it running", attachCommand},
		{"system", "[flags] [-- LOAD [ARG...]]", "profile the whole machine (while LOAD runs)", systemCommand},
		{"points", "[flags] PROGRAM [ARG...] | PID...", "what could be a progress point of a program", pointsCommand},
		{"units", "[flags] PROGRAM [ARG...] | PID... | FILE...",
			"what could be a target: code that runs, in scope or not", unitsCommand},
		{"report", "[flags] [FILE...]", "print or export profiles; several are merged", reportCommand},
		{"ask", "[flags] [FILE]", "what several changes at once would bring, from a recording", askCommand},
		{"view", "[flags] [FILE...]", "show profiles in a browser", viewCommand},
		{"diff", "[flags] OLD NEW",
			"compare two profiles: what changed, and was the predicted gain realised?", diffCommand},
		{"check", "[flags] FILE | OLD NEW", "fail (exit 1) if a limit on gains or losses is violated", checkCommand},
		{"demo", "[flags]", "profile a program with a known answer", demoCommand},
		{"device", "[flags] [WORD [ARG...]]",
			"measure how fast this machine is, and compare it with others", deviceCommand},
		{"doctor", "", "can this machine do it? what is missing, and the fix", doctorCommand},
		{"version", "", "print the version, and the commit that it was built from", versionCommand},
		{"completion", "bash|zsh|fish", "print completions for a shell", completionCommand},
		{"help", "[COMMAND|json|device-schema]", "print this, the help of a command, or a JSON schema",
			helpCommand},
	}
}

// Run executes a command line and returns the exit status.
func Run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer, args []string) int {
	sh := &shell{stdin: stdin, stdout: stdout, stderr: stderr}
	if len(args) == 0 {
		usage(stderr)
		return statusUsage
	}
	name := args[0]
	switch name {
	case "-h", "-help", "--help":
		name = "help"
	case "-V", "-version", "--version":
		name = "version"
	}
	for _, c := range commands() {
		if c.name == name {
			if err := sh.settle(name); err != nil {
				return sh.finish(0, err)
			}
			status, err := c.run(ctx, sh, args[1:])
			return sh.finish(status, usageHint(c.name, err))
		}
	}
	err := hint.New(wrongLine("unknown command %q", name),
		"whatif help lists the commands; to profile a program: whatif run -- "+name)
	return sh.finish(0, err)
}

// usageError marks an error of the command line: the exit status is 2 then.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// wrongLine makes the error for a command line that is wrong.
func wrongLine(format string, args ...any) error {
	return usageError{fmt.Errorf("reading the command line: %w", fmt.Errorf(format, args...))}
}

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

// complain prints an error, and its remedy if it has one.
func (sh *shell) complain(err error) {
	sh.say("whatif: ", err.Error())
	if h := hint.Of(err); h != "" {
		sh.say("whatif: hint: ", h)
	}
}

// say prints lines with a prefix. The text may come from a file that anybody wrote, so control characters are removed.
func (sh *shell) say(prefix, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(sh.stderr, "%s%s\n", prefix, report.Clean(strings.TrimSuffix(line, "\n")))
	}
}

func helpCommand(ctx context.Context, sh *shell, args []string) (int, error) {
	if len(args) == 0 || slices.Contains([]string{"help", "-h", "-help", "--help"}, args[0]) {
		usage(sh.stdout)
		return 0, nil
	}
	if schema := map[string][]byte{"json": report.Schema, "device-schema": device.Schema}[args[0]]; schema != nil {
		_, err := sh.stdout.Write(schema)
		return 0, err
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(ctx, &shell{stdin: sh.stdin, stdout: sh.stdout, stderr: sh.stdout}, []string{"-h"})
		}
	}
	return 0, hint.New(usageError{fmt.Errorf("printing help: unknown command %q", args[0])},
		"whatif help lists the commands")
}

func versionCommand(_ context.Context, sh *shell, args []string) (int, error) {
	if _, err := parse(sh, newFlags("version"), args, 0, 0); err != nil {
		return 0, err
	}
	fmt.Fprintf(sh.stdout, "whatif %s (%v)\n", version.Number, version.Get())
	return 0, nil
}

// flags is a command's flag set, with what the command takes besides.
type flags struct {
	*flag.FlagSet
	shorts map[string]string // the one-letter names, by the long ones
	starts bool              // the first operand is a program, and all that follow are its arguments
	// isProgram, if set, tells whether an operand is a program to start. Else the command looks at processes or files.
	isProgram func(operand string) bool
	// refused are flags that other commands have and this one cannot have, with the reason.
	refused map[string]error
	// How many operands the command takes; most < 0 is any number.
	least, most int
	color       colors // of the commands that print tables
}

func newFlags(name string) *flags {
	return &flags{
		FlagSet: flag.NewFlagSet(name, flag.ContinueOnError),
		shorts:  make(map[string]string), refused: make(map[string]error),
	}
}

// short gives a flag a one-letter name in addition to its long one.
func (f *flags) short(letter, long string) {
	f.Var(f.Lookup(long).Value, letter, "")
	f.shorts[long] = letter
}

// refuse makes flags an error that are defined, or are those of other commands.
func (f *flags) refuse(why error, names ...string) {
	for _, name := range names {
		f.refused[name] = why
		if letter := f.shorts[name]; letter != "" {
			f.refused[letter] = why
		}
		f.hide(name)
	}
}

// hide keeps a flag out of the help.
func (f *flags) hide(name string) {
	if g := f.Lookup(name); g != nil {
		g.Usage = ""
	}
}

// given tells whether a flag is on the command line.
func (f *flags) given(name string) (yes bool) {
	f.Visit(func(g *flag.Flag) { yes = yes || g.Name == name || g.Name == f.shorts[name] })
	return yes
}

// parse reads args, and returns the operands if there are at least least and at most most; most < 0 is any number.
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
	sh.color = f.color
	return rest, err
}

// operands sets the flags in args, and returns the operands if the command takes so many.
func (f *flags) operands(args []string) ([]string, error) {
	rest, err := f.read(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return nil, err
	case err != nil:
		return nil, wrongLine("%w", err)
	case len(rest) < f.least:
		err = errors.New("missing argument")
	case f.most >= 0 && len(rest) > f.most:
		err = fmt.Errorf("unexpected argument %q", rest[f.most])
	default:
		return rest, nil
	}
	return nil, hint.New(wrongLine("%w", err), "usage: "+usageOf(f.Name()))
}

func usageOf(name string) string {
	return strings.TrimSpace("whatif " + name + " " + commandNamed(name).usage)
}

func commandNamed(name string) command {
	for _, c := range commands() {
		if c.name == name {
			return c
		}
	}
	panic("no command " + name)
}

// descriptionOf describes a command in sentences, as the man page does.
func descriptionOf(name string) string {
	return strings.TrimSpace(ended(sentence(commandNamed(name).summary)) + " " + about[name])
}
