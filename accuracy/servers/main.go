// Servers checks whatif on unchanged servers that were not written for it: Debian's memcached, nginx and PostgreSQL,
// under load from clients of the same packages.
//
//	go run ./accuracy/servers [-only NAMES] [-rounds 4] [-size 1]
//
// For each server it predicts the gain if one function took no time, once with the clients in the target and once with
// the clients outside. Then it changes the server's configuration so that the function has little or nothing to do, and
// measures the real gain. whatif's count of visits must be equal to the number of requests that the clients made.
//
// It needs root, and the packages that make servers installs. A server uses a free port of 127.0.0.1 and runs as the
// package's own user. At the end it is stopped, and its files are removed. docs/servers.md has the results.
//
// The normal sequence: [newPlace], then [study.predict] and [study.truth].
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"whatif/accuracy/internal/rig"
)

func main() { rig.Main(run) }

// options is the command line.
type options struct {
	servers []server
	rounds  int
	size    float64
	whatif  string
}

func run(ctx context.Context, stdout, stderr io.Writer, args []string) int {
	o, err := parseOptions(stderr, args)
	return rig.Status(stderr, "servers", err, func() error { return o.studyAll(ctx, stdout, stderr) })
}

func parseOptions(stderr io.Writer, args []string) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("servers", flag.ContinueOnError)
	f.SetOutput(stderr)
	only := f.String("only", "", "try only these `servers`, separated by commas")
	f.IntVar(&o.rounds, "rounds", 4, "run each server really changed so many `times`; 0: only predict")
	f.Float64Var(&o.size, "size", 1, "make so many `times` the usual number of requests")
	f.StringVar(&o.whatif, "whatif", "bin/whatif", "the whatif `command`, from the checkout's root")
	if err := rig.Parse(f, args); err != nil {
		return nil, err
	}
	if o.rounds < 0 || !(o.size > 0) || o.size > 100 {
		return nil, errors.New("reading the command line: rounds are 0, for predictions only, or more, " +
			"and a size is above 0, up to 100")
	}
	var err error
	o.servers, err = choose(*only)
	return o, err
}

// choose returns the servers with these names; all servers if there are no names.
func choose(only string) ([]server, error) {
	if only == "" {
		return servers, nil
	}
	var chosen []server
	for name := range strings.SplitSeq(only, ",") {
		n := len(chosen)
		for _, s := range servers {
			if s.name == name {
				chosen = append(chosen, s)
			}
		}
		if len(chosen) == n {
			return nil, fmt.Errorf("reading the command line: there is no server %q", name)
		}
	}
	return chosen, nil
}

// studyAll studies the chosen servers, and prints each result when it is known.
func (o *options) studyAll(ctx context.Context, stdout, stderr io.Writer) error {
	r, err := rig.OpenChecked(o.whatif)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprint(stdout, head); err != nil {
		return err
	}
	for i := range o.servers {
		server := &o.servers[i]
		requests := int(o.size * float64(server.requests))
		s := study{whatif: r.Command(), server: server, requests: requests, rounds: o.rounds, progress: stderr}
		if err := s.run(ctx, r.Root()); err != nil {
			return fmt.Errorf("%s: %w", s.server.name, err)
		}
		if err := s.write(stdout); err != nil {
			return err
		}
	}
	return nil
}
