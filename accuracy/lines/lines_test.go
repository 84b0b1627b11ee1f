package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"whatif/accuracy/internal/rig"
	"whatif/accuracy/internal/rig/rigtest"
	"whatif/internal/profile"
)

func TestCommandLine(t *testing.T) {
	for _, args := range [][]string{{"-seconds", "0"}, {"-seconds", "NaN"}, {"-seconds", "60"}, {"all"}, {"-no"}} {
		var words strings.Builder
		if status := run(t.Context(), &words, &words, args); status != 2 {
			t.Errorf("%v: status %d, want 2", args, status)
		}
	}
}

// example is a run in which line 4 has a tenth of the samples that belong to line 3, and line 9 another tenth.
func example(t *testing.T) *measured {
	t.Helper()
	s := study{lines: map[int]key{3: {"loops", "a"}, 4: {"loops", "b"}, 7: {"polls", "a"}}}
	data := &profile.Data{
		Units: map[uint32]profile.Unit{
			1: {Kind: "line", File: "jvm/Lines.java", Line: 3}, 2: {Kind: "line", File: "jvm/Lines.java", Line: 4},
			3: {Kind: "line", File: "jvm/Lines.java", Line: 7}, 4: {Kind: "line", File: "jvm/Lines.java", Line: 9},
			5: {Kind: "line", File: "jvm/Other.java", Line: 3}, 6: {Kind: "func", Name: "jvm.Lines.round"},
		},
		Experiments: []profile.Experiment{
			{Samples: 900, UnitSamples: map[uint32]int64{1: 300, 2: 200, 3: 300, 4: 100}},
			{Samples: 200, UnitSamples: map[uint32]int64{1: 20, 2: 30, 3: 50, 5: 70}},
		},
	}
	m, err := s.count(data, rig.Said{"loops.a": 4e6, "loops.b": 2e6, "polls.a": 4e6})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestOff(t *testing.T) {
	m := example(t)
	if all := m.all(); all.samples != 1000 || m.other != 100 || m.outside != 100 {
		t.Errorf("%+v", m)
	}
	for kind, want := range map[string]float64{"": 13, "loops": 8.48, "polls": 0} {
		s := m.all()
		if kind != "" {
			s = m.of(kind)
		}
		if off := s.off(); off < want-0.01 || off > want+0.01 {
			t.Errorf("%q: %.2f%% are off, want %.2f%%", kind, off, want)
		}
	}
	if off := (shares{lines: m.lines}).off(); off != 100 {
		t.Errorf("without samples %g%% are off", off)
	}
	if chance := m.all().byChance(); chance < 1.7 || chance > 1.8 {
		t.Errorf("by chance %g%%", chance)
	}
}

func TestWrite(t *testing.T) {
	var b strings.Builder
	m := example(t)
	if err := write(&b, m, m, &measured{lines: m.lines, other: 500, methods: 400}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"loops.b                20.00%  23.00%\n", "others of the program  0.00%   10.00%\n",
		"all                     1000     13.00%", "\nwithout the agent 400 of 1400 samples"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}

// TestMarks: the program and its lines name each other.
func TestMarks(t *testing.T) {
	text, err := os.ReadFile("../" + source)
	if err != nil {
		t.Fatal(err)
	}
	lines := markedLines(string(text))
	if len(lines) != 19 {
		t.Errorf("%d lines: %v", len(lines), lines)
	}
}

// TestShares measures for some seconds. So few samples are off by chance: twice of what is to be expected by that, and
// what a measurement that counts allows, may be off.
func TestShares(t *testing.T) {
	for _, tool := range []string{"java", "javac"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is not installed")
		}
	}
	s := study{rig: rigtest.Open(t), seconds: 2.5}
	if err := s.compile(t.Context()); err != nil {
		t.Fatal(err)
	}
	m, err := s.measure(t.Context(), "on")
	if err != nil {
		t.Fatal(err)
	}
	all := m.all()
	if most := mostOff + 2*all.byChance(); all.samples < 500 || all.off() > most {
		t.Errorf("%.1f%% of %d samples are on wrong lines, at most %.1f%% may be: %+v", all.off(), all.samples, most, m)
	}
}
