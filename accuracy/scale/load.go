package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"whatif/accuracy/internal/rig"
	"whatif/internal/profile"
)

// load is a program that starts and ends threads or processes all the time.
type load struct {
	name   string
	what   string
	source string // below accuracy/scale/programs
	rate   int    // the requested number, a second or at the same time; 0: as fast as possible
	args   []string
	// visits is the number of visits that each thread or process makes, if the program achieves a rate.
	visits int
	// achieved is the name of the program's figure for what existed at the same time; "": the program achieves a rate.
	achieved string
	// layouts means that the program executes its own file again and again, each time at another address. The line on
	// which all of these processes work has to be one unit.
	layouts bool
}

var loads = []load{
	{name: "threads", what: "threads that come and go", source: "threads.c", rate: 5000, visits: 1},
	{name: "threads_flood", what: "the same, one after the other", source: "threads.c", visits: 1},
	{name: "live", what: "live threads", source: "live.c", rate: 10_000, achieved: "live"},
	{name: "forks", what: "forks", source: "forks.c", rate: 500, visits: 1},
	{name: "forks_flood", what: "the same, one after the other", source: "forks.c", visits: 1},
	{name: "execs", what: "forks and execs of one file", source: "execs.c", rate: 200, visits: 1, layouts: true},
	{name: "execs_flood", what: "the same, one after the other", source: "execs.c", visits: 1, layouts: true},
	{name: "vforks", what: "vforks and execs", source: "execs.c", args: []string{"vfork"}, visits: 2, layouts: true},
	{name: "orphans", what: "children that outlive their parent", source: "orphans.c", rate: 100, achieved: "orphans"},
}

// result has the runs of a load.
type result struct {
	load     *load
	bare     *rig.Bare
	profiled *rig.Profiled
	target   int // the line marked TARGET
}

// measure runs the load once bare, and once under whatif with the default plan of experiments.
func (l *load) measure(ctx context.Context, r *rig.Rig, seconds float64) (*result, error) {
	command, err := l.command(ctx, r, seconds)
	if err != nil {
		return nil, err
	}
	bare, err := r.Bare(ctx, command...)
	if err != nil {
		return nil, fmt.Errorf("measuring %s: %w", l.name, err)
	}
	res, err := l.profile(ctx, r, command)
	if err != nil {
		return nil, err
	}
	res.bare = bare
	return res, nil
}

// command compiles the load, and gives its command line.
func (l *load) command(ctx context.Context, r *rig.Rig, seconds float64) ([]string, error) {
	program, err := r.Compile(ctx, "scale/programs/"+l.source)
	if err != nil {
		return nil, err
	}
	return append([]string{program, strconv.Itoa(l.rate), strconv.FormatFloat(seconds, 'f', -1, 64)}, l.args...), nil
}

// profile runs the load under whatif.
func (l *load) profile(ctx context.Context, r *rig.Rig, command []string) (res *result, err error) {
	res = &result{load: l}
	if l.layouts {
		if res.target, err = r.Line("scale/programs/"+l.source, "// TARGET"); err != nil {
			return nil, err
		}
	}
	if res.profiled, err = r.Whatif(ctx, []string{"-p", "func:progress_done"}, command...); err != nil {
		return nil, fmt.Errorf("measuring %s: %w", l.name, err)
	}
	return res, nil
}

// check compares both counts of visits, and checks that the profile has each unit once.
func (r *result) check() error {
	var errs []error
	p := r.profiled
	if own, counted := p.Said.Visits(), p.Visits(); own != counted {
		errs = append(errs,
			fmt.Errorf("checking %s: whatif counted %d visits, the program %d", r.load.name, counted, own))
	}
	if err := unitsOnce(p.Data.Units); err != nil {
		errs = append(errs, fmt.Errorf("checking %s: %w", r.load.name, err))
	}
	if !r.load.layouts {
		return errors.Join(errs...)
	}
	if layouts := p.Said["layouts"]; layouts < 2 {
		errs = append(errs,
			fmt.Errorf("checking %s: all was loaded at one address: turn address randomization on", r.load.name))
	}
	if found, _ := r.targetUnits(); found != 1 {
		errs = append(errs,
			fmt.Errorf("checking %s: the line that its children work on is %d units, want 1", r.load.name, found))
	}
	return errors.Join(errs...)
}

// unitsOnce returns an error if a line or a function is more than one unit.
func unitsOnce(units map[uint32]profile.Unit) error {
	seen := map[profile.UnitKey]uint32{}
	for id, u := range units {
		key := u.Key()
		if other, twice := seen[key]; twice {
			return fmt.Errorf("units %d and %d are both %s", min(id, other), max(id, other), u.Name)
		}
		seen[key] = id
	}
	return nil
}

// targetUnits counts the units for the line marked TARGET, and computes their share of the samples.
func (r *result) targetUnits() (units int, share float64) {
	var hits, all int64
	for id, u := range r.profiled.Data.Units {
		if filepath.Base(u.File) != filepath.Base(r.load.source) || u.Line != r.target {
			continue
		}
		units++
		for i := range r.profiled.Data.Experiments {
			hits += r.profiled.Data.Experiments[i].UnitSamples[id]
		}
	}
	for i := range r.profiled.Data.Experiments {
		all += r.profiled.Data.Experiments[i].Samples
	}
	return units, float64(hits) / float64(max(all, 1))
}
