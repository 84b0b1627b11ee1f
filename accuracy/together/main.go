// Together compares what "whatif ask" answers with what really happens: two lines that become faster at once, and one
// core instead of two. Six programs of the suite have a second line that really shrinks, marked ALSO beside TARGET.
//
//	go run ./accuracy/together [-only lock] [-rounds 6] [-seconds 0.6] [-record 5s] [-check]
//
// Each program is recorded once, with nothing delayed. Then it runs with both lines shrunk, and on one core, in turns
// with the whole program on two cores: the truth. Nothing is stopped, but the truth needs a quiet machine.
//
// It needs root, for whatif, and gcc.
//
// The normal sequence: [study.record], then [study.truth] and [study.ask] of each [question], print.
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
	f.StringVar(&o.whatif, "whatif", "bin/whatif", "the whatif `command`, from the checkout's root")
	f.BoolVar(&o.check, "check", false, "exit with 1 when a target is missed")
	only := f.String("only", "", "study only these programs, `names` of "+strings.Join(programs, ", "))
	if err := rig.Parse(f, args); err != nil {
		return nil, err
	}
	if o.rounds < 2 || !(o.seconds > 0) || o.record < time.Second {
		return nil, errors.New("reading the command line: two rounds, some seconds and a second to record are needed")
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
	r, err := rig.Open(o.whatif)
	if err != nil {
		return err
	}
	if err := r.CheckWhatif(); err != nil {
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
