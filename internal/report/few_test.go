package report

import (
	"bytes"
	"strings"
	"testing"

	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// TestTooFew: what was tried too seldom for an interval has no gain in any report for people, and an estimate is shown
// in its place if there is one.
func TestTooFew(t *testing.T) {
	r := analysed(made())
	var few *analyze.Effect
	for i := range r.Targets {
		if r.Targets[i].Unit.Name == "checksum" {
			few = &r.Targets[i].Effects[0]
		}
	}
	if _, known := few.At(50); !known || !few.TooFew() {
		t.Fatalf("it has no gain, or enough experiments: %+v", few)
	}
	if got := GainCell(few, 50); got != "–" {
		t.Errorf("its gain is %s", got)
	}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"map":    func(b *bytes.Buffer) error { return Map(b, r, Options{}) },
		"github": func(b *bytes.Buffer) error { return GitHub(b, r, Options{}) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil || strings.Contains(b.String(), "checksum") {
			t.Errorf("%s: %v\n%s", name, err, b.String())
		}
	}
	few.Estimated = []analyze.Level{{Speedup: 50,
		Gain: analyze.Estimate{Value: 12, Low: 10, High: 14, Known: true, Bounded: true}}}
	if got := GainCell(few, 50); got != "~12.0±2.0" {
		t.Errorf("beside an estimate, its gain is %s", got)
	}
}

// TestReason: the reason why the data do not tell is the same in the table, in a narrow one, on the page and in
// GitHub's summary.
func TestReason(t *testing.T) {
	r := analysed(made())
	r.Targets = r.Targets[:3] // as if each had its own reason
	const luck = "it looks real by itself, but among 3 units one such result may well be luck"
	const wide = "the intervals are too wide to tell"
	for i, reason := range []string{luck, wide, wide} {
		e := &r.Targets[i].Effects[0]
		e.Verdict, e.Shape, e.Reason = analyze.Unsure, "", "not enough data: "+reason
		for l := range e.Curve {
			e.Curve[l].Gain.High += 10
		}
	}
	if got := Words(&r.Targets[0].Effects[0]); got != "unclear: "+luck {
		t.Errorf("page: %s", got)
	}
	if got := string(text(t, r, Options{})); strings.Count(got, "unclear: "+luck+"\n") != 1 ||
		strings.Count(got, "unclear: "+wide+"\n") != 2 {
		t.Errorf("table:\n%s", got)
	}
	narrow := strings.Join(strings.Fields(string(text(t, r, Options{Width: 70}))), " ")
	if strings.Count(narrow, ": "+luck) != 1 || strings.Count(narrow, ": "+wide) != 1 {
		t.Errorf("narrow table:\n%s", narrow)
	}
	var b bytes.Buffer
	if err := GitHub(&b, r, Options{}); err != nil || !strings.Contains(b.String(), "**: "+luck+" |\n") {
		t.Errorf("summary: %v\n%s", err, b.String())
	}
}

// TestLittle: an unclear effect that is certainly small is said to be, and is not what to measure next.
func TestLittle(t *testing.T) {
	at := func(speedup int, gain, half float64) analyze.Level {
		return analyze.Level{Speedup: speedup,
			Gain: analyze.Estimate{Value: gain, Low: gain - half, High: gain + half, Known: true, Bounded: true}}
	}
	for _, c := range []struct {
		levels []analyze.Level
		short  string
	}{
		{[]analyze.Level{at(50, 0.4, 2), at(100, 0.8, 2.5)}, "at most 4%"},
		{[]analyze.Level{at(50, 0.4, 2), at(100, 0.8, 5)}, "unclear"},  // it may gain more
		{[]analyze.Level{at(50, 0.4, 7), at(100, -2, 1)}, "unclear"},   // at another speed-up
		{[]analyze.Level{at(50, 0.4, 2), at(100, -3, 2.5)}, "unclear"}, // it may lose more
		{[]analyze.Level{at(50, 0.4, 2)}, "unclear"},                   // all of it is not known
	} {
		tested := analyze.Effect{Verdict: analyze.Unsure, Experiments: 9, Curve: c.levels,
			Slope: analyze.Estimate{Known: true, Bounded: true}}
		estimated := analyze.Effect{Verdict: analyze.Unsure, Estimated: c.levels}
		for _, e := range []analyze.Effect{tested, estimated} {
			if short, _ := verdictText(&e); short != c.short {
				t.Errorf("%+v: %s, want %s", c.levels, short, c.short)
			}
		}
	}
	r := analysed(made())
	r.Targets = r.Targets[:2]
	for i := range r.Targets {
		e := &r.Targets[i].Effects[0]
		e.Verdict, e.Shape, e.Curve = analyze.Unsure, "", []analyze.Level{at(50, 1, 1), at(100, 1, 1.5)}
		e.Slope.Bounded, e.Marks, r.Targets[i].Share = true, nil, 30
	}
	narrow := strings.Join(strings.Fields(string(text(t, r, Options{Width: 70}))), " ")
	if strings.Count(narrow, littleLegend) != 1 || !strings.Contains(narrow, "no clear effect: look at other code") {
		t.Errorf("narrow table:\n%s", narrow)
	}
}

// TestDeclared: a function has the place of its declaration beside it, if that is known.
func TestDeclared(t *testing.T) {
	d := made()
	u := d.Units[4]
	u.Func, u.Name = "checksum(char const*, unsigned long)", "checksum"
	d.Units[4] = u
	if got := Beside(analysed(d))(u); got != "sum.c:3" {
		t.Errorf("beside it: %s", got)
	}
	u.Line = 0
	if got := Beside(analysed(d))(u); got != u.Func {
		t.Errorf("beside it: %s", got)
	}
}

// TestEstimateAlone: where experiments leave it open, the verdict has what the estimate says.
func TestEstimateAlone(t *testing.T) {
	gain := analyze.Estimate{Value: 1, Low: -9, High: 11, Known: true, Bounded: true}
	small := analyze.Estimate{Value: 1, Low: -1, High: 3, Known: true, Bounded: true}
	for _, c := range []struct {
		estimate analyze.Estimate
		says     analyze.Verdict
		want     string
	}{
		{small, analyze.None, "unclear, luck?, ~no effect"}, {small, analyze.Faster, "unclear, luck?, ~optimize"},
		{small, analyze.Unsure, "unclear, luck?, ~at most 3%"}, {gain, analyze.Unsure, "unclear, luck?"},
	} {
		e := analyze.Effect{Verdict: analyze.Unsure, Reason: "not enough data: wide", Experiments: 9,
			Slope: analyze.Estimate{Known: true, Bounded: true}, Curve: []analyze.Level{{Speedup: 100, Gain: gain}},
			Estimated: []analyze.Level{{Speedup: 100, Gain: c.estimate}}, EstimateVerdict: c.says}
		if short, _ := verdictText(&e); short != c.want {
			t.Errorf("%+v: %s, want %s", c.estimate, short, c.want)
		}
	}
}

// TestFoldMinor: estimates of little interest are one line, unless there is nothing else or all rows are asked for.
func TestFoldMinor(t *testing.T) {
	r := analysed(made())
	gain := analyze.Estimate{Value: 0.1, Low: 0, High: 0.2, Known: true, Bounded: true}
	small := []analyze.Level{{Speedup: 100, Gain: gain}}
	for _, kind := range []string{"line", "wait"} {
		r.Targets = append(r.Targets, analyze.Target{Unit: profile.Unit{Kind: kind, Name: "tiny " + kind}, Share: 0.2,
			Effects: []analyze.Effect{{Metric: analyze.Throughput, Verdict: analyze.None, Estimated: small}}})
	}
	r.Estimates = &analyze.Estimates{Seconds: 2}
	if got := string(text(t, r, Options{Top: 20})); strings.Contains(got, "tiny") ||
		!strings.Contains(got, "2 units more, of which estimates say that they have no effect") {
		t.Errorf("of the first twenty:\n%s", got)
	}
	if got := string(text(t, r, Options{})); !strings.Contains(got, "tiny line") || !strings.Contains(got, "tiny wait") {
		t.Errorf("of all:\n%s", got)
	}
	r.Targets = r.Targets[len(r.Targets)-2:]
	if got := string(text(t, r, Options{Top: 20})); !strings.Contains(got, "tiny line") {
		t.Errorf("of these alone:\n%s", got)
	}
}
