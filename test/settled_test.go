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
// ends the test's turn.
type freedOnce struct {
	slog.Handler // of the rest
	said         chan string
	freed        chan bool
	attached     func() int // links of this process to hooks of the kernel
	endTurn      func()
}

func (h *freedOnce) Enabled(context.Context, slog.Level) bool { return true }

func (h *freedOnce) Handle(_ context.Context, r slog.Record) error {
	if !strings.HasPrefix(r.Message, "experiments ended") {
		return nil
	}
	h.said <- r.Message
	go func() {
		for range 20 {
			if h.attached() == 0 {
				h.endTurn()
				h.freed <- true
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		h.freed <- false
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
	log := &freedOnce{slog.DiscardHandler, make(chan string, 1), make(chan bool, 1),
		func() int { return loadedBy(t, os.Getpid()).count("link") }, endTurn}
	const ends = 5 * time.Second
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
	end := outcome.Data.End
	if end == nil || end.Status != 3 || time.Duration(end.RealNS) > ends/2 {
		t.Errorf("the profile ends with %+v: it should be of the time of the experiments, with the program's status", end)
	}
	if !slices.ContainsFunc(outcome.Data.Warnings, func(w profile.Warning) bool { return w.Code == "settled" }) {
		t.Errorf("the profile does not say that later phases are not in it: %v", outcome.Data.Warnings)
	}
	select {
	case said := <-log.said:
		t.Log(said)
		if !<-log.freed {
			t.Error("something is attached while the program runs on")
		}
	default:
		t.Error("nothing is said")
	}
}
