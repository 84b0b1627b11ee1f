package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"whatif/internal/load"
)

// maxTries is the number of times that a disturbed run is made before it counts as it is. Without any patience it is 1.
const maxTries = 3

// truthRun measures the truth of one program in rounds.
type truthRun struct {
	program *program
	binary  string
	seconds float64 // of one run
	levels  []int
	rng     *rand.Rand
	// ratios has, by metric and level, ln(value at the level / value in the baselines beside it), one for each round.
	ratios    map[string]map[int][]float64
	patience  time.Duration // that is left for waiting for a quiet machine
	tries     int           // of a run that was disturbed
	runs      int
	disturbed int
	foreign   []float64 // of each run, also of those that were repeated
}

// round runs every level once, in random order, with a baseline before and after each. The speed of a shared machine
// may drift by a factor of two within minutes, so a level is compared only with its neighbours.
func (t *truthRun) round(ctx context.Context) error {
	before, err := t.period(ctx, 0)
	if err != nil {
		return err
	}
	for _, i := range t.rng.Perm(len(t.levels)) {
		level := t.levels[i]
		period, err := t.period(ctx, level)
		if err != nil {
			return err
		}
		after, err := t.period(ctx, 0)
		if err != nil {
			return err
		}
		for metric, x := range period {
			if t.ratios[metric] == nil {
				t.ratios[metric] = map[int][]float64{}
			}
			base := (math.Log(before[metric]) + math.Log(after[metric])) / 2
			t.ratios[metric][level] = append(t.ratios[metric][level], math.Log(x)-base)
		}
		before = after
	}
	return nil
}

// throughput is the metric for which periods are measured, its inverse. The other metrics are latencies.
const throughput = "throughput"

// period runs the program with its target's work reduced by level percent. It returns the time per visit and the
// latencies, in seconds. A run that other programs disturbed is repeated a few times.
func (t *truthRun) period(ctx context.Context, level int) (map[string]float64, error) {
	for try := 1; ; try++ {
		period, foreign, err := t.run(ctx, level)
		if err != nil {
			return nil, err
		}
		if foreign <= load.MaxForeign || try == t.tries {
			t.runs++
			if foreign > load.MaxForeign {
				t.disturbed++
			}
			return period, nil
		}
		waited, err := load.WaitForQuiet(ctx, t.patience)
		if err != nil {
			return nil, err
		}
		t.patience -= waited
	}
}

// run makes one run. It returns the time per visit and the latencies, and the share of the machine that other programs
// used during the run.
func (t *truthRun) run(ctx context.Context, level int) (period map[string]float64, foreign float64, err error) {
	doing := fmt.Sprintf("running %s %d", t.binary, level)
	limit := time.Duration((10*t.seconds + 10) * float64(time.Second)) // beyond it the program must hang
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	before, err := load.Read()
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", doing, err)
	}
	stopPartner := func() time.Duration { return 0 }
	if t.program.partner {
		if stopPartner, err = startPartner(ctx, t.binary); err != nil {
			return nil, 0, err
		}
	}
	command := t.program.command(t.binary, strconv.Itoa(level), strconv.FormatFloat(t.seconds, 'f', -1, 64))
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	output, err := cmd.Output()
	used := stopPartner()
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w%s", doing, err, words(err))
	}
	own := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime() + used + reapOrphans(time.Second)
	after, err := load.Read()
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", doing, err)
	}
	visits, took, err := parseVisits(string(output))
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", doing, err)
	}
	period, err = parseLatency(string(output))
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", doing, err)
	}
	period[throughput] = took / float64(visits)
	t.foreign = append(t.foreign, load.Foreign(before, after, own))
	return period, t.foreign[len(t.foreign)-1], nil
}

// words is the last line of a failed command's stderr, in brackets.
func words(err error) string {
	var failed *exec.ExitError
	if !errors.As(err, &failed) {
		return ""
	}
	said := strings.TrimSpace(string(failed.Stderr))
	if said == "" {
		return ""
	}
	return " (" + said[strings.LastIndexByte(said, '\n')+1:] + ")"
}

// parseVisits parses the line "visits N seconds T" that a program prints at its end.
func parseVisits(output string) (visits int64, seconds float64, err error) {
	for line := range strings.Lines(output) {
		f := strings.Fields(line)
		if len(f) != 4 || f[0] != "visits" || f[2] != "seconds" {
			continue
		}
		visits, err = strconv.ParseInt(f[1], 10, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("parsing %q: %w", line, err)
		}
		seconds, err = strconv.ParseFloat(f[3], 64)
		if err != nil {
			return 0, 0, fmt.Errorf("parsing %q: %w", line, err)
		}
		if visits <= 0 || !(seconds > 0) {
			return 0, 0, fmt.Errorf("parsing %q: nothing was measured", line)
		}
		return visits, seconds, nil
	}
	return 0, 0, errors.New(`parsing the program's output: no line "visits N seconds T"`)
}

// parseLatency parses the line "latency mean T p50 T p95 T p99 T" that programs with requests print. Without that line
// the result is empty.
func parseLatency(output string) (map[string]float64, error) {
	latencies := map[string]float64{}
	for line := range strings.Lines(output) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] != "latency" {
			continue
		}
		if len(f)%2 == 0 {
			return nil, fmt.Errorf("parsing %q: a name without a number", line)
		}
		for i := 1; i < len(f); i += 2 {
			seconds, err := strconv.ParseFloat(f[i+1], 64)
			if err != nil || !(seconds > 0) {
				return nil, fmt.Errorf("parsing %q: %q is no time", line, f[i+1])
			}
			name := f[i]
			if name == "mean" {
				name = "latency"
			}
			latencies[name] = seconds
		}
	}
	return latencies, nil
}

// gains is the truth: the program's real gains, by level.
func (t *truthRun) gains(metric string) map[int]estimate {
	gains := map[int]estimate{}
	for level, ratios := range t.ratios[metric] {
		gains[level] = gainOf(ratios)
	}
	return gains
}

// known tells whether the throughput's truth is known to so many points at each level. Latencies do not count, because
// they might need any number of rounds.
func (t *truthRun) known(within float64) bool {
	for _, e := range t.gains(throughput) {
		if !(max(e.High-e.Gain, e.Gain-e.Low) <= within) { // also if it is NaN, as after one round
			return false
		}
	}
	return true
}
