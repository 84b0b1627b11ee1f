package main

import (
	"math"
	"strings"
	"testing"
	"time"

	"whatif/accuracy/internal/rig/rigtest"
	devicefile "whatif/internal/device"
)

func TestCommandLine(t *testing.T) {
	for _, args := range [][]string{{"-rounds", "1"}, {"lu_net"}, {"-seconds", "0"}, {"-record", "1ms"}, {"-tries", "0"},
		{"-no"}, {"-again", "1"}} {
		var words strings.Builder
		if status := run(t.Context(), &words, &words, args); status != 2 {
			t.Errorf("%v: status %d, want 2", args, status)
		}
	}
}

// Each device has a target, an own row, and a program that is asked for what it does.
func TestDevices(t *testing.T) {
	s := &study{rig: rigtest.Open(t)}
	seen := map[string]bool{}
	for i := range devices {
		d := &devices[i]
		if seen[d.name()] {
			t.Errorf("two rows are %s", d.name())
		}
		seen[d.name()] = true
		if _, _, err := s.target(d); err != nil {
			t.Error(err)
		}
	}
	on := machine{cpu: 0.43, net: 0.18}
	if on.word() != "cpu=0.43,net=0.18" || strings.Join(on.variables(), " ") != "ON_CPU=0.43 ON_NET=0.18" {
		t.Errorf("%s, %v", on.word(), on.variables())
	}
	if bytesOf(200) != 25000 {
		t.Errorf("200 Mbit/s transfer %d bytes in a millisecond", bytesOf(200))
	}
}

func TestWrite(t *testing.T) {
	four := func(gains ...float64) (all []estimate) {
		for _, g := range gains {
			all = append(all, estimate{g, g - 2, g + 2})
		}
		return all
	}
	rows := []row{
		{device: &devices[2], truth: four(25, 50, 67, 67), there: four(25, 50, 69, 69),
			tested: four(25, 53, 68, 70), here: four(25, 48, 48, 48)},
		{device: &devices[4], truth: four(0, 0, 0, 0), refused: "too few visits"},
	}
	var b strings.Builder
	if err := write(&b, rows); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"lu_net cpu=0.4", "25/50/67/67", "25/50/69/69", "1.0", "4/4", "25/48/48/48",
		"refused: too few visits", "25/53/68/70  1.8", "by experiments: mean error 1.8 points",
		"mean error 1.0 points, at most 1.0; without --device 10.0"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if !math.IsNaN(rows[1].errorOf(rows[1].there)) {
		t.Error("an error without an answer")
	}
}

// A level that is not known does not count.
func TestChosen(t *testing.T) {
	found := chosen([]level{{25, 20, nil}, {30, 1, nil}, {100, 70, &[2]float64{60, 80}}})
	r := row{truth: []estimate{{25, 24, 26}, {50, 49, 51}, {60, 59, 61}, {65, 64, 66}}}
	if got := gains(found); got != "20/–/–/70" || r.errorOf(found) != 5 || r.within(found) != 2 {
		t.Errorf("%s, error %.1f, %d within", got, r.errorOf(found), r.within(found))
	}
	if chosen([]level{{30, 1, nil}}) != nil {
		t.Error("levels that are not compared are an answer")
	}
}

// Two measurements may differ by 5%, or by what they say.
func TestAgain(t *testing.T) {
	factors := func(ratio, spread float64) []*devicefile.Factors {
		return []*devicefile.Factors{{Classes: []devicefile.Factor{{Class: devicefile.CPU, Ratio: ratio, Spread: spread}}}}
	}
	for _, c := range []struct {
		ratio, spread float64
		wrong         bool
	}{{1.04, 0.01, false}, {0.97, 0.01, false}, {1.07, 0.01, true}, {0.93, 0.01, true}, {1.2, 0.3, false},
		{0.7, 0.3, true}} {
		var b strings.Builder
		if err := writeAgain(&b, factors(c.ratio, c.spread)); (err != nil) != c.wrong {
			t.Errorf("%+v: %v\n%s", c, err, b.String())
		}
	}
}

// A run that others disturb is repeated, and the least disturbed one counts.
func TestUndisturbed(t *testing.T) {
	calls := 0
	value, foreign, err := undisturbed(3, func() (int, error) { calls++; return calls, nil })
	if err != nil || value < 1 || value > calls || foreign < 0 {
		t.Errorf("run %d of %d with %v: %v", value, calls, foreign, err)
	}
	ns := func(s float64) time.Duration { return time.Duration(s * 1e9) }
	at := time.Unix(1, 0)
	if got := foreignShare(usage{at, ns(10), ns(1)}, usage{at.Add(ns(1)), ns(11.5), ns(2)}, 2); got != 0.25 {
		t.Errorf("others used %v", got)
	}
	if d, err := busy("cpu  100 20 30 9999 7 5 5 40 0 0\ncpu0 1\n"); err != nil || d != ns(2) {
		t.Errorf("busy for %v: %v", d, err)
	}
	if _, err := busy("cpu 1 2"); err == nil {
		t.Error("a short line has no error")
	}
}
