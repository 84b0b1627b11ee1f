package web

import (
	"strings"
	"testing"

	"whatif/internal/analyze"
)

// TestEstimates: a unit that was only recorded has a row like others, marked as an estimate wherever its numbers are.
func TestEstimates(t *testing.T) {
	b := at(t, onDisk(t, estimatedPage(world{})), size(1400, 900))
	row := func(unit string) string {
		return strings.Join(strings.Fields(b.text(`tr[data-unit="`+unit+`"]`)), " ")
	}
	for unit, want := range map[string]string{
		"index.c:9":  "8.0% estimated ~10.5 ±2.3 estimated ~14.8 ±3.2 estimated ~21.0 ±4.4 optimize estimated",
		"parse.c:18": "60.0% 15.0 ±1.9", // what was tested is believed
		"wait:cpu":   "– – – not tried no estimate",
	} {
		if got := row(unit); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", unit, got, want)
		}
	}
	if s := b.text("#answer"); !strings.Contains(s, "Make parse.c:18 faster") || strings.Contains(s, "~") {
		t.Errorf("answer %q", s)
	}
	if s := b.text("#measured"); !strings.Contains(s, "48 experiments") && !strings.Contains(s, "recorded 4.8 s") {
		t.Errorf("measured: %q", s)
	}
	for _, c := range []struct{ unit, selector, want string }{
		{"index.c:9", ".say", "optimize: the program would gain"},
		{"index.c:9", ".basis", "not tested: recorded 4.8 s, in which nothing was delayed"},
		{"index.c:9", ".says", "At 50%: ~14.8% less time per visit (11.7 to 18.0), 1.17 times as fast. " +
			"A profiler would expect 4.0%"},
		{"parse.c:18", ".basis", "recorded 4.8 s, in which nothing was delayed"},
		{"parse.c:18", ".says", "At 50%: 29.9% less time per visit (26.1 to 33.8), 1.43 times as fast. " +
			"Estimate: ~38.9 (30.9 to 46.9). A profiler would expect 30.0%"},
		{"wait:cpu", ".shape", "no estimate: waiting for a core: whatif ask --cores"},
	} {
		b.click(`tr[data-unit="` + c.unit + `"]`)
		b.detail(c.unit)
		if got := b.text("#detail " + c.selector); got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.unit, c.selector, got, c.want)
		}
		curves := map[string]int{"index.c:9": 1, "parse.c:18": 2, "wait:cpu": 0}[c.unit]
		if got := value[int](b, `document.querySelectorAll('#detail .of-curve .curve').length`); got != curves {
			t.Errorf("%s: %d curves, want %d", c.unit, got, curves)
		}
		dashed := value[bool](b, `[...document.querySelectorAll('#detail .of-curve .estimate')]
			.every(e => getComputedStyle(e).strokeDasharray !== 'none' && e.getBBox().width > 0)`)
		if !dashed {
			t.Errorf("%s: an estimate is drawn as what was tested", c.unit)
		}
	}
}

// TestOnlyRecorded: without any experiment the answer is the recording's, and says so.
func TestOnlyRecorded(t *testing.T) {
	run := world{}.made()
	run.Experiments, run.End.RealNS = nil, 0
	p := New(Profile{Label: "whatif.profile", Runs: pageRunsOf(run), Estimates: world{}.estimates()}, nil, 0, false)
	b := at(t, served(t, p), size(1400, 900))
	if s := strings.Join(strings.Fields(b.text("#answer")), " "); !strings.Contains(s, "Make parse.c:18 faster") ||
		!strings.Contains(s, "50% faster →~39% ± 8 less time") || !strings.Contains(s, "That is an estimate") {
		t.Errorf("answer %q", s)
	}
	if s := b.text("#measured"); s != "h · recorded 4.8 s, in which nothing was delayed · whatif.profile" {
		t.Errorf("measured: %q", s)
	}
	refused := &analyze.Estimates{Seconds: 4.8, Refused: "a thread polls"}
	p = New(Profile{Label: "whatif.profile", Runs: pageRunsOf(run), Estimates: refused}, nil, 0, false)
	b = at(t, served(t, p), size(1400, 900))
	if s := b.text("#first"); !strings.Contains(s, "this run tells nothing: a thread polls") {
		t.Errorf("first: %q", s)
	}
}

// TestBothRecorded compares two profiles with recordings: estimates stand beside estimates.
func TestBothRecorded(t *testing.T) {
	before := Profile{Label: "before.profile", Runs: pageRuns(world{scale: 0.5}), Estimates: world{}.estimates()}
	now := Profile{Label: "after.profile", Runs: pageRuns(world{}), Estimates: world{}.estimates()}
	b := at(t, onDisk(t, New(now, &before, 0, false))+"#unit=index.c%3A9", size(1400, 900))
	b.detail("index.c:9")
	if s := b.text(`tr[data-unit="index.c:9"]`); !strings.Contains(s, "was ~14.8") {
		t.Errorf("row %q", s)
	}
	if n := value[int](b, `document.querySelectorAll('#detail [data-side] .of-curve .estimate').length`); n != 2 {
		t.Errorf("%d curves of estimates", n)
	}
}

// TestLiveEnd: what was recorded in a run is shown when it has ended.
func TestLiveEnd(t *testing.T) {
	l := NewLive("whatif.profile", []string{"./server"})
	l.Update(world{}.made(), false)
	if p := l.Page(); p.results[0].Estimates != nil {
		t.Error("there are estimates before the end")
	}
	l.End(world{}.made(), world{}.estimates())
	if p := l.Page(); p.results[0].Estimates == nil || p.index.Live {
		t.Error("no estimates at the end")
	}
}
