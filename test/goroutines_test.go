package test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"whatif/internal/analyze"
	"whatif/internal/ledger"
	"whatif/internal/profile"
	"whatif/internal/testing/noise"
	"whatif/internal/testing/realkernel"
)

func buildGoSleep(t *testing.T, flags string) string {
	return buildGo(t, "./testdata/gosleep", flags)
}

// buildGo compiles a program in Go, once for all tests.
func buildGo(t *testing.T, source, flags string) string {
	t.Helper()
	name := filepath.Base(source)
	program, err := realkernel.Built(t.TempDir(), name, "", "go", "build", flags, "-o", name, source)
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// A goroutine's sleep counts for the line that it sleeps in. Several that sleep in one line at once earn once. Nothing
// is left of those that sleep when the program ends.
func TestGoroutinesSleep(t *testing.T) {
	realkernel.NeedQuiet(t) // on a busy machine those that sleep together wake one after the other, and earn more
	const source = "testdata/gosleep/main.go"
	line := func(mark string) string {
		return fmt.Sprintf("main.go:%d", realkernel.Line(t, source, "/* "+mark+" */"))
	}
	const rounds, each = 200, 4 * time.Millisecond
	for _, flags := range []string{"-ldflags=", "-ldflags=-s -w"} {
		if testing.Short() && flags == "-ldflags=" {
			continue // the harder of the two
		}
		program := buildGoSleep(t, flags)
		data, _ := profiled(t,
			[]string{"-p", "func:main.done", "-t", line("ONE"), "-t", line("MANY"), "-t", line("NONE"), "-s", "50"},
			[]string{program, fmt.Sprint(rounds)}, 0)
		slept := make(map[string]time.Duration)
		for _, e := range data.Experiments {
			for id, classes := range e.UnitWaitedNS {
				for class, ns := range classes {
					slept[data.Units[id].Name+" "+class] += time.Duration(ns)
				}
			}
			if e.Unit == 0 || data.Units[e.Unit].Name != line("MANY") {
				continue
			}
			if e.DelayNS > e.RealNS*3/4 {
				t.Errorf("%q: experiment %d: G grew by %v in %v: several sleeping goroutines earn once", flags, e.Index,
					time.Duration(e.DelayNS), time.Duration(e.RealNS))
			}
		}
		one, many := slept[line("ONE")+" sleep"], slept[line("MANY")+" sleep"]
		if one < rounds*each/2 {
			t.Errorf("%q: slept %v in %s, expected about %v", flags, one, line("ONE"), rounds*each)
		}
		if many < 4*one {
			t.Errorf("%q: eight goroutines slept %v in %s, one %v", flags, many, line("MANY"), one)
		}
		if none := slept[line("NONE")+" sleep"]; none != 0 {
			t.Errorf("%q: slept %v in %s, which does not", flags, none, line("NONE"))
		}
		if n := data.End.Losses[ledger.WaitsLeft]; n != 0 {
			t.Errorf("%q: %d waits never ended", flags, n)
		}
	}
}

// Two goroutines that meet change threads each time. If accounts went with the threads and not with the goroutines,
// nothing would keep the goroutine that would be first from going on. The other one's work would seem to be worth all
// of itself: 62 at 100%, where 33 to 37 are true.
func TestGoroutinesMeet(t *testing.T) {
	realkernel.NeedWhole(t)
	source := form(t, "go_meet/main.go")
	program := buildGo(t, filepath.Dir(source), "-ldflags=")
	line := fmt.Sprintf("main.go:%d", realkernel.Line(t, source, "// TARGET"))
	realkernel.Judge(t, func() ([]noise.Figure, float64) {
		truth, half := realkernel.Truth(t, program, 100)
		flags := []string{"-p", "func:main.progressDone", "-t", line, "-s", "0,100"}
		data, _ := profiled(t, flags, []string{program, "0", "6"}, 0)
		f := predicted(t, analyze.Analyze([]*profile.Data{data}, analyze.Options{}), line, 100, truth)
		f.Half = math.Hypot(f.Half, half)
		return []noise.Figure{f}, realkernel.ForeignShare(data)
	})
}

// A goroutine that sleeps by the clock and hands out a job is delayed as a thread is, once. If it is not delayed, code
// that is worth nothing seems to be worth 8 to 12. If its thread is delayed as well, as latencies are measured, jobs
// come less often.
func TestGoroutinesAreDelayed(t *testing.T) {
	realkernel.NeedWhole(t)
	source := form(t, "go_timed_jobs/main.go")
	program := buildGo(t, filepath.Dir(source), "-ldflags=")
	line := fmt.Sprintf("main.go:%d", realkernel.Line(t, source, "// TARGET"))
	for _, args := range [][]string{nil, {"-l", "job=func:main.compute..func:main.progressDone"}} {
		args = append([]string{"-p", "func:main.progressDone", "-t", line, "-s", "0,100"}, args...)
		t.Log(args)
		realkernel.Judge(t, func() ([]noise.Figure, float64) {
			// In the first second whatif finds out that a goroutine is periodic. No job comes earlier.
			f, foreign := gainAfter(t, time.Second, func() *profile.Data {
				data, _ := profiled(t, args, []string{program, "0", "4"}, 0)
				return data
			})
			f.Low, f.High = -8, 4
			return []noise.Figure{f}, foreign
		})
	}
}

// A goroutine that waited for the clock is not delayed while another goroutine wants the processor that it has been
// given. Otherwise the other one would stand still, and code that keeps it from running would seem to be worth nothing
// (-4 to -1 at 100%, where some 30 to 40 are true).
func TestGoroutinesShareProcessor(t *testing.T) {
	realkernel.NeedWhole(t)
	source := form(t, "go_one_processor/main.go")
	program := buildGo(t, filepath.Dir(source), "-ldflags=")
	line := fmt.Sprintf("main.go:%d", realkernel.Line(t, source, "// TARGET"))
	args := []string{"-p", "func:main.progressDone", "-t", line, "-s", "0,100"}
	judgeTruth(t, time.Second, 9, 9, program, func() *profile.Data {
		data, _ := profiled(t, args, []string{program, "0", "4"}, 0)
		return data
	})
}

// Goroutines that wait all the time are not followed for long: that would slow the program.
func TestGoroutinesTooOften(t *testing.T) {
	realkernel.NeedQuiet(t)
	data, _ := profiled(t, []string{"-p", "func:main.done"}, []string{buildGo(t, "./testdata/gopingpong", "-ldflags=")}, 0)
	if !slices.ContainsFunc(data.Warnings, func(w profile.Warning) bool { return w.Code == "goroutines" }) {
		t.Errorf("not said: %v", data.Warnings)
	}
	var rates []float64
	for _, e := range data.Experiments {
		if e.IsBaseline() && len(e.Points) == 1 {
			rates = append(rates, float64(e.Points[0].Count)/time.Duration(e.RealNS).Seconds())
		}
	}
	t.Logf("rates of baselines: %.0f", rates)
	if len(rates) == 0 {
		t.Fatal("no baseline")
	}
	// While goroutines are followed, the rate is a tenth of what it is without.
	if last := rates[len(rates)-1]; last < slices.Max(rates)/2 {
		t.Errorf("%.0f visits in a second at the end: it is slowed", last)
	}
}
