package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"whatif/accuracy/internal/rig"
	"whatif/internal/testing/noise"
)

// question is a change to a program: both lines shrink, by percentages, or it has another number of cores.
type question struct {
	target, also int
	cores        int // 0: as many as recorded
}

func (q question) String() string {
	if q.cores > 0 {
		return fmt.Sprintf("--cores %d", q.cores)
	}
	return fmt.Sprintf("TARGET=%d ALSO=%d", q.target, q.also)
}

// gain is in percent, with its 95% interval.
type gain struct{ value, low, high float64 }

// row is a question about a program, with the truth and whatif's answer.
type row struct {
	program  string
	question question
	truth    gain
	answer   gain   // of whatif ask
	refused  string // why there is no answer
	tested   *gain  // by experiments; nil: there were none
}

// study measures programs.
type study struct {
	*options
	rig *rig.Rig
}

// lines are the program's two lines, as whatif takes them.
type lines struct{ target, also string }

func (s *study) study(ctx context.Context, name string) (rows []row, err error) {
	source := filepath.Join("programs", name, name+".c")
	program, err := s.rig.Compile(ctx, source)
	if err != nil {
		return nil, err
	}
	var l lines
	for mark, spec := range map[string]*string{"// TARGET": &l.target, "// ALSO": &l.also} {
		line, err := s.rig.Line(source, mark)
		if err != nil {
			return nil, err
		}
		*spec = name + ".c:" + strconv.Itoa(line)
	}
	dir, err := os.MkdirTemp("", "whatif-together")
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	defer os.RemoveAll(dir)
	profile := filepath.Join(dir, "profile")
	err = s.rig.Run(ctx, "record", "--quiet", "-p", "func:progress_done", "-d", s.record.String(), "-o", profile, "--",
		program, "0", "3600")
	if err != nil {
		return nil, err
	}
	truths, err := s.truth(ctx, program)
	if err != nil {
		return nil, fmt.Errorf("measuring %s: %w", name, err)
	}
	for i, q := range questions {
		r := row{program: name, question: q, truth: truths[i]}
		if err := s.ask(ctx, &r, l, profile); err != nil {
			return nil, err
		}
		if q.cores == 0 && s.tested > 0 {
			if err := s.test(ctx, &r, l, program); err != nil {
				return nil, err
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// together are the flags for both lines.
func (q question) together(l lines) []string {
	return []string{"--together", fmt.Sprintf("%s=%d", l.target, q.target),
		"--together", fmt.Sprintf("%s=%d", l.also, q.also)}
}

// test makes experiments with both lines.
func (s *study) test(ctx context.Context, r *row, l lines, program string) error {
	dir, err := os.MkdirTemp("", "whatif-together")
	if err != nil {
		return fmt.Errorf("testing: %w", err)
	}
	defer os.RemoveAll(dir)
	profile := filepath.Join(dir, "profile")
	args := append([]string{"run", "--quiet", "-p", "func:progress_done", "-d", s.tested.String(), "-o", profile},
		r.question.together(l)...)
	if err := s.rig.Run(ctx, append(args, "--", program, "0", "3600")...); err != nil {
		return err
	}
	report, err := s.rig.Report(ctx, profile)
	if err != nil {
		return err
	}
	r.tested = &gain{math.NaN(), math.Inf(-1), math.Inf(1)}
	for _, t := range report.Targets {
		if t.Unit != "together" {
			continue
		}
		for _, p := range t.Points {
			if level, ok := rig.At(p.Curve, 100); ok && p.Metric == "throughput" {
				*r.tested = gain{level.Gain, level.CI[0], level.CI[1]}
			}
		}
	}
	return nil
}

// ask asks whatif.
func (s *study) ask(ctx context.Context, r *row, l lines, profile string) error {
	args := []string{"ask", "--format", "json"}
	if q := r.question; q.cores > 0 {
		args = append(args, "--cores", strconv.Itoa(q.cores))
	} else {
		args = append(args, q.together(l)...)
	}
	var answer struct {
		Points []struct {
			Metric, Refused string
			Gain            *float64
			CI              *[2]float64
		}
	}
	if err := s.rig.JSON(ctx, &answer, append(args, profile)...); err != nil {
		return err
	}
	for _, p := range answer.Points {
		if p.Metric != "throughput" {
			continue
		}
		r.refused = p.Refused
		r.answer = gain{math.NaN(), math.Inf(-1), math.Inf(1)}
		if p.Gain != nil {
			r.answer.value = *p.Gain
		}
		if p.CI != nil {
			r.answer.low, r.answer.high = p.CI[0], p.CI[1]
		}
		return nil
	}
	return fmt.Errorf("asking about %s: the answer has no throughput", r.program)
}

// truth measures what each question really changes: a run with the change is compared with the runs before and after
// it, as the speed of a shared machine drifts.
func (s *study) truth(ctx context.Context, program string) ([]gain, error) {
	period := func(q question) (float64, error) {
		args := []string{"env", fmt.Sprintf("WHATIF_ALSO=%d", q.also)}
		if q.cores > 0 {
			args = append(args, fmt.Sprintf("WHATIF_CORES=%d", q.cores))
		}
		b, err := s.rig.Bare(ctx, append(args, program, strconv.Itoa(q.target),
			strconv.FormatFloat(s.seconds, 'f', -1, 64))...)
		if err != nil {
			return 0, err
		}
		return 1 / b.Said.Rate(), nil
	}
	ratios := make([][]float64, len(questions))
	before, err := period(question{})
	if err != nil {
		return nil, err
	}
	for range s.rounds {
		for i, q := range questions {
			changed, err := period(q)
			if err != nil {
				return nil, err
			}
			after, err := period(question{})
			if err != nil {
				return nil, err
			}
			ratios[i] = append(ratios[i], math.Log(changed/math.Sqrt(before*after)))
			before = after
		}
	}
	var all []gain
	for _, list := range ratios {
		mean, half := noise.Mean(list)
		of := func(x float64) float64 { return 100 * (1 - math.Exp(x)) }
		all = append(all, gain{of(mean), of(mean + half), of(mean - half)})
	}
	return all, nil
}
