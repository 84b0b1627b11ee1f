package test

import (
	"path/filepath"
	"testing"

	"whatif/internal/testing/realkernel"
)

func large(t *testing.T) (program string) {
	t.Helper()
	realkernel.NeedQuiet(t)
	program = filepath.Join(t.TempDir(), "large")
	made(t, "gcc", "-O1", "-g", "-o", program, "testdata/large.c")
	return program
}

// In code that is so large that most samples are the first at their instruction, samples are not lost, and it is found
// how much it would bring to make the code faster.
func TestLargeCode(t *testing.T) {
	program := large(t)
	for _, units := range []string{"line", "func"} { // the latter: where whole stacks are looked at
		if testing.Short() && units == "func" {
			continue // TestLargeCodeInclusive has them
		}
		t.Run(units, func(t *testing.T) {
			flags := []string{"-p", "func:progress_done", "-u", units, "-t", "large.c:20", "-s", "0,50", "-d", "2s",
				"--seed", "1"}
			data, _ := profiled(t, flags, []string{program, "60"}, terminated)
			lost := tooEarly(t, data)
			var samples, in, ran int64
			for i := range data.Experiments {
				e := &data.Experiments[i]
				samples += e.Samples
				for id, n := range e.UnitSamples {
					if data.Units[id].Line == 20 {
						in += n
					}
				}
				if !e.IsBaseline() && !data.IsPlacebo(e) {
					ran += e.Samples * data.Run.PeriodNS
				}
			}
			// Ticks delay in baselines, too, and what they take earns nothing.
			delay, took := delays(data)
			ticks := delay[0] / took[0]
			extra := delay[1] - ticks*took[1]
			share, earned := float64(in)/float64(samples), extra/float64(ran)
			t.Logf("%.3f of %d samples in it, %d lost; ticks and visits delay %.3f, at 50%% it earns %.3f of its time", share,
				samples, lost, ticks, earned)
			if samples < 1000 {
				t.Fatalf("only %d samples", samples)
			}
			if share < 0.4 || share > 0.7 {
				t.Errorf("%.2f of the samples are in about half of the work", share)
			}
			// Cores wait for each other at ticks, and visits take a while: up to some percent are delays, too. Where other
			// programs take the core, some of that time is one as well.
			if most := 0.5*share*took[1] + 0.06*float64(ran); earned < 0.45*share*(1-ticks) || extra > most {
				t.Errorf("at 50%% %.2f of the work earns %.2f of its time, and %.2f of all", share, earned, extra/took[1])
			}
		})
	}
}

// A sample that is booked late is counted once for each function that it is in, and for all of them.
func TestLargeCodeInclusive(t *testing.T) {
	program := large(t)
	data, _ := profiled(t, []string{"-p", "func:progress_done", "-u", "func", "-s", "0,50", "-d", "1200ms", "--seed", "1"},
		[]string{program, "60"}, terminated)
	lost := tooEarly(t, data)
	var samples int64
	in := map[string]int64{}
	for i := range data.Experiments {
		samples += data.Experiments[i].Samples
		for id, n := range data.Experiments[i].UnitSamples {
			in[data.Units[id].Func] += n
		}
	}
	t.Logf("of %d samples, %d of them too early, %v", samples, lost, in)
	for name, most := range map[string]float64{"main": 1.001, "large": 0.7, "small": 0.7} {
		least := 0.4
		if name == "main" {
			least = 0.95
		}
		// A sample that came too early counts for those of its functions that were known.
		if n := float64(in[name]); n < least*float64(samples-lost) || n > most*float64(samples) {
			t.Errorf("%.3f of the samples are in %s, want %.2f to %.2f", n/float64(samples), name, least, most)
		}
	}
}
