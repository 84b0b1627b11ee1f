// Points measures what a visit of a progress point costs, for each kind of point.
//
//	go run ./accuracy/points [-rounds 9] [-seconds 0.3] [-whatif bin/whatif]
//
// One program visits points of all kinds in each of its rounds. It runs under whatif without experiments: with one of
// the points, and with a point that costs nothing. The difference between the times of a round is the cost of a visit.
// Runs with all kinds alternate, because the speed of a shared machine drifts. whatif's counts must be equal to the
// program's, or there is no table. A second table has the cost of points in the source, with and without whatif.
//
// The normal sequence: [study.measure], then [study.measureSource].
package main

import (
	"context"
	"errors"
	"flag"
	"io"

	"whatif/accuracy/internal/rig"
)

func main() { rig.Main(run) }

func run(ctx context.Context, stdout, stderr io.Writer, args []string) int {
	s := &study{}
	f := flag.NewFlagSet("points", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&s.rounds, "rounds", 9, "measure each kind so many `times`")
	f.Float64Var(&s.seconds, "seconds", 0.3, "length of one run")
	whatif := f.String("whatif", "bin/whatif", "the whatif `command`, from the checkout's root")
	err := rig.Parse(f, args)
	if err == nil && (s.rounds < 1 || !(s.seconds > 0)) {
		err = errors.New("reading the command line: at least one round and some seconds are needed")
	}
	return rig.Status(stderr, "points", err, func() error { return s.report(ctx, *whatif, stdout) })
}

func (s *study) report(ctx context.Context, whatif string, stdout io.Writer) error {
	var err error
	if s.rig, err = rig.OpenChecked(whatif); err != nil {
		return err
	}
	costs, err := s.measure(ctx)
	if err != nil {
		return err
	}
	if err := write(stdout, costs); err != nil {
		return err
	}
	figures, err := s.measureSource(ctx)
	if err != nil {
		return err
	}
	return writeSource(stdout, figures)
}
