package test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"whatif/internal/profile"
	"whatif/internal/testing/realkernel"
)

// tooEarly is how many samples were not given to all of their code, because it was new. Their number depends on how
// fast the machine reads the program's tables, so no function's share can include them. More than a fifth is too many.
func tooEarly(t *testing.T, data *profile.Data) (lost int64) {
	t.Helper()
	var all int64
	for i := range data.Experiments {
		e := &data.Experiments[i]
		all += e.Samples
		lost += e.Losses[profile.LossPlace] + e.Losses[profile.LossTable]
	}
	if 5*lost > all {
		t.Errorf("%d of %d samples came too early to be given to any code", lost, all)
	}
	return lost
}

// shares profiles a program for some time, without speed-ups. It gives the units' percentages of all samples, by name,
// with "self " before a function's own code; and the percentage of the samples that came too early.
func shares(t *testing.T, program string, over time.Duration, flags ...string) (got map[string]float64, early float64) {
	t.Helper()
	point := "func:visited"
	if strings.HasSuffix(program, "gocallers") {
		point = "func:main.visited"
	}
	flags = append([]string{"-p", point, "-s", "0", "--period", "250us", "-d", over.String()}, flags...)
	data, _ := profiled(t, flags, []string{program}, terminated)
	lost := tooEarly(t, data)
	var all int64
	got = map[string]float64{}
	for i := range data.Experiments {
		e := &data.Experiments[i]
		all += e.Samples
		for id, n := range e.UnitSamples {
			u := data.Units[id]
			if u.Self {
				u.Name = "self " + u.Name
			}
			got[u.Name] += float64(n)
		}
	}
	if all < over.Milliseconds() { // a quarter of what a core has
		t.Fatalf("%d samples", all)
	}
	for name := range got {
		got[name] *= 100 / float64(all)
	}
	return got, 100 * float64(lost) / float64(all)
}

// sharesAre checks shares. Those that are not expected must be small. Samples that came too early may be missing.
func sharesAre(t *testing.T, want map[string]float64, program string, over time.Duration, flags ...string) {
	t.Helper()
	got, early := shares(t, program, over, flags...)
	text := ""
	for _, name := range slices.Sorted(maps.Keys(got)) {
		text += fmt.Sprintf("  %s %.1f", name, got[name])
		if _, expected := want[name]; !expected && got[name] > 3 {
			t.Errorf("%s has %.1f%%", name, got[name])
		}
	}
	t.Log(text)
	for name, percent := range want {
		if got[name] < percent-3-early || got[name] > percent+3 {
			t.Errorf("%s has %.1f%%, not %.1f; %.1f came too early", name, got[name], percent, early)
		}
	}
}

func TestWholeStacks(t *testing.T) {
	realkernel.NeedQuiet(t)
	const source = "testdata/callers.c"
	c := filepath.Join(t.TempDir(), "callers")
	made(t, "gcc", "-O2", "-g", "-Wall", "-fomit-frame-pointer", "-o", c, source)
	at := func(mark string) string { return fmt.Sprintf("callers.c:%d", realkernel.Line(t, source, "// "+mark)) }
	work, again, inlined := at("WORK"), at("AGAIN"), at("INLINED")
	for name, test := range map[string]struct {
		flags []string
		want  map[string]float64
	}{
		"functions": {[]string{"-u", "func"}, map[string]float64{
			"main": 100, "a": 40, "b": 20, "middle": 20, "work": 60, "rest": 40, "inlined": 30, "again": 10}},
		"own code": {[]string{"-u", "func-self"}, map[string]float64{
			"self work": 60, "self inlined": 30, "self again": 10}},
		// Code in no target belongs to its line.
		"one function": {[]string{"-t", "func:rest"}, map[string]float64{"rest": 40, work: 60}},
		"its own code": {[]string{"-t", "func-self:rest"}, map[string]float64{work: 60, inlined: 30, again: 10}},
		"inlined": {[]string{"-t", "func-self:inlined", "-u", "func-self"}, map[string]float64{
			"self inlined": 30, "self work": 60, "self again": 10}},
		"path": {[]string{"-t", "work<a"}, map[string]float64{"work<a": 40, work: 20, inlined: 30, again: 10}},
		"paths": {[]string{"-t", "work<a", "-t", "work<b"},
			map[string]float64{"work<a": 40, "work<b": 20, inlined: 30, again: 10}},
		"long path": {[]string{"-t", "work<middle<b<main"},
			map[string]float64{"work<middle<b<main": 20, work: 40, inlined: 30, again: 10}},
		"wrong order": {[]string{"-t", "work<b<middle"}, map[string]float64{work: 60, inlined: 30, again: 10}},
		"line":        {[]string{"-t", work + "<b"}, map[string]float64{work + "<b": 20, work: 40, inlined: 30, again: 10}},
		"line of call": {[]string{"-t", "work<" + at("CALL")},
			map[string]float64{"work<" + at("CALL"): 40, work: 20, inlined: 30, again: 10}},
		"recursion": {[]string{"-t", "again<again"},
			map[string]float64{"again<again": 7.5, again: 2.5, work: 60, inlined: 30}},
		"inlined path": {[]string{"-t", "inlined<rest"}, map[string]float64{"inlined<rest": 30, work: 60, again: 10}},
		"all of it": {[]string{"-t", "func:work", "-t", "work<a", "-t", "func-self:again", "-t", inlined}, map[string]float64{
			"work": 60, "work<a": 40, "self again": 10, inlined: 30}},
		"with functions": {[]string{"-u", "func", "-t", "work<b"}, map[string]float64{
			"work<b": 20, "main": 100, "a": 40, "b": 20, "middle": 20, "work": 60, "rest": 40, "inlined": 30, "again": 10}},
		"out of scope": {[]string{"-u", "func", "--exclude", "func:work", "--exclude", "func:main"}, map[string]float64{
			"a": 40, "b": 20, "middle": 20, "rest": 40, "inlined": 30, "again": 10}},
	} {
		if testing.Short() && !slices.Contains([]string{"functions", "recursion", "all of it"}, name) {
			continue
		}
		t.Run(name, func(t *testing.T) { sharesAre(t, test.want, c, 1400*time.Millisecond, test.flags...) })
	}
}

func TestWholeStacksOfOtherLanguages(t *testing.T) {
	realkernel.NeedWhole(t)
	const over = 2 * time.Second
	dir := t.TempDir()
	cc, golang := filepath.Join(dir, "callers"), filepath.Join(dir, "gocallers")
	made(t, "g++", "-O2", "-g", "-std=c++20", "-fomit-frame-pointer", "-o", cc, "testdata/callers.cc")
	made(t, "go", "build", "-o", golang, "./testdata/gocallers")
	t.Run("c++", func(t *testing.T) {
		sharesAre(t, map[string]float64{
			"main": 100, "work": 100, "twice<int>": 30, "twice<long>": 20, "less": 30, "Thing::operator<": 50,
		}, cc, over, "-u", "func")
	})
	t.Run("c++ paths", func(t *testing.T) {
		paths := []string{"work<twice<int>", "work<Thing::operator<", "Thing::operator<<less",
			"Thing::operator<(Thing const&) const<main", "twice<long><main"}
		var flags []string
		for _, p := range paths {
			flags = append(flags, "-t", p)
		}
		want := map[string]float64{paths[0]: 30, paths[1]: 50, paths[2]: 30, paths[3]: 50, paths[4]: 20}
		sharesAre(t, want, cc, over, flags...)
	})
	t.Run("go", func(t *testing.T) {
		sharesAre(t, map[string]float64{
			"main.main": 100, "main.mix": 90, "main.(*shop).put": 60, "main.(*shop).through": 60, "main.(*shop).get": 30,
			"main.small": 10,
		}, golang, over, "-u", "func")
		sharesAre(t, map[string]float64{
			"main.mix<main.(*shop).put": 60, "self main.mix": 30, "self main.small": 10,
		}, golang, over, "-u", "func-self", "-t", "main.mix<main.(*shop).put", "-t", "func-self:main.small")
	})
}
