package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"whatif/accuracy/internal/rig"
	"whatif/accuracy/internal/rig/rigtest"
)

// made makes a unit with an estimate at 100% of gain ± half, and half of both at 50%.
func made(line int, share, gain, half float64) unit {
	level := func(speedup, part float64) rig.ReportLevel {
		return rig.ReportLevel{Speedup: speedup, Gain: part * gain, CI: []float64{part * (gain - half), part * (gain + half)}}
	}
	return unit{
		target: rig.ReportTarget{Unit: "line", Name: fmt.Sprintf("a.c:%d", line), File: "/src/a.c", Line: line, Share: share},
		point:  rig.ReportPoint{Estimate: []rig.ReportLevel{level(50, 0.5), level(100, 1)}},
		built:  &built{name: "made"},
	}
}

// A draw has no unit twice, keeps to the numbers, takes others where one group is too small, and large shares often.
func TestDraw(t *testing.T) {
	var all []unit
	for i := range 40 {
		share := 0.6
		if i < 4 {
			share = 5
		} else if i < 10 {
			share = 2.4
		}
		all = append(all, made(i+1, share, share, 0.1))
	}
	all = append(all, made(41, 0.4, 0.4, 0.1), unit{target: rig.ReportTarget{Unit: "wait", Name: "wait:disk", Share: 50}})
	drawnBig := 0
	const draws = 200
	for seed := range uint64(draws) {
		drawn := draw(all, 12, 6, rand.New(rand.NewPCG(seed, 0)))
		seen := map[int]bool{}
		large := 0
		for _, u := range drawn {
			if seen[u.target.Line] || u.target.Unit != "line" || u.target.Share < leastShare {
				t.Fatalf("seed %d: %s twice, no line, or too small", seed, u.target.Name)
			}
			seen[u.target.Line] = true
			switch {
			case u.target.Share >= largeShare:
				large++
			case u.target.Share == 2.4:
				drawnBig++
			}
		}
		if len(drawn) != 12 || large != 4 { // there are only four
			t.Fatalf("seed %d: %d units, %d of them large", seed, len(drawn), large)
		}
	}
	// Eight of the six with 2.4% and the thirty with 0.6%: weights of 14.4 and 18.
	if mean := float64(drawnBig) / draws; mean < 2.8 || mean > 4.2 {
		t.Errorf("%.2f of 8 units have 2.4%%: not by share", mean)
	}
	one, two := draw(all, 12, 6, rand.New(rand.NewPCG(7, 0))), draw(all, 12, 6, rand.New(rand.NewPCG(7, 0)))
	for i := range one {
		if one[i].target.Name != two[i].target.Name {
			t.Error("the same seed draws other units")
		}
	}
	if few := draw(all[:3], 12, 6, rand.New(rand.NewPCG(7, 0))); len(few) != 3 {
		t.Errorf("%d of three units", len(few))
	}
}

func TestCoverage(t *testing.T) {
	refused := unit{target: rig.ReportTarget{Share: 3}, point: rig.ReportPoint{Refused: "it polls"}}
	c := coverageOf([]unit{made(1, 50, 50, 9.9), made(2, 40, 30, 8.1), made(3, 2, 1, 1), refused})
	if c.narrow != 52 || c.wide != 40 || c.refused != 3 || c.small != 5 {
		t.Errorf("%+v", c)
	}
	line, held := c.verdict("made", 150)
	if held || !strings.Contains(line, "missed by 38.0") || !strings.Contains(line, "a.c:2 (40.0%) has ±8.1") ||
		!strings.Contains(line, "it polls") {
		t.Error(line)
	}
	c = coverageOf([]unit{made(1, 92, 50, 9)})
	if line, held := c.verdict("made", 150); !held || !strings.Contains(line, "held") {
		t.Error(line)
	}
	if line, held := c.verdict("made", 99); held || !strings.Contains(line, "100 units are needed") {
		t.Error(line)
	}
}

func TestAgreement(t *testing.T) {
	var tested []unit
	for i := range 30 {
		u := made(i+1, 10, 10, 1)
		u.tested = made(i+1, 10, 10, 2).point
		u.tested.Curve, u.tested.Estimate = u.tested.Estimate, nil
		tested = append(tested, u)
	}
	tested[0].tested.Curve = nil // experiments gave nothing
	tested[1].tested.Curve = made(2, 10, 20, 2).point.Estimate
	if off := tested[1].off(); math.Abs(off-7.5) > 1e-9 { // 5 and 10
		t.Errorf("off by %g", off)
	}
	if line, held := agreement(tested); !held || !strings.Contains(line, "28 of 30") || !strings.Contains(line, "7.5") {
		t.Error(line)
	}
	tested[2].tested.Curve = nil
	if line, held := agreement(tested); held || !strings.Contains(line, "missed by 1") {
		t.Error(line)
	}
	var table strings.Builder
	if err := write(&table, tested[:3]); err != nil || !strings.Contains(table.String(), "5.0/10.0") ||
		!strings.Contains(table.String(), "?/?") {
		t.Errorf("%v\n%s", err, table.String())
	}
}

func TestOptions(t *testing.T) {
	o, err := parseOptions(io.Discard, []string{"-only", "pbzip2, sqlite", "-units", "4", "-seconds", "5s"})
	if err != nil || len(o.chosen) != 2 || o.chosen[0].name != "pbzip2" || o.large != 4 || o.seed == 0 {
		t.Errorf("%+v, %v", o, err)
	}
	for _, wrong := range [][]string{{"-only", "zip"}, {"-units", "-1"}, {"-record", "1s"}, {"-seconds", "0"}, {"more"}} {
		if _, err := parseOptions(io.Discard, wrong); err == nil {
			t.Errorf("%v: taken", wrong)
		}
	}
}

func TestAgain(t *testing.T) {
	got := make([]byte, 10)
	if _, err := io.ReadFull(&again{text: []byte("abc")}, got); err != nil || string(got) != "abcabcabca" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestSmoke records a program of the suite for a moment: its two lines have nearly all of the time. Where other
// programs use the machine there may be no estimates.
func TestSmoke(t *testing.T) {
	r := rigtest.Open(t)
	program, err := r.Compile(t.Context(), "programs/independent/independent.c")
	if err != nil {
		t.Fatal(err)
	}
	s := study{rig: r, record: 1500 * time.Millisecond, progress: io.Discard}
	b := &built{name: "independent", command: []string{program, "0", "1000"}, point: "func:progress_done"}
	units, seen, err := s.recorded(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	c := coverageOf(units)
	line, _ := c.verdict(b.name, seen)
	t.Log(line)
	first := &units[0].target
	if c.narrow+c.wide+c.refused < 90 || seen < 2 || filepath.Base(first.File) != "independent.c" || first.Spec() == "" {
		t.Errorf("%+v", units)
	}
}
