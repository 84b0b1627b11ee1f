// Units compares estimates of many units with experiments, in programs that were not written for whatif: SQLite's own
// benchmark, pbzip2 with the library bzip2, and nginx under load, built from Debian's source packages.
//
//	go run ./accuracy/units [-only sqlite] [-record 20s] [-units 30] [-large 15] [-seconds 60] [-seed N] [-check]
//
// It records each program with nothing delayed, and tells how much of its CPU time is in units whose estimate is
// narrow: at most ±1 point, or a fifth of the unit's share. Then it draws units by share, half of them from those with
// at least 3% of the time, tests each by experiments, and compares. -units 0 makes no experiments, and needs no quiet
// machine.
//
// It needs root, gcc, g++, make, tclsh, and apt-get with Debian's source packages. What it builds stays in
// accuracy/build/units.
//
// The normal sequence: [build] each [subject], [study.record] it, [draw] units, [study.test] each, print.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"whatif/accuracy/internal/rig"
)

func main() { rig.Main(run) }

// options is the command line.
type options struct {
	chosen  []subject
	record  time.Duration
	units   int // that are drawn
	large   int // of them with at least largeShare of the time
	seconds time.Duration
	seed    uint64
	whatif  string
	check   bool
}

func run(ctx context.Context, stdout, stderr io.Writer, args []string) int {
	o, err := parseOptions(stderr, args)
	return rig.Status(stderr, "units", err, func() error { return o.studyAll(ctx, stdout, stderr) })
}

func parseOptions(stderr io.Writer, args []string) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("units", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.DurationVar(&o.record, "record", 20*time.Second, "record each program for so `long`")
	f.IntVar(&o.units, "units", 30, "test so `many` units by experiments; 0: none")
	f.IntVar(&o.large, "large", 15, fmt.Sprintf("of them so `many` with at least %g%% of the time", largeShare))
	f.DurationVar(&o.seconds, "seconds", time.Minute, "test each unit for so `long`")
	f.Uint64Var(&o.seed, "seed", 0, "`seed` of the draw; 0: another one each time, which is printed")
	f.StringVar(&o.whatif, "whatif", "bin/whatif", "the whatif `command`, from the checkout's root")
	f.BoolVar(&o.check, "check", false, "exit with 1 when a target is missed")
	only := f.String("only", "", "study only these programs, `names` of "+strings.Join(names(subjects), ", "))
	if err := rig.Parse(f, args); err != nil {
		return nil, err
	}
	if o.units < 0 || o.large < 0 || o.record < 2*time.Second || o.seconds < 2*time.Second {
		return nil, errors.New("reading the command line: no numbers below 0, and times from 2s on, are possible")
	}
	o.large = min(o.large, o.units)
	for o.seed == 0 {
		o.seed = rand.Uint64()
	}
	o.chosen = subjects
	if *only != "" {
		o.chosen = nil
		for name := range strings.SplitSeq(*only, ",") {
			i := slices.Index(names(subjects), strings.TrimSpace(name))
			if i < 0 {
				return nil, fmt.Errorf("reading the command line: there is no program %q, but %s", name,
					strings.Join(names(subjects), ", "))
			}
			o.chosen = append(o.chosen, subjects[i])
		}
	}
	return o, nil
}

// studyAll makes both halves, and prints each result when it is known. With -check a missed target is an error.
func (o *options) studyAll(ctx context.Context, stdout, stderr io.Writer) error {
	r, err := rig.OpenChecked(o.whatif)
	if err != nil {
		return err
	}
	s := &study{rig: r, record: o.record, seconds: o.seconds, progress: stderr}
	var all []unit
	var missed []string
	for i := range o.chosen {
		b, err := build(ctx, r.Root(), &o.chosen[i], stderr)
		if err != nil {
			return err
		}
		units, seen, err := s.recorded(ctx, b)
		if err != nil {
			return err
		}
		all = append(all, units...)
		c := coverageOf(units)
		line, held := c.verdict(o.chosen[i].name, seen)
		fmt.Fprintln(stdout, line)
		if !held {
			missed = append(missed, line)
		}
	}
	if o.units > 0 {
		line, held, err := s.compare(ctx, all, o, stdout)
		if err != nil {
			return err
		}
		if !held {
			missed = append(missed, line)
		}
	}
	if o.check && len(missed) > 0 {
		return fmt.Errorf("missed:\n%s", strings.Join(missed, "\n"))
	}
	return nil
}
