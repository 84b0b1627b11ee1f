package main

import (
	"slices"
	"strings"
	"testing"

	"whatif/accuracy/internal/rig"
	"whatif/accuracy/internal/rig/rigtest"
	"whatif/internal/profile"
)

func TestChoose(t *testing.T) {
	chosen, err := choose("forks, live")
	if err != nil || len(chosen) != 2 || chosen[0].name != "live" {
		t.Errorf("choose(forks, live) = %v, %v", chosen, err)
	}
	if _, err := choose("fork"); err == nil {
		t.Error("choose(fork): no error")
	}
	for _, args := range [][]string{{"-seconds", "0"}, {"forks"}, {"-only", "fork"}, {"-no"}} {
		var words strings.Builder
		if status := run(t.Context(), &words, &words, args); status != 2 {
			t.Errorf("%v: status %d, want 2", args, status)
		}
	}
}

// made makes a result like that of a run.
func made(l load, own, counted int64, units map[uint32]profile.Unit) *result {
	said := rig.Said{"visits": float64(own), "seconds": 1, "layouts": 7}
	data := &profile.Data{
		Units: units,
		Experiments: []profile.Experiment{
			{RealNS: 100, DelayNS: 10, Samples: 4, UnitSamples: map[uint32]int64{1: 3}},
		},
		End: &profile.End{Visits: []int64{counted}, Losses: map[string]int64{"stacks not readable": 2}},
	}
	profiled := &rig.Profiled{Said: said, Data: data}
	return &result{load: &l, target: 12, bare: &rig.Bare{Said: said}, profiled: profiled}
}

func TestCheck(t *testing.T) {
	line := profile.Unit{ID: 1, Kind: "line", Name: "execs.c:12", File: "/src/execs.c", Line: 12, Func: "child"}
	other := line
	other.Name, other.Line = "execs.c:30", 30
	plain, layouts := load{name: "forks"}, load{name: "execs", source: "execs.c", layouts: true}
	for _, test := range []struct {
		result *result
		wrong  string // part of the error
	}{
		{made(plain, 5, 5, nil), ""},
		{made(plain, 5, 4, nil), "whatif counted 4 visits, the program 5"},
		{made(plain, 5, 5, map[uint32]profile.Unit{1: line, 2: other}), ""},
		{made(plain, 5, 5, map[uint32]profile.Unit{1: line, 2: line}), "units 1 and 2 are both execs.c:12"},
		{made(layouts, 5, 5, map[uint32]profile.Unit{1: line, 2: other}), ""},
		{made(layouts, 5, 5, map[uint32]profile.Unit{2: other}), "is 0 units, want 1"},
	} {
		err := test.result.check()
		if test.wrong == "" && err != nil || test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong)) {
			t.Errorf("check of %+v: %v, want %q", test.result.profiled.Data, err, test.wrong)
		}
	}
	noEnd := made(plain, 5, 5, nil)
	noEnd.profiled.Data.End = nil
	if noEnd.check() == nil {
		t.Error("a run without an end: no error")
	}
}

func TestWrite(t *testing.T) {
	var text strings.Builder
	l := load{name: "execs", what: "execs", source: "execs.c", rate: 10, visits: 2, layouts: true}
	units := map[uint32]profile.Unit{1: {ID: 1, Name: "execs.c:12", File: "execs.c", Line: 12}}
	if err := write(&text, []result{*made(l, 20, 20, units)}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"10/s", "20 / 20 exact", "4 samples; delays inserted: 10.0% of the time; 7 load addresses",
		"with 75% of the samples", "lost: 2 stacks not readable",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}

// TestSmoke runs every load under whatif for a moment, and with -short one of each kind. The counts must be exact on
// every machine; rates are not judged.
func TestSmoke(t *testing.T) {
	r := rigtest.Open(t)
	for _, l := range loads {
		if testing.Short() && !slices.Contains([]string{"threads_flood", "live", "vforks", "orphans"}, l.name) {
			continue
		}
		t.Run(l.name, func(t *testing.T) {
			if l.name == "live" {
				l.rate = 2000
			}
			command, err := l.command(t.Context(), r, 0.5)
			if err != nil {
				t.Fatal(err)
			}
			result, err := l.profile(t.Context(), r, command)
			if err != nil {
				t.Fatal(err)
			}
			if err := result.check(); err != nil {
				t.Error(err)
			}
		})
	}
}
