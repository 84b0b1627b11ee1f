// Command whatif is a causal profiler: it tells what a program would gain if a
// piece of it were faster.
package main

import (
	"context"
	"os"

	"whatif/internal/cli"
)

func main() {
	cli.Startup()
	os.Exit(cli.Run(context.Background(), os.Stdin, os.Stdout, os.Stderr, os.Args[1:]))
}
