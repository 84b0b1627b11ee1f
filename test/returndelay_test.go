package test

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"
	"time"

	"whatif/internal/profile"
	"whatif/internal/testing/noise"
	"whatif/internal/testing/realkernel"
)

// mostForCounting is what ticks and probes take at most of the time of a thread that has a core: 20 to 35 µs of each ms
// on slow machines, and some visits.
const mostForCounting = 0.05

// A thread that sleeps by the clock waits for its debt when it wakes up, and comes to run less often by as much. In
// baselines that is little: the time that ticks and probes have taken from other threads meanwhile.
func TestSleepersAreDelayed(t *testing.T) {
	realkernel.NeedQuiet(t)
	const source = "testdata/openloop.c"
	program := realkernel.Compile(t, source)
	line := fmt.Sprintf("openloop.c:%d", realkernel.Line(t, source, "/* WORK */"))
	data, _ := profiled(t, []string{"-l", "r=func:made..func:done", "-t", line, "-s", "50", "-d", "2s", "--period", "1ms"},
		[]string{program}, 143)
	var held, real int64
	rate := 0.0 // visits a nanosecond, the most in any baseline
	for _, e := range data.Experiments {
		if e.IsBaseline() && e.SetAside != "ended early" {
			rate = max(rate, float64(e.Points[0].Count)/float64(e.RealNS))
			if share := float64(e.HeldNS) / float64(e.RealNS); share > mostForCounting {
				t.Errorf("experiment %d is a baseline, and held for %.1f%% of the time", e.Index, 100*share)
			}
		}
	}
	for _, e := range data.Experiments {
		if e.IsBaseline() || e.SetAside == "ended early" {
			continue
		}
		held, real = held+e.HeldNS, real+e.RealNS
		most := rate*float64(e.RealNS-e.HeldNS)*1.1 + 2
		t.Logf("%d visits, %.0f%% of the time held, at most %.0f expected", e.Points[0].Count,
			100*float64(e.HeldNS)/float64(e.RealNS), most)
		if float64(e.Points[0].Count) > most {
			t.Errorf("experiment %d: %d visits, at most %.0f were possible", e.Index, e.Points[0].Count, most)
		}
	}
	// It is half of the time, where no other thread wants the core.
	if held == 0 || held > real*6/10 {
		t.Errorf("held for %d of %d ns", held, real)
	}
}

// A thread cannot be delayed if a thread that works for it wants the same core, so it is ahead of virtual time: when a
// request that it hands out is taken from the queue, the request has not come yet. Half of the time is taken, so
// without 70% of it a request takes a quarter of the time, with the one or two that it waits for. A machine that has
// become slower since the program saw how long a request takes is busy for longer: at nine tenths it is an eighth.
// Where other programs take half of the core it is nearer to a half. Without wait_for_begin it is less than nothing.
func TestQueueOnOneCore(t *testing.T) {
	realkernel.NeedWhole(t)
	const source = "testdata/queue.c"
	program := realkernel.Compile(t, source)
	line := fmt.Sprintf("queue.c:%d", realkernel.Line(t, source, "/* TARGET */"))
	for name, latency := range map[string]string{
		"keyed": "r=func:came%arg1..func:served%arg1", "by their order": "r=func:came..func:served",
	} {
		t.Run(name, func(t *testing.T) {
			realkernel.Judge(t, func() ([]noise.Figure, float64) {
				data, _ := profiled(t, []string{"-l", latency, "-t", line, "-s", "100", "-d", "6s"}, []string{program}, 143)
				var took, begun [2]float64 // in baselines, and without the target
				for _, e := range data.Experiments {
					if e.SetAside == "" && !data.IsPlacebo(&e) {
						which := min(1, e.Speedup)
						took[which] += e.Latencies[0].AreaNS
						begun[which] += e.Latencies[0].Begun
					}
				}
				now, then := took[0]/begun[0], took[1]/begun[1]
				t.Logf("%.0f and %.0f requests; %.0f µs, without the target %.0f µs", begun[0], begun[1], now/1e3, then/1e3)
				return []noise.Figure{
					noise.Around("the part of the time that requests take without the target", then/now, 0.25, 0.15),
					atLeast("requests in baselines", begun[0], 300),
					atLeast("requests without the target", begun[1], 150),
				}, realkernel.ForeignShare(data)
			})
		})
	}
}

// A thread that has waited for a lock of some 10 ms for 2 ms asks for it, by the clock. Without the holder's code it
// would not have to: in virtual time it still waits, and goes on when the holder unlocks.
func TestTimeoutsAreDelayed(t *testing.T) {
	realkernel.NeedWhole(t)
	const source = "testdata/ask.c"
	program := realkernel.Compile(t, source)
	line := fmt.Sprintf("ask.c:%d", realkernel.Line(t, source, "/* WORK */"))
	flags := []string{"-p", "went=func:went_on", "-p", "asked=func:had_to_ask", "-t", line, "-s", "100", "-d", "5s"}
	realkernel.Judge(t, func() ([]noise.Figure, float64) {
		data, _ := profiled(t, flags, []string{program}, 143)
		var went, asked, held, real [2]float64 // in baselines, and without the holder's code
		for _, e := range data.Experiments {
			if e.SetAside == "" && !data.IsPlacebo(&e) {
				which := min(1, e.Speedup)
				went[which] += float64(e.Points[0].Count)
				asked[which] += float64(e.Points[1].Count)
				held[which] += float64(e.HeldNS)
				real[which] += float64(e.RealNS)
			}
		}
		// The first experiments go by before it is known that there are timeouts.
		before, then := asked[0]/went[0], asked[1]/went[1]
		return []noise.Figure{
			atLeast("times that the lock was taken", min(went[0], went[1]), 40),
			{Name: "the part of the baselines that the thread is delayed", Value: held[0] / real[0], High: mostForCounting},
			atLeast("the part of the experiments that the thread is delayed", held[1]/real[1], 2*mostForCounting),
			atLeast("the part of the times that the thread asked", before, 0.5),
			{Name: "that part without the holder's code, of all", Value: then / before, High: 0.3},
		}, realkernel.ForeignShare(data)
	})
}

// atLeast is a figure with a lower limit only.
func atLeast(name string, value, least float64) noise.Figure {
	return noise.Figure{Name: name, Value: value, Low: least, High: math.Inf(1)}
}

// A thread that sleeps by the clock, hands out a job and sleeps again is delayed without being asked for. Otherwise its
// jobs would come early, while their number does not grow however fast the work on them becomes.
func TestHandoffsAreDelayed(t *testing.T) {
	realkernel.NeedWhole(t)
	const source = "testdata/handoffs.c"
	program := realkernel.Compile(t, source)
	line := fmt.Sprintf("handoffs.c:%d", realkernel.Line(t, source, "/* WORK */"))
	realkernel.Judge(t, func() ([]noise.Figure, float64) {
		// In the first second whatif finds out that a thread is periodic. No job comes earlier; without delays for that
		// thread the gain is 14 to 30%.
		f, foreign := gainAfter(t, time.Second, func() *profile.Data {
			flags := []string{"-p", "func:done", "-t", line, "-s", "0,100", "-d", "3s"}
			data, _ := profiled(t, flags, []string{program}, 143)
			return data
		})
		f.Low, f.High = -7, 5
		return []noise.Figure{f}, foreign
	})
}

// A periodic thread that takes a lock which other threads want is delayed before it has the lock, and not stopped
// while it has it. Otherwise the gain is 8 to 16%, where some 43 are true; with it, 34 to 35.
func TestPeriodicThreadsAreDelayed(t *testing.T) {
	realkernel.NeedWhole(t)
	judgeForm(t, "housekeeper", time.Second, 14, 10)
}

// A thread that cannot be delayed, as another thread wants the only core, owes nothing, and neither does the thread
// that it wakes. Otherwise a third thread, which has nothing to do with them, would be stopped for that. And it is
// known that the first one comes too often.
func TestCrowdedThreadsAreForgiven(t *testing.T) {
	realkernel.NeedWhole(t)
	const source = "testdata/crowded.c"
	program := realkernel.Compile(t, source)
	line := fmt.Sprintf("crowded.c:%d", realkernel.Line(t, source, "/* WORK */"))
	flags := []string{"-p", "func:done", "-t", line, "-s", "0,100", "-d", "4s"}
	realkernel.Judge(t, func() ([]noise.Figure, float64) {
		data, _ := profiled(t, flags, []string{program}, 143)
		var paused, real [2]float64
		var soon, samples int64
		for _, e := range data.Experiments {
			if e.SetAside != "" || e.StartNS < time.Second.Nanoseconds() || data.IsPlacebo(&e) {
				continue
			}
			which := min(1, e.Speedup)
			paused[which] += float64(e.PausedNS)
			real[which] += float64(e.RealNS)
			if e.Speedup > 0 {
				soon += e.TooSoon
				samples += e.UnitSamples[e.Unit]
			}
		}
		// Where threads owe what they should not, it is 13 and 27%.
		return []noise.Figure{
			{Name: "the part of the baselines that is stopped", Value: paused[0] / real[0], High: 0.06},
			{Name: "the part of the experiments that is stopped", Value: paused[1] / real[1], High: 0.1},
			atLeast("the part of the job's samples that are known to come too soon", float64(soon)/float64(samples), 0.8),
		}, realkernel.ForeignShare(data)
	})
}

// A thread that polls sleeps in the code that is sped up. It finds what another thread has made ahead of virtual time,
// as that thread pays at ticks.
func TestFoundWhenMade(t *testing.T) {
	realkernel.NeedWhole(t)
	// Without the rule for this the gain is some 10 points too high; its runs have few experiments, and some say too
	// little.
	judgeForm(t, "lookout", 0, 14, 7)
}

// form is the path of a program of accuracy/.
func form(t *testing.T, name string) string {
	t.Helper()
	return filepath.Join("../accuracy/programs/forms", name)
}

// judgeForm judges the gain of a C program of accuracy/ without its target.
func judgeForm(t *testing.T, name string, begin time.Duration, below, above float64) {
	t.Helper()
	source := form(t, name+".c")
	program := realkernel.Compile(t, source, "-O2", "-Wno-unused-function")
	line := fmt.Sprintf("%s.c:%d", name, realkernel.Line(t, source, "// TARGET"))
	judgeTruth(t, begin, below, above, program, func() *profile.Data {
		flags := []string{"-p", "func:progress_done", "-t", line, "-s", "0,100"}
		data, _ := profiled(t, flags, []string{program, "0", "4"}, 0)
		return data
	})
}

// judgeTruth judges the gain that experiments after begin have found, against what the program really gains without its
// target: it may be so many points below and above that.
func judgeTruth(t *testing.T, begin time.Duration, below, above float64, program string, profile func() *profile.Data) {
	t.Helper()
	realkernel.ShareCalibration(t)
	realkernel.Judge(t, func() ([]noise.Figure, float64) {
		truth, half := realkernel.Truth(t, program, 100)
		t.Logf("without its target the program gains %.1f ± %.1f%%", truth, half)
		f, foreign := gainAfter(t, begin, profile)
		f.Low, f.High = truth-below, truth+above
		f.Half = math.Hypot(f.Half, half)
		return []noise.Figure{f}, foreign
	})
}

// gainAfter is what the first point gains in experiments that began after so long, in percent, and the part of the
// machine that others used. Runs have a few experiments each, and are added up until the gain is known well enough: the
// interval alone says when, whatever the gain is.
func gainAfter(t *testing.T, begin time.Duration, profile func() *profile.Data) (gain noise.Figure, foreign float64) {
	t.Helper()
	const enough, most = 1.5 * usualGain, 4
	var visits, times [2]float64
	var periods [2][]float64 // logarithms
	for run := 1; ; run++ {
		data := profile()
		foreign = max(foreign, realkernel.ForeignShare(data))
		for _, e := range data.Experiments {
			if e.SetAside != "" || e.StartNS < begin.Nanoseconds() || data.IsPlacebo(&e) {
				continue
			}
			which, v := min(1, e.Speedup), e.Points[0]
			visits[which] += v.Weight
			times[which] += v.WindowNS
			if v.Weight > 0 && v.WindowNS > 0 {
				periods[which] = append(periods[which], math.Log(v.WindowNS/v.Weight))
			}
		}
		left := times[1] / visits[1] * visits[0] / times[0]
		_, half := noise.Mean(periods[0])
		_, other := noise.Mean(periods[1])
		half = 100 * left * math.Hypot(half, other)
		if half <= enough || run == most {
			if visits[0] == 0 || visits[1] == 0 {
				t.Fatalf("visits in baselines weigh %.1f, in experiments %.1f", visits[0], visits[1])
			}
			return noise.Figure{Name: "the gain", Value: 100 * (1 - left), Half: half, Usual: usualGain}, foreign
		}
	}
}

// usualGain is half of the interval of such a gain on a quiet machine.
const usualGain = 6
