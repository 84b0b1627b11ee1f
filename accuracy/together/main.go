// Together compares what "whatif ask" answers, and what "whatif run --together" finds by experiments, with what really
// happens: two lines that become faster at once, and one core instead of two. Six programs of the suite have a second
// line that really shrinks, marked ALSO beside TARGET.
//
//	go run ./accuracy/together [-only lock] [-rounds 6] [-seconds 0.6] [-record 5s] [-experiments 20s] [-check]
//
// Each program is recorded once, with nothing delayed. Then it runs with both lines shrunk, and on one core, in turns
// with the whole program on two cores: the truth. Both lines together are also tested by experiments; -experiments 0
// leaves them out, and then nothing is stopped. All of it needs a quiet machine.
//
// It needs root, for whatif, and gcc.
//
// The normal sequence: [study.study] of each program, which records it, measures the truth, and asks and tests each
// [question]; then [write].
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"whatif/accuracy/internal/rig"
	"whatif/internal/load"
)

func main() { rig.Main(run) }

// options is the command line.
type options struct {
	chosen  []string
	rounds  int
	seconds float64
	record  time.Duration
	tested  time.Duration // how long experiments with both lines take; 0: there are none
	whatif  string
	check   bool
}

// programs of the suite that have a second line, each below accuracy/programs.
var programs = []string{"barrier", "lock", "pipeline", "fork_pipe", "independent", "sleep_compute"}

// questions are asked about each program.
var questions = []question{{target: 50, also: 50}, {target: 25, also: 75}, {cores: 1}}

func run(ctx context.Context, stdout, stderr io.Writer, args []string) int {
	o, err := parseOptions(stderr, args)
	return rig.Status(stderr, "together", err, func() error { return o.studyAll(ctx, stdout, stderr) })
}

func parseOptions(stderr io.Writer, args []string) (*options, error) {
	o := &options{chosen: programs}
	f := flag.NewFlagSet("together", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&o.rounds, "rounds", 6, "measure each truth so many `times`")
	f.Float64Var(&o.seconds, "seconds", 0.6, "length of one run")
	f.DurationVar(&o.record, "record", 5*time.Second, "record each program for so `long`")
	f.DurationVar(&o.tested, "experiments", 20*time.Second, "make experiments for so `long` with each pair of lines")
	f.StringVar(&o.whatif, "whatif", "bin/whatif", "the whatif `command`, from the checkout's root")
	f.BoolVar(&o.check, "check", false, "exit with 1 when a target is missed")
	only := f.String("only", "", "study only these programs, `names` of "+strings.Join(programs, ", "))
	if err := rig.Parse(f, args); err != nil {
		return nil, err
	}
	if o.rounds < 2 || !(o.seconds > 0) || o.record < time.Second || o.tested != 0 && o.tested < time.Second {
		return nil, errors.New("reading the command line: two rounds, some seconds, a second to record and one of " +
			"experiments, or none, are needed")
	}
	if *only != "" {
		o.chosen = nil
		for name := range strings.SplitSeq(*only, ",") {
			if !slices.Contains(programs, name) {
				return nil, fmt.Errorf("reading the command line: there is no program %q, but %s", name,
					strings.Join(programs, ", "))
			}
			o.chosen = append(o.chosen, name)
		}
	}
	return o, nil
}

// studyAll studies the programs, and prints the table. With -check a missed target is an error.
func (o *options) studyAll(ctx context.Context, stdout, stderr io.Writer) error {
	r, err := rig.OpenChecked(o.whatif)
	if err != nil {
		return err
	}
	// If each run measured the machine's speed itself, runs that are compared would differ.
	if err := os.Setenv(load.StepsVariable, strconv.Itoa(load.StepsPerMicrosecond(os.Getenv))); err != nil {
		return fmt.Errorf("telling programs the machine's speed: %w", err)
	}
	s := &study{options: o, rig: r}
	var rows []row
	for _, name := range o.chosen {
		fmt.Fprintf(stderr, "%s %s\n", time.Now().Format("15:04:05"), name)
		more, err := s.study(ctx, name)
		if err != nil {
			return err
		}
		rows = append(rows, more...)
	}
	if err := write(stdout, rows); err != nil {
		return err
	}
	lines, missed := verdicts(rows)
	fmt.Fprintf(stdout, "\n%s\n", strings.Join(lines, "\n"))
	if o.check && len(missed) > 0 {
		return fmt.Errorf("missed: %s", strings.Join(missed, "; "))
	}
	return nil
}
