package test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"whatif/internal/analyze"
	"whatif/internal/experiment"
	"whatif/internal/point"
	"whatif/internal/profile"
	"whatif/internal/testing/realkernel"
)

// freedOnce is a log. When it is told that experiments have ended it waits until nothing is left in the kernel, and
// ends the test's turn. freed is whether the program ran on then.
type freedOnce struct {
	slog.Handler // of the rest
	said         chan string
	at           time.Time // of that; known when it is said
	freed        chan bool
	attached     func() int  // links of this process to hooks of the kernel
	ended        func() bool // of the program
	endTurn      func()
}

func (h *freedOnce) Enabled(context.Context, slog.Level) bool { return true }

func (h *freedOnce) Handle(_ context.Context, r slog.Record) error {
	if !strings.HasPrefix(r.Message, "experiments ended") {
		return nil
	}
	h.at = time.Now()
	h.said <- r.Message
	go func() {
		for h.attached() > 0 {
			time.Sleep(50 * time.Millisecond)
		}
		h.freed <- !h.ended()
		h.endTurn()
	}()
	return nil
}

// When enough is known experiments end, and the program runs on without whatif to its own end.
func TestProgramRunsOnWhenSettled(t *testing.T) {
	realkernel.NeedKernel(t)
	program := realkernel.Compile(t, "../internal/cli/testdata/programs/rounds.c")
	spec, err := point.Parse("func:round_done")
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer stdout.Close()
	endTurn, err := realkernel.Turn()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(endTurn)
	log := &freedOnce{Handler: slog.DiscardHandler, said: make(chan string, 1), freed: make(chan bool, 1),
		attached: func() int { return loadedBy(t, os.Getpid()).count("link") },
		ended:    func() bool { said, _ := os.ReadFile(stdout.Name()); return len(said) > 0 }, endTurn: endTurn}
	begun := time.Now()
	outcome, err := experiment.Profile(t.Context(), experiment.Config{
		Args: []string{program, "5", "3"}, Kind: "line", Points: []point.Spec{spec}, Speedups: []int{0, 50},
		Period: time.Millisecond, Experiment: 20 * time.Millisecond, Seed: rand.Uint64(), Stdout: stdout, Log: slog.New(log),
		Enough: func(r *analyze.Result) bool {
			if log.attached() == 0 {
				t.Error("while experiments are made nothing is attached")
			}
			return r.Experiments >= 3
		}, RunsOn: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if !outcome.Settled || outcome.Ended || outcome.Status != 3 {
		t.Errorf("settled %v, ended by whatif %v, status %d; want true, false, 3", outcome.Settled, outcome.Ended,
			outcome.Status)
	}
	if said, err := os.ReadFile(stdout.Name()); err != nil || !strings.HasPrefix(string(said), "rounds ") {
		t.Errorf("the program did not come to its end: %q, %v", said, err)
	}
	if !slices.ContainsFunc(outcome.Data.Warnings, func(w profile.Warning) bool { return w.Code == "settled" }) {
		t.Errorf("the profile does not say that later phases are not in it: %v", outcome.Data.Warnings)
	}
	select {
	case said := <-log.said:
		t.Log(said)
	default:
		t.Fatal("nothing is said")
	}
	if !<-log.freed {
		t.Error("something is attached while the program runs on")
	}
	end := outcome.Data.End
	if end == nil || end.Status != 3 || time.Duration(end.RealNS) > log.at.Sub(begun) {
		t.Errorf("the profile ends with %+v: it should be of the time of the experiments, with the program's status", end)
	}
}
