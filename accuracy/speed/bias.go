package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"whatif/accuracy/internal/rig"
	"whatif/internal/analyze"
)

// This file measures whether learning from the data biases the results. It profiles each program with each plan
// alternately, for the same time and with experiments of the same length, and compares the mean gains of the units. The
// plan that draws evenly does not learn. But it also draws all levels with the same probability, so its own result may
// be off if a curve bends.

// compared are the plans. Of those that learn, "race" is for runs with --until, and "usual" for others.
var compared = []way{
	{name: "even", even: true, length: short, race: true},
	{name: "usual", length: short},
	{name: "race", length: short, race: true},
}

// said has the gains of a unit from runs with one plan.
type said []float64

func (x said) mean() float64 {
	sum := 0.0
	for _, g := range x {
		sum += g
	}
	return sum / float64(len(x))
}

// squaredError is the squared standard error of the mean.
func (x said) squaredError() float64 {
	sum, m, n := 0.0, x.mean(), float64(len(x))
	for _, g := range x {
		sum += (g - m) * (g - m)
	}
	return sum / (n - 1) / n
}

// biases has the gains of a program's units, by name and plan.
type biases struct {
	program program
	units   map[string][]said
}

// bias profiles a program with all plans alternately.
func (s *study) bias(ctx context.Context, r *rig.Rig, p program) (biases, error) {
	b := biases{p, map[string][]said{}}
	path, err := r.Compile(ctx, p.source)
	if err != nil {
		return b, err
	}
	for round := range s.biasRounds {
		for k := range compared {
			i := (k + round) % len(compared) // another plan comes first in each round
			way := compared[i]
			if ctx.Err() != nil {
				return b, ctx.Err()
			}
			// The plans that learn have to analyse the data. With never, the even plan analyses them, too.
			never := func(*analyze.Result) bool { return false }
			if !way.race {
				never = nil
			}
			result, err := s.profile(ctx, path, way, uint64(round+1), s.length, never)
			if err != nil {
				return b, fmt.Errorf("profiling %s with the plan %q: %w", p.name, way.name, err)
			}
			for j := range result.Targets {
				t := &result.Targets[j]
				if len(t.Effects) == 0 {
					continue
				}
				if g, ok := t.Effects[0].At(at); ok && g.Known {
					of := b.units[t.Unit.Name]
					if of == nil {
						of = make([]said, len(compared))
						b.units[t.Unit.Name] = of
					}
					of[i] = append(of[i], g.Value)
				}
			}
			fmt.Fprintf(s.progress, "%s, %s: round %d of %d\n", p.name, way.name, round+1, s.biasRounds)
		}
	}
	return b, nil
}

// known lists the units with a gain from each run, the largest gain first. Where a plan gave up a unit early, its gain
// still counts: leaving such runs out would hide the bias.
func (b *biases) known(runs int) (names []string) {
	for name, by := range b.units {
		if !slices.ContainsFunc(by, func(x said) bool { return len(x) < runs }) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(x, y string) int { return cmp.Compare(b.units[y][0].mean(), b.units[x][0].mean()) })
	return names
}

// writeBias prints the differences between the plans that learn and the even one.
func (s *study) writeBias(w io.Writer, all []biases) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "\nmean gain at %d%% of %d runs of %v with each plan, and how far a plan that learns is from the "+
		"even one, with the standard error of that\n\n", at, s.biasRounds, s.length)
	fmt.Fprintln(tw, "program\tunit\teven\tusual\trace\tusual - even\trace - even")
	for _, b := range all {
		for _, name := range b.known(s.biasRounds) {
			by := b.units[name]
			fmt.Fprintf(tw, "%s\t%s\t%.1f\t%.1f\t%.1f\t%s\t%s\n", b.program.name, name,
				by[0].mean(), by[1].mean(), by[2].mean(), difference(by[1], by[0]), difference(by[2], by[0]))
		}
	}
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("printing the table: %w", err)
	}
	return nil
}

func difference(a, b said) string {
	return fmt.Sprintf("%+.1f ± %.1f", a.mean()-b.mean(), math.Sqrt(a.squaredError()+b.squaredError()))
}
