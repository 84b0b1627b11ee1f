// Overhead measures what whatif costs: the slowdown of the profiled program, the time to start, and the time and memory
// that whatif itself uses.
//
//	go run ./accuracy/overhead [-rounds 9] [-seconds 3] [-quick] [-only NAMES] [-whatif bin/whatif]
//
// It compares a program's rate under whatif with the rate without whatif. The runs alternate (A B A C A …), and each
// is compared with the bare runs before and after it, because the speed of a shared machine drifts by far more than
// the few percent to be measured. Runs with -s 0 show the cost of whatif alone. For some programs there are also runs
// with the default plan, which include the delays that whatif inserts on purpose; their share is printed, too. Parts
// that begin with record are about recordings, in which nothing is delayed: what making one costs, and how soon there
// is an estimate for each unit. The exit status is 0 also if a target is missed, unless there is -check: the table
// says so.
//
//	go run ./accuracy/overhead -only java [-rounds 10]
//
// measures programs in Java that work as those of the DaCapo suite do: libraries of Debian's packages.
//
// The normal sequence: each [part] in turn ([study.ratios] of a [subject], [study.startUp], [study.self]) adds rows to
// one [table].
package main

import (
	"context"
	"errors"
	"flag"
	"io"

	"whatif/accuracy/internal/rig"
)

func main() { rig.Main(run) }

// options is the command line.
type options struct {
	study
	whatif string
	check  bool
}

func run(ctx context.Context, stdout, stderr io.Writer, args []string) int {
	o, err := parseOptions(stderr, args)
	return rig.Status(stderr, "overhead", err, func() error { return o.measure(ctx, stdout) })
}

func parseOptions(stderr io.Writer, args []string) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("overhead", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&o.rounds, "rounds", 9, "compare each program with its bare self so many `times`")
	f.Float64Var(&o.seconds, "seconds", 3, "length of one run")
	f.IntVar(&o.starts, "starts", 10, "start so many `times` to time the start")
	f.Float64Var(&o.selfSeconds, "self-seconds", 10, "length of the run in which whatif itself is watched")
	f.StringVar(&o.whatif, "whatif", "bin/whatif", "the whatif `command`, from the checkout's root")
	only := f.String("only", "", "measure only these, `names` of busy, deep, switches, switches2, go, start, self, "+
		"record, record-go, record-threads, record-units; of java: h2, fop, batik, xalan, lucene, jython")
	f.BoolVar(&o.check, "check", false, "exit with 1 when a target is missed")
	quick := f.Bool("quick", false, "measure little: does it work at all?")
	if err := rig.Parse(f, args); err != nil {
		return nil, err
	}
	if *quick {
		o.rounds, o.seconds, o.starts, o.selfSeconds = 3, 0.7, 3, 4
	}
	if o.rounds < 1 || o.starts < 1 || o.seconds <= 0 || o.selfSeconds <= 0 {
		return nil, errors.New("reading the command line: at least one round, one start and some seconds are needed")
	}
	var err error
	o.parts, err = choose(*only)
	return o, err
}

// measure makes all measurements and prints the table. If one fails, it prints the results so far.
func (o *options) measure(ctx context.Context, stdout io.Writer) error {
	r, err := rig.OpenChecked(o.whatif)
	if err != nil {
		return err
	}
	o.rig = r
	var t table
	if err = errors.Join(o.all(ctx, &t), t.write(stdout)); err == nil && o.check {
		err = t.missed()
	}
	return err
}
