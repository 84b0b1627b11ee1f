package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"whatif/accuracy/internal/rig"
	"whatif/accuracy/internal/rig/rigtest"
	"whatif/accuracy/internal/spread"
)

func TestCells(t *testing.T) {
	of := func(values ...float64) spread.Summary { return spread.Of(values) }
	for _, test := range []struct {
		row  row
		want [5]string
	}{
		{row{"a", "", "%.2f", of(0.97, 0.98, 0.99), 0.97, 0}, [5]string{"a", "0.98", "0.97 to 0.99 (range of 3)", ">= 0.97", "ok"}},
		{row{"b", " s", "%.1f", of(0.6), 0, 0.5}, [5]string{"b", "0.6 s", "", "<= 0.5 s", "MISSED"}},
		{row{"c", "%", "%.0f", of(6), 0, 0}, [5]string{"c", "6%"}},
	} {
		if got := test.row.cells(); got != test.want {
			t.Errorf("%+v: %q, want %q", test.row, got, test.want)
		}
	}
}

func TestCommandLine(t *testing.T) {
	for _, args := range [][]string{{"-rounds", "0"}, {"busy"}, {"-seconds", "-1"}, {"-no"}, {"-only", "bus"}} {
		var words strings.Builder
		if status := run(t.Context(), &words, &words, args); status != 2 {
			t.Errorf("%v: status %d, want 2", args, status)
		}
	}
}

// TestSmoke measures for a few seconds, with limits that a busy machine keeps too.
func TestSmoke(t *testing.T) {
	r := rigtest.Open(t)
	s := study{rig: r, rounds: 2, seconds: 0.4, starts: 1, selfSeconds: 3}
	var err error
	if s.parts, err = choose("busy,switches,start,self"); err != nil {
		t.Fatal(err)
	}
	var got table
	if err := s.all(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	for i := range got.rows {
		r := &got.rows[i]
		switch {
		case r.least != 0:
			r.least = 0.6
		case r.most != 0:
			r.most *= 10 // the start is most of so short a run
		}
		if c := r.cells(); c[4] == "MISSED" {
			t.Errorf("%s: %s, want %s at least on the worst of machines", c[0], c[1], c[3])
		}
	}
	if t.Failed() {
		_ = got.write(t.Output())
	}
}

// A study that is interrupted ends with an error and without a process.
func TestInterrupted(t *testing.T) {
	r, err := rig.Open("bin/whatif")
	if errors.Is(err, rig.ErrNotRoot) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := study{rig: r, rounds: 1, seconds: 0.5, parts: parts}
	if err := s.all(ctx, new(table)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}
