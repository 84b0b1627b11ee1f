package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"text/tabwriter"
	"time"

	"whatif/internal/analyze"
	"whatif/internal/demo"
	"whatif/internal/doctor"
	"whatif/internal/experiment"
	"whatif/internal/point"
	"whatif/internal/profile"
)

// demoLevels are the speed-ups that the demo's table shows.
var demoLevels = []int{25, 50, 75, 100}

func demoCommand(ctx context.Context, sh *shell, args []string) (int, error) {
	f := newFlags("demo")
	var duration time.Duration
	f.seconds(&duration, "duration", 15*time.Second, "profile for `TIME`")
	f.short("d", "duration")
	if _, err := parse(sh, f, args, 0, 0); err != nil {
		return 0, err
	}
	if duration <= 0 { // without a duration the program would run for ever
		return 0, wrongLine("--duration %v: the demo needs more than 0s", duration)
	}
	if err := doctor.Require(); err != nil {
		return 0, err
	}
	cfg, err := demoConfig(duration)
	if err != nil {
		return 0, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	cfg.Stdout = null
	status := newStatus(sh.stderr, false)
	cfg.Log = newLog(sh.stderr, status, false)
	cfg.Progress = status.show
	fmt.Fprintf(sh.stderr, "whatif: profiling a built-in program for %v: two threads meet at a barrier, "+
		"then one goes on alone\n", duration)
	outcome, err := experiment.Profile(ctx, cfg)
	status.clear()
	if outcome == nil {
		return 0, err
	}
	result := analyze.Analyze([]*profile.Data{outcome.Data}, analyze.Options{})
	return 0, errors.Join(err, demoTable(sh.stdout, result))
}

func demoConfig(duration time.Duration) (experiment.Config, error) {
	p, err := point.Parse("round=" + demo.Point())
	if err != nil {
		return experiment.Config{}, err
	}
	cfg := experiment.Config{
		Args: demo.Command(), Kind: "line", Speedups: demoLevels, Points: []point.Spec{p},
		Period: defaultPeriod, Experiment: defaultLength, Duration: duration, Seed: rand.Uint64(),
	}
	for _, l := range demo.Truth() {
		t, err := point.ParseTarget(l.Name)
		if err != nil {
			return cfg, err
		}
		cfg.Targets = append(cfg.Targets, t)
	}
	return cfg, nil
}

// demoTable prints the predictions beside the truth.
func demoTable(w io.Writer, r *analyze.Result) error {
	fmt.Fprint(w, "\nLess time for each round, in percent, if a line were faster: found ± its 95% interval, (truth)\n\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "line\tshare of time")
	for _, s := range demoLevels {
		fmt.Fprintf(t, "\t%d%% faster", s)
	}
	fmt.Fprint(t, "\t\n")
	for _, line := range demo.Truth() {
		fmt.Fprintf(t, "%s\t", line.Name)
		target := findTarget(r, line.Name)
		if target == nil {
			fmt.Fprint(t, "was not seen\t\n")
			continue
		}
		fmt.Fprintf(t, "%.0f%%", target.Share)
		for _, s := range demoLevels {
			found := "?"
			if gain, ok := target.Effects[0].At(s); ok {
				found = fmt.Sprintf("%.0f ± %.0f", gain.Value, gain.Half())
			}
			fmt.Fprintf(t, "\t%s  (%.0f)", found, line.Gain(float64(s)))
		}
		fmt.Fprint(t, "\t\n")
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	fmt.Fprintln(w)
	for _, line := range demo.Truth() {
		fmt.Fprintf(w, "%s: %s\n", line.Name, line.What)
	}
	_, err := fmt.Fprint(w, "\nA normal profiler shows the second column only. Your own program:\n"+
		"  sudo whatif run -p func:YOUR_PROGRESS_FUNCTION -d 30s -- ./program\n")
	return err
}

func findTarget(r *analyze.Result, name string) *analyze.Target {
	for i := range r.Targets {
		if r.Targets[i].Unit.Name == name && len(r.Targets[i].Effects) > 0 {
			return &r.Targets[i]
		}
	}
	return nil
}
