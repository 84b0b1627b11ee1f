// Production measures what whatif's recording does to a server in production: the latency of Debian's memcached under
// load, while "whatif attach --no-delays" is attached to it, and without.
//
//	go run ./accuracy/production [-pairs 10] [-seconds 10] [-rates 8000,0] [-clients 4] [-check]
//
// Each rate is a table row: so many requests a second, or as many as are answered. A pair is a time with whatif, from
// its start to its end, and as long a time without; which of the two comes first changes from pair to pair. The
// clients (programs/clients.c) time each request. Nothing is stopped, so no quiet of other sessions is needed, but of
// the machine.
//
// It needs root, gcc, and Debian's package memcached. docs/guides/production.md has the results.
//
// The normal sequence: [startServer], [study.pair] in turns, [row.verdict].
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"whatif/accuracy/internal/rig"
)

func main() { rig.Main(run) }

// options is the command line.
type options struct {
	pairs   int
	seconds time.Duration
	rates   []int // requests a second; 0: as many as are answered
	clients int
	server  string
	whatif  string
	check   bool
}

func run(ctx context.Context, stdout, stderr io.Writer, args []string) int {
	o, err := parseOptions(stderr, args)
	return rig.Status(stderr, "production", err, func() error { return o.studyAll(ctx, stdout, stderr) })
}

func parseOptions(stderr io.Writer, args []string) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("production", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&o.pairs, "pairs", 10, "measure with and without whatif so many `times`")
	f.DurationVar(&o.seconds, "seconds", 10*time.Second, "attach for so `long`")
	f.IntVar(&o.clients, "clients", 4, "so many `clients`, each with a connection")
	rates := f.String("rates", "8000,0", "`requests` a second, a row for each; 0: as many as are answered")
	f.StringVar(&o.server, "server", "/usr/bin/memcached", "memcached's `program`")
	f.StringVar(&o.whatif, "whatif", "bin/whatif", "the whatif `command`, from the checkout's root")
	f.BoolVar(&o.check, "check", false, "exit with 1 when a target is missed")
	if err := rig.Parse(f, args); err != nil {
		return nil, err
	}
	if o.pairs < 1 || o.seconds < time.Second || o.clients < 1 || o.clients > 64 {
		return nil, errors.New("reading the command line: one pair at least, a second, and 1 to 64 clients are needed")
	}
	for field := range strings.SplitSeq(*rates, ",") {
		rate, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || rate < 0 {
			return nil, fmt.Errorf("reading the command line: %q is no number of requests", field)
		}
		o.rates = append(o.rates, rate)
	}
	return o, nil
}

// studyAll measures all rates, and prints each row when it is known. With -check a missed target is an error.
func (o *options) studyAll(ctx context.Context, stdout, stderr io.Writer) error {
	r, err := rig.OpenChecked(o.whatif)
	if err != nil {
		return err
	}
	clients, err := r.Compile(ctx, "production/programs/clients.c")
	if err != nil {
		return err
	}
	var missed []string
	for _, rate := range o.rates {
		s := study{options: o, rig: r, clients: clients, rate: rate, progress: stderr}
		row, err := s.measure(ctx)
		if err != nil {
			return err
		}
		lines, wrong := row.lines()
		fmt.Fprintln(stdout, strings.Join(lines, "\n"))
		missed = append(missed, wrong...)
	}
	if o.check && len(missed) > 0 {
		return fmt.Errorf("missed: %s", strings.Join(missed, "; "))
	}
	return nil
}
