package test

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"whatif/internal/profile"
	"whatif/internal/testing/realkernel"
)

// Begins and ends are matched right, in whichever threads they are, and none is matched that cannot be.
func TestSpans(t *testing.T) {
	realkernel.NeedQuiet(t)
	program := realkernel.Compile(t, "testdata/spans.c")
	const plain, keyed = "r=func:span_begin..func:span_end", "keyed=func:span_begin%arg1..func:span_end%arg1"
	for _, c := range []spanCase{
		{"same", []string{plain}, []spanCheck{all}},
		{"handed", []string{keyed, plain}, []spanCheck{all, none}},
		{"forked", []string{keyed}, []spanCheck{all}},
		// The inner one counts: each has a begin that is forgotten and an end too many, except those of the three threads
		// that the window cuts in two.
		{"nested", []string{plain}, []spanCheck{func(d profile.Durations) bool {
			return d.Matched > 0 && apart(d.Again-d.Matched, 3) && apart(d.Unmatched-d.Matched, 3)
		}}},
	} {
		t.Run(c.how, func(t *testing.T) { c.run(t, program) })
	}
}

// spanCheck tells whether a latency is as it should be in an experiment.
type spanCheck func(profile.Durations) bool

// spanCase is a way to begin and end requests in testdata/spans.c, with latencies and what is to be found of each.
type spanCase struct {
	how       string
	latencies []string
	checks    []spanCheck
}

func (c *spanCase) run(t *testing.T, program string) *profile.Data {
	t.Helper()
	flags := []string{"-s", "0", "--experiment", "50ms"}
	for _, l := range c.latencies {
		flags = append(flags, "-l", l)
	}
	data, _ := profiled(t, flags, []string{program, c.how, "0.4"}, 0)
	for i, check := range c.checks {
		checkSpans(t, data, i, check)
		for _, e := range data.Experiments {
			checkDurations(t, e.Index, e.Latencies[i])
		}
	}
	return data
}

// Latencies of goroutines are right, although these change threads while they sleep.
func TestSpansOfGoroutines(t *testing.T) {
	realkernel.NeedSession(t)
	program := buildGo(t, "./testdata/gospans", "-ldflags=")
	data, _ := profiled(t, []string{"-l", "r=func:main.spanBegin..func:main.spanEnd",
		"-l", "keyed=func:main.spanBegin%arg1..func:main.spanEnd%arg1", "-s", "0", "--waiting", "none"},
		[]string{program}, 0)
	for i := range 2 {
		matched := int64(0)
		checkSpans(t, data, i, func(d profile.Durations) bool {
			matched += d.Matched // on a busy machine some experiments may have none
			return d.Unmatched == 0 && d.Again == 0
		})
		if matched == 0 {
			t.Errorf("%s: no end had a begin", data.Run.Latencies[i].Name)
		}
	}
}

// Arguments are read where the code's own language passes them; and a Go function that Go starts anew, on a larger
// stack, is called once.
func TestSpansOfGrowingGoroutines(t *testing.T) {
	realkernel.NeedSession(t)
	program := buildGo(t, "./testdata/gogrow", "-ldflags=")
	const times = 500
	data, _ := profiled(t, []string{
		"-l", "go=func:main.growBegin%arg1..func:main.growEnd%arg2",
		"-l", "c=func:c_begin%arg1..func:c_end%arg2", "-s", "0", "--experiment", "20ms",
	}, []string{program, strconv.Itoa(times)}, 0)
	for i, n := range data.End.Visits {
		if n != times {
			t.Errorf("%s: %d visits, not %d", data.Run.Points[i].Spec, n, times)
		}
	}
	matched := [2]int64{}
	for _, e := range data.Experiments {
		for i, d := range e.Latencies {
			matched[i] += d.Matched
			if d.Again > 0 || d.Unmatched > 0 {
				t.Errorf("experiment %d: %+v", e.Index, d)
			}
		}
	}
	if matched[0] == 0 || matched[1] == 0 {
		t.Errorf("%v ends had a begin", matched)
	}
}

// all tells that each end has its begin.
func all(d profile.Durations) bool { return d.Matched > 0 && d.Unmatched == 0 && d.Again == 0 }

// none tells that no end can be matched, as begins and ends are in different threads.
func none(d profile.Durations) bool { return d.Matched == 0 && d.Unmatched > 0 && d.Again > 0 }

func apart(difference, most int64) bool { return -most <= difference && difference <= most }

// checkSpans checks a run's latency of that number in each of its experiments, of which there must be two.
func checkSpans(t *testing.T, data *profile.Data, latency int, check func(profile.Durations) bool) {
	t.Helper()
	whole := 0
	for _, e := range data.Experiments {
		if e.SetAside == "ended early" {
			continue
		}
		whole++
		d := e.Latencies[latency]
		if !check(d) {
			t.Errorf("experiment %d: %s: %+v; losses %v", e.Index, data.Run.Latencies[latency].Name, d, e.Losses)
		}
	}
	if whole < 2 {
		t.Errorf("%d whole experiments of %d", whole, len(data.Experiments))
	}
}

// checkDurations checks that each slept 2 ms, and that nothing makes time virtual but the cost of the probes, and of a
// tick that reads a process's numbers: 0.2 ms at most (LONGEST_COUNTING_NS), and what the tick takes besides.
func checkDurations(t *testing.T, experiment int, d profile.Durations) {
	t.Helper()
	for _, b := range d.Bins {
		if end := profile.BinStart(int(b[0]) + 1); end < 1.7e6 {
			t.Errorf("experiment %d: %d took at most %.0f ns, and cannot have", experiment, b[1], end)
		}
	}
	// At the end one may be under way on another core, and be in the bins only.
	if d.TotalNS < 1900000*(d.Matched-1) {
		t.Errorf("experiment %d: %d matched, %d ns together", experiment, d.Matched, d.TotalNS)
	}
}

// Two points in the same code are refused, as a compiler makes it of functions that are alike: the result would be
// wrong in silence.
func TestSameCodeForBothEnds(t *testing.T) {
	realkernel.NeedSession(t)
	program := realkernel.Compile(t, "testdata/spans.c", "-DALIKE")
	cmd := exec.Command(realkernel.Whatif(t), "run", "--quiet", "-o", filepath.Join(t.TempDir(), "p"),
		"-l", "r=func:span_begin..func:span_end", "--", program, "same", "1")
	out, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != 125 || !strings.Contains(string(out), "same code") {
		t.Errorf("%v\n%s", err, out)
	}
}
