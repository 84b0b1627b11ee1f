// Speed measures how long it takes until the gain of the leading unit is known to ±3 points: with whatif's plan, and
// with that of the COZ paper. Both choose units by sampling.
//
//	go run ./accuracy/speed [-only NAMES] [-rounds 3] [-limit 60s] [-half 3] [-bias 6] [-length 15s]
//
// The paper's plan draws units in proportion to their samples, makes every other experiment a baseline, and draws all
// levels with the same probability, in experiments of half a second. whatif's plan learns from the data. Both use the
// same kernel side, and their runs alternate, because the speed of a shared machine drifts. The interval is that of the
// gain at a speed-up of 50%, of the unit that is ranked first, without the method's own error, as in --until: no plan
// reduces that error. The paper's plan has two times: until the interval of the experiments at 50% by themselves is
// narrow enough, as in the paper's graphs, and until the interval of whatif's curve through all speed-ups is.
//
// Then it checks whether learning biases the results: it compares the gains from runs of the same length with a plan
// that draws evenly and with the plans that learn.
//
// The normal sequence: [study.measure] for each [program], then [study.bias].
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"whatif/accuracy/internal/rig"
	"whatif/internal/target"
)

func main() {
	target.Main()
	rig.Main(run)
}

func run(ctx context.Context, stdout, stderr io.Writer, args []string) int {
	s := &study{progress: stderr}
	f := flag.NewFlagSet("speed", flag.ContinueOnError)
	f.SetOutput(stderr)
	only := f.String("only", "", "only these programs, `names` separated by commas")
	f.IntVar(&s.rounds, "rounds", 3, "profile each program so many `times` with each plan")
	f.DurationVar(&s.limit, "limit", time.Minute, "give up after this `time`")
	f.Float64Var(&s.half, "half", 3, "half `width` that the interval is to have, in points")
	f.IntVar(&s.biasRounds, "bias", 6,
		"then see with so many `runs` of each plan whether learning biases what is said; 0: not")
	f.DurationVar(&s.length, "length", 15*time.Second, "`time` of each of these runs")
	err := rig.Parse(f, args)
	runs := s.rounds >= 1 && (s.biasRounds == 0 || s.biasRounds >= 2)
	if err == nil && !(runs && s.length > 0 && s.limit > 0 && s.half > 0) {
		err = errors.New("reading the command line: at least one round, no or two runs, some time and some points are needed")
	}
	if err == nil {
		s.programs, err = choose(strings.FieldsFunc(*only, func(r rune) bool { return r == ',' }))
	}
	return rig.Status(stderr, "speed", err, func() error { return s.report(ctx, stdout) })
}

// program is a program to be profiled; source is a path below accuracy.
type program struct{ name, source string }

// programs have several lines that take time, in threads and in processes. At a speed-up of 50% they gain at most a
// third.
var programs = []program{
	{"cpp_phases", "programs/cpp_phases/cpp_phases.cc"},
	{"exec_tree", "programs/exec_tree/exec_tree.c"},
	{"socketpair", "programs/socketpair/socketpair.c"},
}

func choose(names []string) (chosen []program, err error) {
	if len(names) == 0 {
		return programs, nil
	}
next:
	for _, name := range names {
		for _, p := range programs {
			if p.name == name {
				chosen = append(chosen, p)
				continue next
			}
		}
		return nil, fmt.Errorf("choosing programs: no program is called %q", name)
	}
	return chosen, nil
}
