package test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"whatif/internal/profile"
	"whatif/internal/testing/realkernel"
)

// What is known of an address does not outlive the library that was there.
func TestLibrarySwapped(t *testing.T) {
	realkernel.NeedBeside(t)
	const source = "testdata/swaplib.c"
	first := realkernel.Compile(t, source, "-shared", "-fPIC", "-DFIRST")
	second := realkernel.Compile(t, source, "-shared", "-fPIC")
	program := realkernel.Compile(t, "testdata/swap.c", "-ldl")
	data, said := profiled(t, []string{"-p", "func:visited", "-s", "0", "--period", "1ms"},
		[]string{program, first, second, "0.7"}, 0)
	if said != "same 1\n" {
		t.Skipf("the second library was loaded elsewhere: %q", said)
	}
	samples := make(map[int]int64) // by line
	for _, e := range data.Experiments {
		for id, n := range e.UnitSamples {
			if u := data.Units[id]; filepath.Base(u.File) == "swaplib.c" {
				samples[u.Line] += n
			}
		}
	}
	one, other := samples[realkernel.Line(t, source, "/* FIRST */")], samples[realkernel.Line(t, source, "/* SECOND */")]
	// The second one runs three times as long, and what is known holds for a second.
	if one == 0 || 3*other < one {
		t.Errorf("%d samples in the first library, %d in the second", one, other)
	}
}

// A point and a target may be in a library that is loaded while the program runs. The user is told of one that never
// comes.
func TestLibraryLoadedLater(t *testing.T) {
	realkernel.NeedSession(t)
	const source = "testdata/swaplib.c"
	library := realkernel.Compile(t, source, "-shared", "-fPIC")
	program := realkernel.Compile(t, "testdata/swap.c", "-ldl")
	data, _ := profiled(t,
		[]string{"-p", "func:work", "-t", "func:work", "-t", "func:nowhere", "-s", "0,50", "--experiment", "50ms"},
		[]string{program, library, library, "0.3"}, 0)
	sped, visits := 0, uint64(0)
	for _, e := range data.Experiments {
		if data.Units[e.Unit].Name == "work" && e.Speedup == 50 {
			sped++
		}
		for _, p := range e.Points {
			visits += uint64(p.Count)
		}
	}
	if sped == 0 || visits < 1000 {
		t.Errorf("%d experiments with the function, %d visits of it", sped, visits)
	}
	missed := slices.ContainsFunc(data.Warnings, func(w profile.Warning) bool {
		return w.Code == "target-nowhere" && strings.Contains(w.Text, "func:nowhere")
	})
	ofWork := func(w profile.Warning) bool { return strings.Contains(w.Text, "func:work") }
	if !missed || slices.ContainsFunc(data.Warnings, ofWork) {
		t.Errorf("warnings: %v", data.Warnings)
	}
}
