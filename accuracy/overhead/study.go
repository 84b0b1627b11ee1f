package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"whatif/accuracy/internal/rig"
	"whatif/accuracy/internal/spread"
)

// study says what to measure, how much, and with which rig.
type study struct {
	rig         *rig.Rig
	parts       []part
	rounds      int
	seconds     float64
	starts      int
	selfSeconds float64
	// judgedOnly leaves out the runs of figures that have no target: with the default plan, and with finer samples.
	judgedOnly bool
}

// part is a measurement that can be made by itself.
type part struct {
	name    string
	measure func(*study, context.Context, *table) error
}

var parts = []part{
	ratiosOf("busy", subject{name: "two busy threads", source: "busy.c", point: "progress_done",
		target: 0.97, plan: true}),
	ratiosOf("deep", subject{name: "two busy threads, 60 calls deep", source: "deep.c", point: "progress_done",
		target: 0.97}),
	ratiosOf("switches", subject{name: "switches on one core", source: "switches.c", point: "progress_done", pairs: 1,
		target: 0.97, plan: true}),
	ratiosOf("switches2", subject{name: "switches on two cores", source: "switches.c", point: "progress_done", pairs: 2,
		target: 0.97}),
	ratiosOf("go", subject{name: "Go channels, two threads", source: "go_handover", point: "main.progressDone"}),
	{"start", (*study).startUp},
	{"self", (*study).self},
	recordingOf("record", subject{name: "switches on two cores", source: "switches.c", point: "progress_done", pairs: 2,
		target: 0.985}),
	recordingOf("record-go", subject{name: "goroutines that wait", source: "go_waits", point: "main.progressDone",
		pairs: 2, rate: 50_000}),
	{"record-threads", (*study).recordThreads},
	{"record-units", (*study).recordUnits},
}

func ratiosOf(name string, sub subject) part {
	return part{name, func(s *study, ctx context.Context, t *table) error { return s.ratios(ctx, &sub, t) }}
}

// choose returns the parts with these names, in the order of the table. Without a name these are all parts but the
// programs in Java, which "java" names.
func choose(names string) ([]part, error) {
	if names == "" {
		return parts, nil
	}
	wanted := map[string]bool{}
	for _, name := range strings.Split(names, ",") {
		wanted[strings.TrimSpace(name)] = true
	}
	var chosen []part
	for _, p := range slices.Concat(parts, javaParts) {
		if wanted[p.name] || wanted["java"] && slices.ContainsFunc(javaParts, func(j part) bool { return j.name == p.name }) {
			chosen = append(chosen, p)
			delete(wanted, p.name)
		}
	}
	delete(wanted, "java")
	for name := range wanted {
		return nil, fmt.Errorf("choosing what to measure: nothing is called %q", name)
	}
	return chosen, nil
}

// subject is a program whose rates are compared.
type subject struct {
	name   string
	source string // below accuracy/overhead/programs
	point  string
	// pairs is the number of pairs of threads that hand over to each other. Their turns are made so long that there are
	// rate hand-overs a second in all. 0: the program is of another kind.
	pairs int
	rate  int // 0: switchRate
	// target is the least ratio of rates with -s 0; 0: none.
	target float64
	// plan means that the program also runs with the default plan.
	plan bool
}

// switchRate is the number of context switches a second to which the target applies.
const switchRate = 100_000

func (s *study) all(ctx context.Context, t *table) error {
	for _, p := range s.parts {
		if err := p.measure(s, ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// command compiles the subject, tunes it, and returns its command line.
func (s *study) command(ctx context.Context, sub *subject) ([]string, error) {
	program, err := s.rig.Compile(ctx, "overhead/programs/"+sub.source)
	if err != nil {
		return nil, err
	}
	command := []string{program, "0", strconv.FormatFloat(s.seconds, 'f', -1, 64)}
	if sub.pairs == 0 {
		return command, nil
	}
	steps, err := s.tune(ctx, program, sub.pairs, cmp.Or(sub.rate, switchRate))
	if err != nil {
		return nil, fmt.Errorf("tuning %s: %w", sub.name, err)
	}
	return append(command, strconv.Itoa(sub.pairs), strconv.Itoa(steps)), nil
}

// tune finds how many steps of work a turn needs for rate hand-overs a second in all. It measures the time of a
// turn with few and with many steps, and interpolates linearly. The result is 0 if the machine is too slow.
func (s *study) tune(ctx context.Context, program string, pairs, rate int) (steps int, err error) {
	const few, many = 0, 10000
	turn := func(steps int) (float64, error) {
		b, err := s.rig.Bare(ctx, program, "0", "0.3", strconv.Itoa(pairs), strconv.Itoa(steps))
		if err != nil {
			return 0, err
		}
		return float64(pairs) / (b.Said.Rate() * handoversPerVisit), nil
	}
	short, err := turn(few)
	if err != nil {
		return 0, err
	}
	long, err := turn(many)
	if err != nil {
		return 0, err
	}
	wanted := float64(pairs) / float64(rate)
	return int(max(0, (wanted-short)/(long-short)*(many-few))), nil
}

// Constants of the programs.
const (
	handoversPerVisit = 256                    // A_VISIT of pairs.h
	leadIn            = 700 * time.Millisecond // LEAD_IN_NS of measured.h
	cores             = 2                      // that they run on: see bench_init
)

// comparison has the figures of a subject's runs.
type comparison struct {
	idle, planned []float64 // ratios of rates with -s 0, and with the default plan
	ticking       []float64 // ratios with -s 0 and as many samples as experiments need
	delays        []float64 // percent of the time with the default plan: see rig.Profiled.Delays
	stopped       []float64 // the same for stopped cores
	switches      []float64 // context switches a second in the bare runs
	voluntary     []float64 // the voluntary ones of these
}

// turn is a run under whatif, and what the program said in the bare runs before and after.
type turn struct {
	*rig.Profiled
	before, after rig.Said
}

// ratio is the run's rate by those of the bare runs.
func (t *turn) ratio(rate func(rig.Said) float64) float64 {
	return rate(t.Said) / math.Sqrt(rate(t.before)*rate(t.after))
}

// turns makes a bare run of a command, and calls each with what comes of each bare run. The result makes a run under
// whatif and the next bare run.
func (s *study) turns(ctx context.Context, command []string, each func(*rig.Bare)) (
	beside func(flags ...string) (*turn, error), err error,
) {
	bare := func() (rig.Said, error) {
		b, err := s.rig.Bare(ctx, command...)
		if err != nil {
			return nil, err
		}
		each(b)
		return b.Said, nil
	}
	before, err := bare()
	return func(flags ...string) (*turn, error) {
		p, err := s.rig.Whatif(ctx, flags, command...)
		if err != nil {
			return nil, err
		}
		t := &turn{Profiled: p, before: before}
		before, err = bare()
		t.after = before
		return t, err
	}, err
}

// compare makes all runs of a command.
func (s *study) compare(ctx context.Context, sub *subject, command []string) (*comparison, error) {
	c := &comparison{}
	turns, err := s.turns(ctx, command, func(b *rig.Bare) {
		took := b.Took.Seconds()
		c.switches = append(c.switches, float64(b.Voluntary+b.Involuntary)/took)
		c.voluntary = append(c.voluntary, float64(b.Voluntary)/took)
	})
	if err != nil {
		return nil, err
	}
	beside := func(flags ...string) (float64, *turn, error) {
		t, err := turns(append(flags, "-p", "func:"+sub.point)...)
		if err != nil {
			return 0, nil, err
		}
		return t.ratio(rig.Said.Rate), t, nil
	}
	for range s.rounds {
		ratio, _, err := beside("-s", "0")
		if err != nil {
			return nil, err
		}
		c.idle = append(c.idle, ratio)
		if !sub.plan || s.judgedOnly {
			continue
		}
		if ratio, _, err = beside("-s", "0", "--period", "1ms"); err != nil {
			return nil, err
		}
		c.ticking = append(c.ticking, ratio)
		ratio, p, err := beside()
		if err != nil {
			return nil, err
		}
		c.planned = append(c.planned, ratio)
		delayed, stopped := p.Delays(leadIn)
		c.delays, c.stopped = append(c.delays, 100*delayed), append(c.stopped, 100*stopped/cores)
	}
	return c, nil
}

// ratios adds a subject's rows.
func (s *study) ratios(ctx context.Context, sub *subject, t *table) error {
	command, err := s.command(ctx, sub)
	if err != nil {
		return err
	}
	c, err := s.compare(ctx, sub, command)
	if err != nil {
		return fmt.Errorf("comparing the rates of %s: %w", sub.name, err)
	}
	t.add(row{figure: sub.name + ": rate with -s 0 / without", format: "%.3f",
		measured: spread.Of(c.idle), least: sub.target})
	if sub.plan && !s.judgedOnly {
		t.add(row{figure: "  sampled each 1 ms, as in experiments", format: "%.3f", measured: spread.Of(c.ticking)})
		t.add(row{figure: "  with the default plan", format: "%.3f", measured: spread.Of(c.planned)})
		t.add(row{figure: "  delays it inserts", unit: "%", format: "%.1f", measured: spread.Of(c.delays)})
		t.add(row{figure: "  cores stopped for them", unit: "%", format: "%.1f", measured: spread.Of(c.stopped)})
	}
	switches := spread.Of(c.switches)
	if switches.Median < 1000 { // too few for a figure
		return nil
	}
	t.add(row{figure: "  context switches a second, bare", format: "%.0f", measured: switches})
	t.add(row{figure: "  of them voluntary", format: "%.0f", measured: spread.Of(c.voluntary)})
	if sub.pairs > 0 {
		t.add(row{figure: "  cost of a switch", unit: " ns", format: "%.0f", measured: spread.Of(costs(c, sub.pairs))})
	}
	return nil
}

// costs computes the time that whatif adds to one hand-over, in nanoseconds. A bare hand-over takes pairs/rate seconds,
// so the result does not depend on the rate.
func costs(c *comparison, pairs int) []float64 {
	rate := spread.Of(c.switches).Median
	var ns []float64
	for _, ratio := range c.idle {
		ns = append(ns, (1/ratio-1)*float64(pairs)/rate*1e9)
	}
	return ns
}
