// Command whatif is a causal profiler: it shows how much a program would gain if a piece of it were
// faster.
//
// The normal sequence is whatif run, which measures a program and writes a profile, and then whatif
// report or whatif view, which show it. whatif diff compares two profiles.
package main

import (
	"context"
	"os"

	"whatif/internal/cli"
)

func main() {
	cli.Startup()
	// No signal cancels this context. While a program is profiled, a signal for whatif belongs to that program
	// (target.Process.Forward), and whatif lives on to write the profile. Other commands end by the signal's default
	// action, at once. The commands that wait for a signal derive a context of their own: view, attach, and system
	// without a load.
	os.Exit(cli.Run(context.Background(), os.Stdin, os.Stdout, os.Stderr, os.Args[1:]))
}
