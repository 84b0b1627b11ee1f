package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"whatif/accuracy/internal/rig"
	"whatif/accuracy/internal/spread"
	"whatif/internal/profile"
)

const mebibyte = 1 << 20

func recordingOf(name string, sub subject) part {
	return part{name, func(s *study, ctx context.Context, t *table) error { return s.recorded(ctx, &sub, t) }}
}

// recorded adds the rows of a subject that is recorded.
func (s *study) recorded(ctx context.Context, sub *subject, t *table) error {
	command, err := s.command(ctx, sub)
	if err != nil {
		return err
	}
	return s.recordedTurns(ctx, sub, command, t)
}

// recordThreads adds the rows of ten thousand threads, which sleep nearly all of the time.
func (s *study) recordThreads(ctx context.Context, t *table) error {
	program, err := s.rig.Compile(ctx, "scale/programs/live.c")
	if err != nil {
		return err
	}
	sub := &subject{name: "10,000 threads", point: "progress_done"}
	return s.recordedTurns(ctx, sub, []string{program, "10000", strconv.FormatFloat(s.seconds, 'f', -1, 64)}, t)
}

// recordedTurns compares the rate of a program that is recorded with the rates before and after.
func (s *study) recordedTurns(ctx context.Context, sub *subject, command []string, t *table) error {
	doing := "recording " + sub.name
	var ratios, switches, events, seen, memory, tables []float64
	before, err := s.rig.Bare(ctx, command...)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	for range s.rounds {
		p, err := s.rig.Whatif(ctx, []string{"--no-delays", "-p", "func:" + sub.point}, command...)
		if err != nil {
			return fmt.Errorf("%s: %w", doing, err)
		}
		after, err := s.rig.Bare(ctx, command...)
		if err != nil {
			return fmt.Errorf("%s: %w", doing, err)
		}
		r, err := seenOf(p.Data)
		if err != nil {
			return fmt.Errorf("%s: %w", doing, err)
		}
		ratios = append(ratios, p.Said.Rate()/math.Sqrt(before.Said.Rate()*after.Said.Rate()))
		switches = append(switches, float64(after.Voluntary+after.Involuntary)/after.Took.Seconds())
		events, seen = append(events, r.perSecond), append(seen, 100*r.share)
		memory = append(memory, float64(p.Use.PeakRSS)/mebibyte)
		tables = append(tables, float64(p.Use.Maps)/mebibyte)
		before = after
	}
	t.add(row{figure: sub.name + ": rate recorded / without", format: "%.3f", measured: spread.Of(ratios),
		least: sub.target})
	t.add(row{figure: "  context switches a second, bare", format: "%.0f", measured: spread.Of(switches)})
	t.add(row{figure: "  events a second, where recorded", format: "%.0f", measured: spread.Of(events)})
	t.add(row{figure: "  of the time recorded", unit: "%", format: "%.0f", measured: spread.Of(seen)})
	t.add(row{figure: "  whatif: peak resident memory", unit: " MiB", format: "%.0f", measured: spread.Of(memory),
		most: mostResident})
	t.add(row{figure: "  its tables in the kernel", unit: " MiB", format: "%.0f", measured: spread.Of(tables),
		most: mostTables})
	return nil
}

// What recording may take at most, in MiB: a recording and the kernel's rings share 64 (recorder.DefaultMemory), an
// eighth of which is rings. Whatif itself, its symbols and the writing of the recording come on top.
const mostResident, mostTables = 160, 32

// seen is how much of a program a recording has.
type seen struct {
	share     float64 // of its time, in windows
	perSecond float64 // events, in windows
	events    int
}

func seenOf(d *profile.Data) (seen, error) {
	r, err := d.Recording()
	if err != nil {
		return seen{}, err
	}
	var s seen
	var ns int64
	for i := range r.Windows {
		w := &r.Windows[i]
		ns += w.End - w.Begin
		s.events += len(w.Events)
	}
	s.share, s.perSecond = float64(ns)/float64(r.Length), float64(s.events)/(float64(ns)/1e9)
	return s, nil
}

// recordUnits adds the time in which all units of a recording of five seconds, with a hundred thousand events, get
// their estimates.
func (s *study) recordUnits(ctx context.Context, t *table) error {
	const (
		seconds       = 5
		handoversRate = 7000 // a second: with three events each, and samples, a hundred thousand in all
		pairs         = 2
	)
	program, err := s.rig.Compile(ctx, "overhead/programs/lines.c")
	if err != nil {
		return err
	}
	steps, err := s.tune(ctx, program, pairs, handoversRate)
	if err != nil {
		return fmt.Errorf("tuning lines.c: %w", err)
	}
	dir, err := os.MkdirTemp("", "whatif-units")
	if err != nil {
		return fmt.Errorf("recording lines.c: %w", err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "profile")
	err = s.rig.Run(ctx, "record", "--quiet", "-p", "func:progress_done", "-d", fmt.Sprintf("%ds", seconds), "-o", file,
		"--", program, "0", "3600", strconv.Itoa(pairs), strconv.Itoa(steps))
	if err != nil {
		return err
	}
	runs, err := profile.ReadFiles([]string{file})
	if err != nil {
		return fmt.Errorf("recording lines.c: %w", err)
	}
	r, err := seenOf(runs[0])
	if err != nil {
		return fmt.Errorf("recording lines.c: %w", err)
	}
	var took []float64
	units := 0
	for range s.rounds {
		begun := time.Now()
		report, err := s.rig.Report(ctx, file)
		if err != nil {
			return err
		}
		took = append(took, time.Since(begun).Seconds())
		units = estimated(report)
	}
	t.add(row{figure: fmt.Sprintf("estimates of %d units from %d events: report", units, r.events), unit: " s",
		format: "%.2f", measured: spread.Of(took), most: 5})
	return nil
}

// estimated is how many units of a report have estimates.
func estimated(report *rig.Report) (units int) {
	for _, t := range report.Targets {
		for _, p := range t.Points {
			if len(p.Estimate) > 0 {
				units++
				break
			}
		}
	}
	return units
}
