package test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"whatif/internal/profile"
	"whatif/internal/testing/realkernel"
)

// TestJavaLatency: begins and ends in Java code belong together by their thread, or by an argument, which is an
// object, a number or a text. Durations are those of each, so there are percentiles.
func TestJavaLatency(t *testing.T) {
	realkernel.NeedSession(t)
	java, classes := javaPrograms(t)
	const orders = 1000
	flags := []string{"-s", "0", "--experiment", "200ms",
		"-l", "object=func:Desk.ordered%arg1..func:Desk$Order.served%arg1",
		"-l", "number=func:Desk.ordered%arg2..func:Desk.done%arg3",
		"-l", "text=func:Desk.ordered%arg3..func:Desk.done%arg2",
		"-l", "thread=func:Desk.serve..func:Desk.serve%return"}
	d, out := profiled(t, flags, []string{java, "-Xcheck:jni", "-cp", classes, "Desk", fmt.Sprint(orders)}, 0)
	var served, took, serving, longer int64
	if n, err := fmt.Sscan(out, &served, &took, &serving, &longer); n != 4 || served != orders {
		t.Fatalf("the program printed %q: %v", out, err)
	}
	for i, n := range d.End.Visits {
		if n != orders {
			t.Errorf("%s: %d visits, not %d", d.Run.Points[i].Spec, n, orders)
		}
	}
	for i, l := range d.Run.Latencies {
		var matched, wrong, sum, long int64
		for _, e := range d.Experiments {
			m := e.Latencies[i]
			matched, wrong, sum = matched+m.Matched, wrong+m.Unmatched+m.Again, sum+m.TotalNS
			for _, bin := range m.Bins {
				if profile.BinStart(int(bin[0])) > 4_000_000 {
					long += bin[1]
				}
			}
		}
		if matched < orders/10 || wrong > 0 { // those before the first experiment are not measured
			t.Errorf("%s: %d ends have their begin, %d have not", l.Name, matched, wrong)
		}
		// All times are at least as long as they are to be, and on a busy machine longer. Those that were measured are some
		// of all, of which the program tells.
		want := took
		if l.Name == "thread" {
			want = serving
			if long < matched*8/100 || long > longer+orders*2/100 {
				t.Errorf("of %d, %d took long; of all %d", matched, long, longer)
			}
			if sum < matched*950_000*8/10 {
				t.Errorf("%d took %d ns, less than by the clock", matched, sum)
			}
		}
		if sum < want*matched/orders/2 || sum > want*13/10 {
			t.Errorf("%s: %d of %d took %d ns, and all of them %d", l.Name, matched, orders, sum, want)
		}
	}
}

// TestJavaLatencyRefuses: an argument that is no key is named, with what to do.
func TestJavaLatencyRefuses(t *testing.T) {
	realkernel.NeedSession(t)
	java, classes := javaPrograms(t)
	for latency, want := range map[string]string{
		"x=func:Desk.done%arg1..func:Desk$Order.served%arg1":           "floating point number is no key",
		"x=func:Desk$Order.<init>%arg1..func:Desk$Order.served%arg1":   "not made yet",
		"x=func:Desk.ordered%arg4..func:Desk$Order.served%arg1":        "it has no such argument",
		"x=func:Desk.ordered%arg1..func:Desk$Order.served%return%arg1": "arg",
	} {
		cmd := exec.Command(realkernel.Whatif(t), "run", "--quiet", "-s", "0", "-o", filepath.Join(t.TempDir(), "p"),
			"-l", latency, "--", java, "-cp", classes, "Desk", "10")
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v\n%s", latency, err, out)
		}
	}
}
