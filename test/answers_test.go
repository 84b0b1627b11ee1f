package test

import (
	"fmt"
	"testing"

	"whatif/internal/testing/realkernel"
)

// A server that is asked for more than it can answer never waits for a question, and its clients think by the clock.
// However fast it becomes, it is asked no more often than they think: twice as often as it answers now, or half as
// often again where it computes faster. Without bpf/wake/replies.h it would seem to answer as often as it could.
func TestAnswersAreNotEarly(t *testing.T) {
	realkernel.NeedWhole(t)
	const source = "testdata/thinkers.c"
	program := realkernel.Compile(t, source)
	line := fmt.Sprintf("thinkers.c:%d", realkernel.Line(t, source, "/* WORK */"))
	data, _ := profiled(t, []string{"-p", "func:answered", "-t", line, "-s", "100", "--waiting", "none", "-d", "6s"},
		[]string{program}, 128+15)
	var weight, window [2]float64 // in baselines, and without the line
	for _, e := range data.Experiments {
		if e.SetAside != "" || data.IsPlacebo(&e) {
			continue
		}
		which := min(1, e.Speedup)
		weight[which] += e.Points[0].Weight
		window[which] += e.Points[0].WindowNS
	}
	now, then := 1e9*weight[0]/window[0], 1e9*weight[1]/window[1]
	const asked = 40 / 0.015 // at most, in a second
	t.Logf("%.0f answers a second, without the line %.0f; asked %.0f times at most", now, then, asked)
	if weight[0] < 200 || weight[1] < 200 {
		t.Fatal("too few answers to tell")
	}
	if then < 1.1*now || then > 1.2*asked {
		t.Error("not as often as the clients ask")
	}
}
