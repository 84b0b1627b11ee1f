package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"time"

	"whatif/accuracy/internal/rig"
	"whatif/internal/analyze"
	"whatif/internal/experiment"
	"whatif/internal/point"
	"whatif/internal/profile"
)

// study says what to measure.
type study struct {
	programs []program
	rounds   int
	limit    time.Duration
	half     float64
	progress io.Writer

	biasRounds int
	length     time.Duration // of a run in these rounds
}

// A way is a plan that is measured.
type way struct {
	name   string
	even   bool          // the paper's plan
	length time.Duration // least length of an experiment
	// race: among the plans that learn, the one of --until. It is only for bias; times are always measured with it.
	race bool
}

const short = 200 * time.Millisecond

var ways = []way{
	{name: "the paper's plan", even: true, length: 500 * time.Millisecond},
	{name: "whatif's plan", length: short},
}

// outcome has the times in seconds from a run's start until an interval was narrow enough (+Inf: not within the limit),
// and the run's answer at its end.
type outcome struct {
	curve  float64 // for the interval of whatif's curve through all speed-ups
	single float64 // for the interval of the experiments at that speed-up by themselves
	unit   string  // the leading unit
	gain   analyze.Estimate
}

// result has a program's outcomes, by way.
type result struct {
	program program
	by      [][]outcome
}

func (s *study) report(ctx context.Context, w io.Writer) error {
	r, err := rig.Open("bin/whatif") // not used: this command calls whatif's packages
	if err != nil {
		return err
	}
	var results []result
	for _, p := range s.programs {
		one, err := s.measure(ctx, r, p)
		if err != nil {
			return err
		}
		results = append(results, one)
	}
	if err := s.write(w, results); err != nil || s.biasRounds == 0 {
		return err
	}
	var learned []biases
	for _, p := range s.programs {
		one, err := s.bias(ctx, r, p)
		if err != nil {
			return err
		}
		learned = append(learned, one)
	}
	return s.writeBias(w, learned)
}

// measure profiles a program with both plans alternately.
func (s *study) measure(ctx context.Context, r *rig.Rig, p program) (result, error) {
	res := result{program: p, by: make([][]outcome, len(ways))}
	path, err := r.Compile(ctx, p.source)
	if err != nil {
		return res, err
	}
	for round := range s.rounds {
		for i, way := range ways {
			if ctx.Err() != nil { // a run would not begin, and its program would not end
				return res, ctx.Err()
			}
			o, err := s.run(ctx, p, path, way, uint64(round+1))
			if err != nil {
				return res, fmt.Errorf("profiling %s with %s: %w", p.name, way.name, err)
			}
			fmt.Fprintf(s.progress, "%s, %s: %s\n", p.name, way.name, s.text(o))
			res.by[i] = append(res.by[i], o)
		}
	}
	return res, nil
}

// run profiles a program until its leading unit is known well enough.
func (s *study) run(ctx context.Context, p program, path string, by way, seed uint64) (outcome, error) {
	o := outcome{curve: math.Inf(1), single: math.Inf(1)}
	begun := time.Now()
	result, err := s.profile(ctx, path, by, seed, s.limit, func(so *analyze.Result) bool {
		curve, single := s.known(so)
		now := time.Since(begun).Seconds()
		if curve {
			o.curve = min(o.curve, now)
		}
		if single {
			o.single = min(o.single, now)
		}
		slowest := o.curve
		if by.even { // of the paper's plan both times are measured
			slowest = max(slowest, o.single)
		}
		return !math.IsInf(slowest, 1)
	})
	if err != nil {
		return outcome{}, err
	}
	if first := leading(result); first != nil {
		o.unit = first.Unit.Name
		o.gain, _ = first.Effects[0].At(at)
	}
	return o, nil
}

// profile profiles a program for the time long, or until enough returns true.
func (s *study) profile(
	ctx context.Context, path string, by way, seed uint64, long time.Duration, enough func(*analyze.Result) bool,
) (*analyze.Result, error) {
	spec, err := point.Parse("done=func:progress_done")
	if err != nil {
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	var levels []int
	for level := 0; level <= 100; level += 5 {
		levels = append(levels, level)
	}
	done, err := experiment.Profile(ctx, experiment.Config{
		Args: []string{path, "0", "100000"}, Kind: "line", Points: []point.Spec{spec}, Speedups: levels, Even: by.even,
		Period: time.Millisecond, Experiment: by.length, Duration: long, Seed: seed,
		Stdout: null, Log: slog.New(slog.DiscardHandler), Enough: enough,
	})
	if err != nil {
		return nil, err
	}
	return analyze.Analyze([]*profile.Data{done.Data}, analyze.Options{}), nil
}

// at is the speed-up for which the gain is measured, in percent.
const at = 50

// leading is the unit that is ranked first; nil if there is none.
func leading(r *analyze.Result) *analyze.Target {
	if len(r.Targets) == 0 || len(r.Targets[0].Effects) == 0 {
		return nil
	}
	return &r.Targets[0]
}

// known tells whether the leading unit's gain is known well enough: by the curve through all of the unit's experiments,
// and by the experiments at that speed-up alone, as in the paper's graphs.
func (s *study) known(r *analyze.Result) (curve, single bool) {
	first := leading(r)
	if first == nil || first.Effects[0].Verdict != analyze.Faster {
		return false, false
	}
	e := &first.Effects[0]
	g, _ := e.At(at)
	half, ok := e.RawNoiseAt(at)
	return g.Bounded && e.NoiseAt(at) <= s.half, ok && half <= s.half
}
