// Scale runs programs that start and end thousands of threads and processes, bare and under whatif. It checks that
// whatif counts every visit of their progress point, because whatif misses visits of threads that it does not follow.
//
//	go run ./accuracy/scale [-seconds 8] [-only NAMES] [-whatif bin/whatif]
//
// It prints one line for each program: the requested rate, the rates bare and under whatif, both counts, the losses
// that whatif reports, and its peak memory. The exit status is 1 if a count or the profile is wrong. Each program ends
// by itself, because only then its own count is final.
//
// The normal sequence: [load.measure] and [result.check] for each [load], then [write].
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
	seconds float64
	chosen  []load
	whatif  string
}

func run(ctx context.Context, stdout, stderr io.Writer, args []string) int {
	o, err := parseOptions(stderr, args)
	return rig.Status(stderr, "scale", err, func() error { return o.measure(ctx, stdout) })
}

func parseOptions(stderr io.Writer, args []string) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("scale", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Float64Var(&o.seconds, "seconds", 8, "length of one run")
	only := f.String("only", "", "run only these, `names` separated by commas")
	f.StringVar(&o.whatif, "whatif", "bin/whatif", "the whatif `command`, from the checkout's root")
	if err := rig.Parse(f, args); err != nil {
		return nil, err
	}
	if o.seconds <= 0 || o.seconds > 30 {
		return nil, errors.New("reading the command line: -seconds is more than 0 and at most 30")
	}
	var err error
	o.chosen, err = choose(*only)
	return o, err
}

// measure measures all chosen loads and prints the results. If one load fails it goes on.
func (o *options) measure(ctx context.Context, stdout io.Writer) error {
	r, err := rig.OpenChecked(o.whatif)
	if err != nil {
		return err
	}
	var results []result
	var errs []error
	for i := range o.chosen {
		res, err := o.chosen[i].measure(ctx, r, o.seconds)
		if err != nil {
			errs = append(errs, err)
		} else {
			results = append(results, *res)
			errs = append(errs, res.check())
		}
		if ctx.Err() != nil {
			break
		}
	}
	errs = append(errs, write(stdout, results))
	return errors.Join(errs...)
}

// choose returns the loads with these names, in the order of the table; all loads if there are no names.
func choose(names string) ([]load, error) {
	if names == "" {
		return loads, nil
	}
	wanted := map[string]bool{}
	for _, name := range strings.Split(names, ",") {
		wanted[strings.TrimSpace(name)] = true
	}
	var chosen []load
	for _, l := range loads {
		if wanted[l.name] {
			chosen = append(chosen, l)
			delete(wanted, l.name)
		}
	}
	for name := range wanted {
		return nil, fmt.Errorf("choosing what to run: nothing is called %q", name)
	}
	return chosen, nil
}
