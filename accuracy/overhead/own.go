package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"whatif/accuracy/internal/spread"
)

// startUp adds the times from the start of whatif to the program's first instruction, and to the first experiment.
func (s *study) startUp(ctx context.Context, t *table) error {
	program, err := s.rig.Compile(ctx, "overhead/programs/first.c")
	if err != nil {
		return err
	}
	var instruction, experiment []float64
	for range s.starts {
		p, err := s.rig.Whatif(ctx, []string{"-p", "func:progress_done"}, program, "0", "0.3")
		if err != nil {
			return fmt.Errorf("timing the start: %w", err)
		}
		if len(p.Data.Experiments) == 0 {
			return fmt.Errorf("timing the start: the run has no experiment")
		}
		launch := float64(p.Started.UnixNano()) / 1e9
		first := p.Said["first"] - launch
		// The run record is written a moment before the experiments' clock starts. But no experiment begins before the
		// program.
		began := p.Data.Run.Started.Add(time.Duration(p.Data.Experiments[0].StartNS)).Sub(p.Started).Seconds()
		instruction = append(instruction, first)
		experiment = append(experiment, max(first, began))
	}
	t.add(row{figure: "start-up: first instruction", unit: " s", format: "%.3f", measured: spread.Of(instruction)})
	t.add(row{figure: "start-up: first experiment", unit: " s", format: "%.3f",
		measured: spread.Of(experiment), most: 0.5})
	return nil
}

// self adds the time and memory that whatif itself uses while it profiles two busy threads with the default plan.
func (s *study) self(ctx context.Context, t *table) error {
	program, err := s.rig.Compile(ctx, "overhead/programs/busy.c")
	if err != nil {
		return err
	}
	seconds := strconv.FormatFloat(s.selfSeconds, 'f', -1, 64)
	p, err := s.rig.Whatif(ctx, []string{"-p", "func:progress_done"}, program, "0", seconds)
	if err != nil {
		return fmt.Errorf("watching whatif: %w", err)
	}
	var own, real int64
	for _, e := range p.Data.Experiments {
		own += e.OwnNS
		real += e.RealNS
	}
	one := func(v float64) spread.Summary { return spread.Of([]float64{v}) }
	t.add(row{figure: "whatif: peak resident memory", unit: " MiB", format: "%.0f",
		measured: one(float64(p.Use.PeakRSS) / mebibyte), most: 100})
	t.add(row{figure: "  its tables in the kernel", unit: " MiB", format: "%.0f",
		measured: one(float64(p.Use.Maps) / mebibyte)})
	t.add(row{figure: "whatif: of a core, during experiments", unit: "%", format: "%.2f",
		measured: one(100 * float64(own) / float64(real)), most: 3})
	t.add(row{figure: "  the whole run of " + seconds + " s, start included", unit: "%", format: "%.2f",
		measured: one(100 * p.Use.CPU.Seconds() / (float64(p.Data.End.RealNS) / 1e9)), most: 3})
	return nil
}
