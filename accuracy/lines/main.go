// Lines measures whether samples of Java code are on the right lines.
//
//	go run ./accuracy/lines [-seconds 12] [-whatif bin/whatif] [-check]
//
// One program has lines with shares of its time that are known by construction: loops, straight code, methods inlined
// three deep, with and without polls for safepoints. It counts the steps of each line itself, so what is compared with
// whatif's samples is none of whatif's. The measure is the total variation: the least share of the samples that would
// have to be on other lines. It is measured once more with a VM that only interprets, and without the agent in the VM,
// when units are methods.
//
// The normal sequence: [compile], [study.measure] for each of these, [write].
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"whatif/accuracy/internal/rig"
)

func main() { rig.Main(run) }

// What is allowed: of the samples in percent, and the least number of them.
const (
	mostOff     = 2.0
	leastSample = 20_000
)

// study is what is measured.
type study struct {
	rig     *rig.Rig
	seconds float64
	classes string      // the directory of the program
	lines   map[int]key // of the program's source
}

func run(ctx context.Context, stdout, stderr io.Writer, args []string) int {
	s := &study{}
	f := flag.NewFlagSet("lines", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Float64Var(&s.seconds, "seconds", 12, "length of one run")
	whatif := f.String("whatif", "bin/whatif", "the whatif `command`, from the checkout's root")
	check := f.Bool("check", false,
		fmt.Sprintf("exit with 1 if more than %g%% of the samples are on wrong lines", mostOff))
	err := rig.Parse(f, args)
	if err == nil && !(s.seconds > 0 && s.seconds < 50) {
		err = errors.New("reading the command line: -seconds is more than 0 and less than 50")
	}
	return rig.Status(stderr, "lines", err, func() error { return s.report(ctx, *whatif, *check, stdout) })
}

func (s *study) report(ctx context.Context, whatif string, check bool, stdout io.Writer) error {
	var err error
	if s.rig, err = rig.OpenChecked(whatif); err != nil {
		return err
	}
	if err := s.compile(ctx); err != nil {
		return err
	}
	with, err := s.measure(ctx, "on")
	if err != nil {
		return err
	}
	interpreted, err := s.measure(ctx, "on", "-Xint")
	if err != nil {
		return err
	}
	without, err := s.measure(ctx, "off")
	if err != nil {
		return err
	}
	if err := write(stdout, with, interpreted, without); err != nil {
		return err
	}
	if all := with.all(); check && (all.samples < leastSample || all.off() > mostOff) {
		return fmt.Errorf("judging lines: %.1f%% of %d samples are on wrong lines; at most %g%% of at least %d are allowed",
			all.off(), all.samples, mostOff, leastSample)
	}
	return nil
}
