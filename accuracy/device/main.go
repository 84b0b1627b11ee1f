// Device measures how true the answers for another machine are, in both ways that whatif has: a recording that is
// simulated there (whatif record), and experiments here about the machine there (whatif run --device).
//
//	go run ./accuracy/device [-rounds 3] [-seconds 1] [-record 5s] [-experiments 20s] [-tries 10] [-only lu_net]
//	go run ./accuracy/device -again 5 [-whatif bin/whatif]
//
// The programs are those of elsewhere.c. Most devices are made by the program itself, which does as much more of a
// class of time as takes so much longer; one is a loopback that really has less bandwidth, by a queue (tbf) in a
// network namespace of its own. The truth is what the program gains on the device when its target is really shrunk, by
// runs in turns. The answer without --device, what a profile made here says, stands beside.
//
// With -again it only measures this machine several times, by whatif device, and fails if two measurements differ by
// more than they say of themselves.
//
// The normal sequence: [study.measure] for each device, then [write].
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"time"

	"whatif/accuracy/internal/rig"
	"whatif/internal/knobs"
)

func main() {
	knobs.Main()
	rig.Main(run)
}

func run(ctx context.Context, stdout, stderr io.Writer, args []string) int {
	s := &study{log: stderr}
	f := flag.NewFlagSet("device", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&s.rounds, "rounds", 3, "measure each truth so many `times`")
	f.Float64Var(&s.seconds, "seconds", 1, "length of one run")
	f.DurationVar(&s.record, "record", 5*time.Second, "record each program for so `long`")
	f.DurationVar(&s.experiments, "experiments", 20*time.Second, "experiment with each program for so `long`; 0: do not")
	f.IntVar(&s.tries, "tries", 10, "repeat a run so many `times` while others use more than a tenth of the machine")
	f.StringVar(&s.only, "only", "", "only devices whose name has this `text`")
	again := f.Int("again", 0, "measure this machine so many `times`, and compare")
	whatif := f.String("whatif", "bin/whatif", "the whatif `command`, from the checkout's root")
	err := rig.Parse(f, args)
	if err == nil && (s.rounds < 2 || s.tries < 1 || !(s.seconds > 0) || s.record < time.Second || s.experiments < 0) {
		err = errors.New("reading the command line: at least two rounds, some seconds and a second to record are needed")
	}
	if err == nil && (*again < 0 || *again == 1) {
		err = errors.New("reading the command line: one measurement can be compared with none")
	}
	return rig.Status(stderr, "device", err, func() error {
		if *again > 0 {
			return measureAgain(ctx, *whatif, *again, stdout, stderr)
		}
		return s.report(ctx, *whatif, stdout)
	})
}

func (s *study) report(ctx context.Context, whatif string, stdout io.Writer) error {
	var err error
	if s.rig, err = rig.OpenChecked(whatif); err != nil {
		return err
	}
	rows, err := s.measureAll(ctx)
	return errors.Join(write(stdout, rows), err)
}
