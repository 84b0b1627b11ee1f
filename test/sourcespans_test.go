package test

import (
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"testing"

	"whatif/internal/profile"
	"whatif/internal/testing/realkernel"
)

// The same as TestSpans for pairs in the source: each visit is seen as it happens, and counted once, although the
// program counts it, too.
func TestSourceSpans(t *testing.T) {
	realkernel.NeedQuiet(t)
	program := realkernel.Compile(t, "testdata/spans.c", "-O2", "-DIN_SOURCE", header(t))
	for _, c := range []spanCase{
		{"same", []string{"r"}, []spanCheck{all}},
		{"handed", []string{"keyed", "r=r%begin..source:r%end"}, []spanCheck{all, none}},
		{"forked", []string{"r=keyed"}, []spanCheck{all}},
	} {
		t.Run(c.how, func(t *testing.T) {
			data := c.run(t, program)
			for _, e := range data.Experiments {
				for i := range c.latencies {
					if late := e.Latencies[i].Late; late > 0 {
						t.Errorf("experiment %d: %s: %d visits were not seen as they happened; losses %v", e.Index,
							data.Run.Latencies[i].Name, late, e.Losses)
					}
				}
			}
			for _, l := range data.Run.Latencies[:len(c.latencies)] {
				if begins, ends := data.End.Visits[l.Begin], data.End.Visits[l.End]; begins != ends {
					t.Errorf("%s: %d begins and %d ends", l.Name, begins, ends)
				}
			}
		})
	}
}

// A pair that was not asked for has its mean latency, from the numbers of visits alone.
func TestSourcePairs(t *testing.T) {
	realkernel.NeedQuiet(t)
	program := realkernel.Compile(t, "testdata/spans.c", "-O2", "-DIN_SOURCE", header(t))
	data, said := profiled(t, []string{"-s", "0", "--period", "1ms"}, []string{program, "paced", "2"}, 0)
	checkPaced(t, data, said)
}

// checkPaced compares a run without speed-ups with what the program said.
func checkPaced(t *testing.T, data *profile.Data, said string) {
	t.Helper()
	var requests int64
	var mean float64
	if _, err := fmt.Sscanf(said, "requests %d mean %f", &requests, &mean); err != nil {
		t.Fatalf("the program said %q", said)
	}
	if len(data.Run.Latencies) == 0 {
		t.Fatal("no latency was found")
	}
	for i, l := range data.Run.Latencies {
		if l.Name != data.Run.Points[l.End].Name || l.Name+"/begin" != data.Run.Points[l.Begin].Name || !l.Found {
			t.Errorf("%+v of points %+v", l, data.Run.Points)
		}
		if b, e := data.End.Visits[l.Begin], data.End.Visits[l.End]; b != requests || e != requests {
			t.Errorf("%s: %d begins and %d ends, the program made %d; losses %v", l.Name, b, e, requests, data.End.Losses)
		}
		var area, begun, delay, real float64
		for _, e := range data.Experiments {
			if e.SetAside == "ended early" || i >= len(e.Latencies) {
				continue
			}
			delay += float64(e.DelayNS)
			real += float64(e.RealNS)
			area += e.Latencies[i].AreaNS
			begun += e.Latencies[i].Begun
			if d := e.Latencies[i]; d.Matched > 0 || d.Begun > 0 && d.Late == 0 {
				t.Errorf("experiment %d: %+v: seen as it happened, and nobody asked", e.Index, e.Latencies[i])
			}
		}
		// The cost of probes is a delay, so not in virtual time, but the program's own clock has it.
		if got := area / begun / (1 - delay/real); math.Abs(got/mean-1) > 0.1 {
			t.Errorf("%s: mean latency %.0f ns, the program says %.0f", l.Name, got, mean)
		}
	}
}

// In Go programs the functions of the package are probed, also without symbols.
func TestGoSourceSpans(t *testing.T) {
	realkernel.NeedQuiet(t)
	for _, flags := range []string{"", "-s -w"} {
		if testing.Short() && flags == "" {
			continue // the harder of the two
		}
		program := buildGo(t, "./testdata/gosourcespans", "-ldflags="+flags)
		// To follow goroutines' sleep has a cost, which is a delay, and durations that are shorter than it do not show it
		// well.
		data, said := profiled(t, []string{"-l", "pair", "-l", "keyed", "-s", "0", "--waiting", "none"}, []string{program}, 0)
		var requests int64
		var mean float64
		if _, err := fmt.Sscanf(said, "requests %d mean %f", &requests, &mean); err != nil {
			t.Fatalf("the program said %q", said)
		}
		for i, v := range data.End.Visits {
			if v != requests {
				t.Errorf("%s: %d visits, the program made %d", data.Run.Points[i].Name, v, requests)
			}
		}
		matched := int64(0)
		for _, e := range data.Experiments[min(1, len(data.Experiments)):] { // until the names are known it is only counted
			for i, d := range e.Latencies {
				matched += d.Matched
				if e.SetAside != "ended early" && (!all(d) || d.Late > 0) {
					t.Errorf("experiment %d: %s: %+v; losses %v", e.Index, data.Run.Latencies[i].Name, d, e.Losses)
				}
				checkDurations(t, e.Index, d)
			}
		}
		if matched == 0 {
			t.Error("nothing was measured")
		}
		data, said = profiled(t, []string{"-s", "0", "--period", "1ms", "--waiting", "none"}, []string{program}, 0)
		checkPaced(t, data, said)
	}
}

// A latency needs a pair, and both of its ends a key or neither.
func TestWrongSourceSpans(t *testing.T) {
	realkernel.NeedSession(t)
	program := realkernel.Compile(t, "testdata/spans.c", "-O2", "-DIN_SOURCE", header(t))
	for _, l := range []string{"x=r%begin..keyed%end", "requests", "rr", "x=keyed%begin..func:main"} {
		cmd := exec.Command(realkernel.Whatif(t), "run", "--quiet", "-o", filepath.Join(t.TempDir(), "p"),
			"-l", l, "--", program, "same", "0.2")
		if out, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() != 125 {
			t.Errorf("%s: %v\n%s", l, err, out)
		}
	}
}
