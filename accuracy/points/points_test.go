package main

import (
	"strings"
	"testing"

	"whatif/accuracy/internal/rig/rigtest"
	"whatif/accuracy/internal/spread"
)

func TestCommandLine(t *testing.T) {
	for _, args := range [][]string{{"-rounds", "0"}, {"func"}, {"-seconds", "-1"}, {"-no"}, {"-seconds", "NaN"}} {
		var words strings.Builder
		if status := run(t.Context(), &words, &words, args); status != 2 {
			t.Errorf("%v: status %d, want 2", args, status)
		}
	}
}

func TestWrite(t *testing.T) {
	var b strings.Builder
	costs := []cost{
		{kind{"function, emulated", "func:plain", 1}, spread.Of([]float64{611, 640, 650, 655, 660, 700})},
		{kind{"system call", "syscall:getppid", 1}, spread.Of([]float64{251, 252})},
	}
	if err := write(&b, costs); err != nil {
		t.Fatal(err)
	}
	const want = `kind                point            cost of a visit  95% interval
function, emulated  func:plain       652 ns           611 to 700 ns
system call         syscall:getppid  252 ns           251 to 252 ns (range of 2)
`
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", &b, want)
	}
}

func TestWriteSource(t *testing.T) {
	var b strings.Builder
	if err := writeSource(&b, []figure{{"a visit", "ns", spread.Of([]float64{2.3, 2.4}), 2}}); err != nil {
		t.Fatal(err)
	}
	const want = `point in the source  measured  95% interval                  target
a visit              2.35 ns   2.30 to 2.40 ns (range of 2)  <= 2 ns
`
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", &b, want)
	}
}

// TestSmoke measures for a few seconds, with limits that hold on a busy machine, too. The counts must be exact on every
// machine.
func TestSmoke(t *testing.T) {
	r := rigtest.Open(t)
	s := study{rig: r, rounds: 2, seconds: 0.1}
	if testing.Short() {
		s.rounds = 1
	}
	costs, err := s.measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const low, high = -5e3, 200e3 // ns
	for _, c := range costs {
		if !(c.ns.Median > low && c.ns.Median < high) {
			t.Errorf("%s: a visit costs %.0f ns", c.name, c.ns.Median)
		}
	}
	if t.Failed() {
		_ = write(t.Output(), costs)
	}
	if testing.Short() {
		return // the rest does not depend on the kernel
	}
	figures, err := s.measureSource(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range figures {
		// The machine may be ten times faster from one run to the next.
		if !(f.value.Median > -10000 && f.value.Median < 1000) {
			t.Errorf("%s: %v %s", f.name, f.value.Median, f.unit)
		}
	}
}
