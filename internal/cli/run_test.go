package cli

import (
	"testing"
	"time"

	"whatif/internal/experiment"
)

// Experiments end when the answer is settled, and the program runs on, only if the command line does not say how long
// to measure. Attached to running processes, or with a time given, whatif cannot know whether the user has seen enough.
func TestRunsOn(t *testing.T) {
	run := []string{"./server"}
	for _, c := range []struct {
		name          string
		set           func(*runFlags)
		args          []string
		runsOn, until bool
	}{
		{"run", func(*runFlags) {}, run, true, true},
		{"attach, or system without a load", func(*runFlags) {}, nil, false, false},
		{"-d", func(r *runFlags) { r.duration = time.Second }, run, false, false},
		{"--repeat 1", func(r *runFlags) { r.repeat = 1 }, run, false, false},
		{"--until", func(r *runFlags) { r.until = 5 }, run, false, true},
	} {
		r := runFlags{unit: "line", length: defaultLength, speedups: everyFive()}
		c.set(&r)
		cfg, err := r.config(c.args)
		if err != nil {
			t.Fatal(c.name, ": ", err)
		}
		if cfg.RunsOn != c.runsOn || (cfg.Enough != nil) != c.until {
			t.Errorf("%s: runs on %v, stops when enough is known %v; want %v and %v",
				c.name, cfg.RunsOn, cfg.Enough != nil, c.runsOn, c.until)
		}
	}
}

// whatif exits with the program's status, unless whatif ended the program as the command line says.
func TestStatusOfRun(t *testing.T) {
	for _, c := range []struct {
		outcome  experiment.Outcome
		preserve bool
		want     int
	}{
		{experiment.Outcome{Status: 143, Ended: true}, false, 0},
		{experiment.Outcome{Status: 1, Ended: true}, false, 0},
		{experiment.Outcome{Status: 143, Ended: true}, true, 143},
		{experiment.Outcome{Status: 143}, false, 143},
		{experiment.Outcome{Status: 3}, true, 3},
	} {
		if got := (&runFlags{preserveStatus: c.preserve}).status(&c.outcome); got != c.want {
			t.Errorf("%+v, --preserve-status %v: %d, want %d", c.outcome, c.preserve, got, c.want)
		}
	}
}

func TestRepeating(t *testing.T) {
	t.Setenv("SUDO_UID", "1000")
	got := repeating([]string{"run", "-t", "parse_row<handle_put", "--", "./a b", "it's", "", "x=1,2"})
	const want = ` run --repeat 20 -t 'parse_row<handle_put' -- './a b' 'it'\''s' '' x=1,2`
	if len(got) < len(want) || got[:5] != "sudo " || got[len(got)-len(want):] != want {
		t.Errorf("%s, want sudo …%s", got, want)
	}
}
