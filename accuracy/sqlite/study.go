package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"whatif/accuracy/internal/rig"
	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// study is one change in one mode.
type study struct {
	rig      *rig.Rig
	options  *options
	programs programs
	mode     string
	change   *change

	share     float64
	predicted map[int]analyze.Estimate // by level
	measured  map[int][]float64        // the real gains, one for each round
}

func (s *study) arguments(percent int, seconds float64) []string {
	return []string{s.programs.changed, s.mode, s.change.name, strconv.Itoa(percent),
		strconv.FormatFloat(seconds, 'f', -1, 64)}
}

// predict asks whatif for a prediction, without a change.
func (s *study) predict(ctx context.Context) error {
	levels := []string{"0"}
	for _, l := range s.change.levels {
		levels = append(levels, strconv.Itoa(l))
	}
	flags := []string{"-p", "func:progress_done", "-t", s.change.targetIn(s.programs.source),
		"-s", strings.Join(levels, ",")}
	run, err := s.rig.Whatif(ctx, flags, s.arguments(0, s.options.predict)...)
	if err != nil {
		return err
	}
	// The result also has other units, with their shares.
	tried := slices.DeleteFunc(analyze.Analyze([]*profile.Data{run.Data}, analyze.Options{}).Targets,
		func(t analyze.Target) bool { return t.Tried == 0 })
	if len(tried) != 1 || len(tried[0].Effects) != 1 {
		return fmt.Errorf("predicting %s: whatif tried %d units, want one, at one point", s.change.name, len(tried))
	}
	s.share = tried[0].Share
	s.predicted = map[int]analyze.Estimate{}
	for _, l := range s.change.levels {
		e, ok := tried[0].Effects[0].At(l)
		if !ok {
			return fmt.Errorf("predicting %s: nothing is known of %d%%: the run was too short", s.change.name, l)
		}
		if s.change.doubled {
			e.Value, e.Low, e.High = -e.Value, -e.High, -e.Low
		}
		s.predicted[l] = e
	}
	return nil
}

// truth runs the program with and without the change alternately. A changed run is compared only with the runs before
// and after it, because the speed of a shared machine drifts.
func (s *study) truth(ctx context.Context) error {
	s.measured = map[int][]float64{}
	before, err := s.period(ctx, 0)
	if err != nil {
		return err
	}
	for range s.options.rounds {
		for _, l := range s.change.levels {
			changed, err := s.period(ctx, l)
			if err != nil {
				return err
			}
			after, err := s.period(ctx, 0)
			if err != nil {
				return err
			}
			s.measured[l] = append(s.measured[l], 100*(1-changed/math.Sqrt(before*after)))
			before = after
		}
	}
	return nil
}

// period is the time of a transaction.
func (s *study) period(ctx context.Context, percent int) (float64, error) {
	run, err := s.rig.Bare(ctx, s.arguments(percent, s.options.seconds)...)
	if err != nil {
		return 0, err
	}
	return 1 / run.Said.Rate(), nil
}

func writeHead(w io.Writer) error {
	_, err := fmt.Fprint(w, "| databases | change | share | by | predicted | "+
		"really (lowest to highest of the rounds) |\n| --- | --- | --- | --- | --- | --- |\n")
	return err
}

// write prints a row for each level.
func (s *study) write(w io.Writer) error {
	for _, l := range s.change.levels {
		by := fmt.Sprintf("−%d%%", l)
		if s.change.doubled {
			by = fmt.Sprintf("+%d%%", l)
		}
		p, m := s.predicted[l], slices.Sorted(slices.Values(s.measured[l]))
		_, err := fmt.Fprintf(w, "| %s | %s | %.1f%% | %s | %.1f ± %.1f | %.1f (%.1f to %.1f) |\n",
			s.mode, s.change.name, s.share, by, p.Value, p.Half(), median(m), m[0], m[len(m)-1])
		if err != nil {
			return err
		}
	}
	return nil
}

// median is the median of values in ascending order.
func median(m []float64) float64 {
	n := len(m)
	return (m[(n-1)/2] + m[n/2]) / 2
}
