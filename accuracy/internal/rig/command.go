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

// Main is what the main functions of the commands built on this have in common: run is the command, which
// an interrupt ends in order, and gives the exit status.
func Main(run func(ctx context.Context, stdout, stderr io.Writer, args []string) int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Stdout, os.Stderr, os.Args[1:]))
}

// Status is a command's exit status: 2 if its command line was wrong, as parsed says, and 0 if help was all that it
// asked for; else 1 if work fails. It tells why.
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

// Parse reads a command line that has flags only.
func Parse(f *flag.FlagSet, args []string) error {
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("reading the command line: %q is not a flag", f.Arg(0))
	}
	return nil
}
