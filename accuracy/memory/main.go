// Memory measures how true it is what whatif says of time that waits for memory: whatif record, whatif report.
//
//	go run ./accuracy/memory [-rounds 3] [-seconds 0.5] [-record 3s] [-only sha] [-whatif bin/whatif]
//
// The programs are kernels of a known nature. The truth is what a kernel takes longer with data that are much larger
// than a core's own caches than with data that fit into them, as a share of the longer time: by runs in turns. A kernel
// waits for memory if that is more than half. The answer is right if it says so, too.
//
// The normal sequence: [study.measure] for each kernel, then [write].
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"time"

	"whatif/accuracy/internal/rig"
)

func main() { rig.Main(run) }

func run(ctx context.Context, stdout, stderr io.Writer, args []string) int {
	s := &study{log: stderr}
	f := flag.NewFlagSet("memory", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&s.rounds, "rounds", 3, "measure each truth so many `times`")
	f.Float64Var(&s.seconds, "seconds", 0.5, "length of one run")
	f.DurationVar(&s.record, "record", 3*time.Second, "record each kernel for so `long`")
	f.StringVar(&s.only, "only", "", "only kernels whose name has this `text`")
	f.StringVar(&s.keep, "keep", "", "keep the profiles in this `directory`")
	whatif := f.String("whatif", "bin/whatif", "the whatif `command`, from the checkout's root")
	err := rig.Parse(f, args)
	if err == nil && (s.rounds < 1 || !(s.seconds > 0) || s.record < time.Second) {
		err = errors.New("reading the command line: at least a round, some time and a second to record are needed")
	}
	return rig.Status(stderr, "memory", err, func() error { return s.report(ctx, *whatif, stdout) })
}

func (s *study) report(ctx context.Context, whatif string, stdout io.Writer) error {
	var err error
	if s.rig, err = rig.OpenChecked(whatif); err != nil {
		return err
	}
	rows, err := s.measureAll(ctx)
	return errors.Join(write(stdout, rows), err)
}
