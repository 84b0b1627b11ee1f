// Speed measures how long it takes until the gain of the leading unit is known to ±3 points, with units chosen by
// sampling: by whatif's plan, and by that of the COZ paper.
//
//	go run ./accuracy/speed [-only NAMES] [-rounds 3] [-limit 60s] [-half 3] [-bias 6] [-length 15s]
//
// The paper's plan draws units by their samples, a baseline every other time and all levels alike, in experiments of half
// a second; ours learns from what it has measured. Both go through the same kernel side, in turns, because the speed of a
// shared machine drifts. The paper's has two times: until the experiments at 50% say it by themselves, as in its graphs, and
// until our curve through all speed-ups does. The interval is that of the gain at a speed-up of 50%, beside the method's own
// error (as --until has it: no plan makes that smaller), of whatever unit is ranked first.
//
// After that it compares what runs of the same length say of each unit with a plan that draws evenly and with those that learn.
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
	f.IntVar(&s.biasRounds, "bias", 6, "then see with so many `runs` of each plan whether learning biases what is said; 0: not")
	f.DurationVar(&s.length, "length", 15*time.Second, "`time` of each of these runs")
	err := rig.Parse(f, args)
	if err == nil && (s.rounds < 1 || s.length <= 0 || s.biasRounds < 0 || s.biasRounds == 1 || s.limit <= 0 || !(s.half > 0)) {
		err = errors.New("reading the command line: at least one round, no or two runs, some time and some points are needed")
	}
	if err == nil {
		s.programs, err = choose(strings.FieldsFunc(*only, func(r rune) bool { return r == ',' }))
	}
	return rig.Status(stderr, "speed", err, func() error { return s.report(ctx, stdout) })
}

// program is one that is profiled, a source below accuracy.
type program struct{ name, source string }

// programs have several lines that take time, in threads and in processes. At half they gain a third at most.
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
