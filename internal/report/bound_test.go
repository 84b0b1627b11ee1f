package report

import (
	"bytes"
	"strings"
	"testing"

	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// Where the load comes from other machines, gains in throughput are upper bounds, and every form says so.
func TestBounds(t *testing.T) {
	d := made()
	for i := range d.Experiments {
		d.Experiments[i].Wakes, d.Experiments[i].NetworkWakes = 200, 30
	}
	r := analyze.Analyze([]*profile.Data{d}, analyze.Options{})
	for name, c := range map[string]struct {
		write func(*bytes.Buffer) error
		want  []string
	}{
		"text": {func(b *bytes.Buffer) error { return Text(b, r, Options{}) }, []string{
			" ≤", "≤       an upper bound: clients that whatif does not control",
			"confidence: fair: clients on other machines, so gains are upper bounds",
			"optimize: the program gains, if clients wait for their answers", "a visit takes at most ", "[remote-clients]"}},
		"ASCII": {func(b *bytes.Buffer) error { return Text(b, r, Options{ASCII: true}) }, []string{
			" <=", "<=       an upper bound"}},
		"json":   {func(b *bytes.Buffer) error { return JSON(b, r, Options{}) }, []string{`"bound": "upper"`}},
		"csv":    {func(b *bytes.Buffer) error { return CSV(b, r, Options{}) }, []string{",bound\r\n", ",upper\r\n"}},
		"github": {func(b *bytes.Buffer) error { return GitHub(b, r, Options{}) }, []string{"| ≤"}},
	} {
		var out bytes.Buffer
		if err := c.write(&out); err != nil {
			t.Fatal(name, ": ", err)
		}
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %q in\n%.3000s", name, want, &out)
			}
		}
	}
}

// A bound is the upper end of the interval, as the true gain may be there at most.
func TestBoundText(t *testing.T) {
	gain := analyze.Estimate{Known: true, Bounded: true, Value: 20, Low: 17, High: 23}
	for _, c := range []struct {
		bound bool
		gain  analyze.Estimate
		want  string
	}{
		{false, gain, "20.0±3.0"},
		{true, gain, "≤23.0"},
		{true, analyze.Estimate{Known: true, Value: 20}, "20.0±?"},
		{true, analyze.Estimate{}, "–"},
	} {
		if got := testedGain(&analyze.Effect{UpperBound: c.bound}, c.gain); got != c.want {
			t.Errorf("%+v: %s, want %s", c, got, c.want)
		}
	}
}

// Where clients are outside of a recording, its estimates are upper bounds.
func TestEstimateBounds(t *testing.T) {
	d := made()
	r := analyze.Analyze([]*profile.Data{d}, analyze.Options{})
	level := func(speedup int, value float64) analyze.Level {
		return analyze.Level{Speedup: speedup,
			Gain: analyze.Estimate{Known: true, Bounded: true, Value: value, Low: value - 2, High: value + 2}}
	}
	r.AddEstimates(&analyze.Estimates{
		Seconds: 3, Outside: 40, Points: []analyze.EstimatedPoint{{Name: "request", Visits: 3000, Rate: 1000}},
		Units: []analyze.EstimatedUnit{{Unit: d.Units[5], Share: 20, Effects: []analyze.EstimatedEffect{{
			Point: "request", Metric: analyze.Throughput,
			Levels: []analyze.Level{level(25, 4), level(50, 8), level(75, 12), level(100, 16)}}}}},
	})
	var text, json bytes.Buffer
	if err := Text(&text, r, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := JSON(&json, r, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"~≤6.0     ~≤10.0     ~≤18.0", "≤       an upper bound", "[outside-clients]"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
	isBound := func(field string) bool { return strings.Contains(json.String(), `"`+field+`": "upper"`) }
	if !isBound("estimate_bound") || isBound("bound") {
		t.Error("estimates are bounds, and gains are not")
	}
}
