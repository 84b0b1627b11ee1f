package rig

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"whatif/internal/hint"
)

// Main is the main function of the commands below accuracy. run is the command; it returns the exit status. An
// interrupt cancels its context.
func Main(run func(ctx context.Context, stdout, stderr io.Writer, args []string) int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Stdout, os.Stderr, os.Args[1:]))
}

// Status calls work unless parsed, the error of the command line, is set. It prints errors, and returns the command's
// exit status: 2 for a wrong command line, 0 for one that only asks for help, 1 if work fails.
func Status(stderr io.Writer, name string, parsed error, work func() error) int {
	if errors.Is(parsed, flag.ErrHelp) {
		return 0
	}
	if parsed != nil {
		fmt.Fprintf(stderr, "%s: %v\n", name, parsed)
		return 2
	}
	err := work()
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "%s: %v\n", name, err)
	if h := hint.Of(err); h != "" {
		fmt.Fprintf(stderr, "%s: hint: %s\n", name, h)
	}
	return 1
}

// Parse parses a command line that has only flags.
func Parse(f *flag.FlagSet, args []string) error {
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("reading the command line: %q is not a flag", f.Arg(0))
	}
	return nil
}
