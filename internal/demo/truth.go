package demo

import (
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
)

// Point is the demo's progress point, in the form that -p takes.
func Point() string { return "func:" + nameOf(RoundDone) }

// A Line is a line of the demo, with the truth about it.
type Line struct {
	Name   string // in the form of reports: work.go:27
	File   string // in the form of the debug information
	Number int
	Func   string
	What   string // the truth in words

	units float64
	round func(units float64) float64 // the length of a round if the line takes so many units
}

// Gain is the program's gain in percent if the line is faster by speedup percent: 1 - p_s/p_0, where the period is a
// round.
func (l Line) Gain(speedup float64) float64 {
	return 100 * (1 - l.round(l.units*(1-speedup/100))/l.round(l.units))
}

// Truth lists the lines with the gains that whatif should find. The gains follow from the proportions of the work
// alone. The hand-overs between the threads, up to 1% of a round, are left out.
func Truth() []Line {
	return truth(runtime.NumCPU() > 1)
}

// truth is Truth for a machine with several CPUs (parallel) or one. On one CPU the workers run one after the other, so
// all work counts.
func truth(parallel bool) []Line {
	round := func(a, b, c float64) float64 {
		if parallel {
			return max(a, b) + c
		}
		return a + b + c
	}
	lines := []Line{
		newLine(workA, unitsA, "helps until it is as short as B, then no more",
			func(a float64) float64 { return round(a, unitsB, unitsC) }),
		newLine(workB, unitsB, "hot, but nobody waits for it: helps nothing",
			func(b float64) float64 { return round(unitsA, b, unitsC) }),
		newLine(workC, unitsC, "runs alone: helps in proportion",
			func(c float64) float64 { return round(unitsA, unitsB, c) }),
	}
	if !parallel {
		for i := range lines {
			lines[i].What = "on a single CPU everything helps in proportion"
		}
	}
	return lines
}

func newLine(work func(int, uint64) uint64, units float64, what string, round func(float64) float64) Line {
	f := runtime.FuncForPC(reflect.ValueOf(work).Pointer())
	file, line := lineOf(f)
	return Line{
		Name: fmt.Sprintf("%s:%d", filepath.Base(file), line), File: file, Number: line,
		Func: f.Name(), What: what, units: units, round: round,
	}
}

// lineOf finds the line to which most of a function's code belongs.
func lineOf(f *runtime.Func) (file string, line int) {
	size := make(map[int]int)
	for pc := f.Entry(); runtime.FuncForPC(pc) == f; pc++ {
		name, at := f.FileLine(pc)
		size[at]++
		if size[at] > size[line] { // the padding after the function has no file, and is short
			file, line = name, at
		}
	}
	return file, line
}

func nameOf(f func()) string {
	return strings.TrimSuffix(runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name(), "-fm")
}
