package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"whatif/internal/analyze"
)

// sound checks that a drawing is XML, has finite numbers for coordinates, and no elements but those
// of drawings.
func sound(t *testing.T, name, svg string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, svg)
		}
		e, ok := token.(xml.StartElement)
		if ok && !strings.Contains(" svg g a text path circle title rect style ", " "+e.Name.Local+" ") {
			t.Errorf("%s: element %s", name, e.Name.Local)
		}
		for _, a := range e.Attr {
			if strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
				t.Errorf("%s: %s %s=%q", name, e.Name.Local, a.Name.Local, a.Value)
			}
		}
	}
}

const evil = `"><script>alert(1)</script>&` + "'"

func known(v, half float64) analyze.Estimate {
	return analyze.Estimate{Value: v, Low: v - half, High: v + half, Known: true, Bounded: true}
}

func TestCurve(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for name, e := range map[string]*analyze.Effect{
		"nothing": {},
		"one":     {Curve: []analyze.Level{{Speedup: 0, Gain: known(0, 0)}}},
		"odd": {Curve: []analyze.Level{{Speedup: 0, Gain: known(0, 0)}, {Speedup: 50, Gain: known(nan, nan)},
			{Speedup: 60, Gain: known(1, inf)}, {Speedup: 70, Gain: known(-1e300, 1e300)},
			{Speedup: 80, Gain: known(30, 5), Raw: known(nan, 1)}},
			Trials: []analyze.Trial{{Speedup: 50, Gain: nan, Known: true}, {Speedup: 50, Gain: -inf, Known: true},
				{Speedup: 60, Gain: 1e308, Known: true}, {Speedup: 60}}},
	} {
		sound(t, name, Curve(e, Plot{Width: 460, Height: 280, Title: evil, Share: 30}))
		sound(t, name, Curve(e, Plot{Width: 1, Height: 1, Share: nan}))
		s := NewSparks([]*analyze.Effect{e, e})
		band, line := s.Paths(e)
		sound(t, name, `<svg><path d="`+band+line+`"/></svg>`)
	}
	e := &analyze.Effect{Verdict: analyze.Faster,
		Curve: []analyze.Level{{Speedup: 0, Gain: known(0, 0)}, {Speedup: 100, Gain: known(40, 4)}}}
	svg := Curve(e, Plot{Width: 460, Height: 280, Title: "gain"})
	if !strings.Contains(svg, `<svg xmlns="http://www.w3.org/2000/svg" class="chart faster"`) ||
		strings.Count(svg, `class="mark"`) != 1 || !strings.Contains(svg, "100% faster: 40.0% (36.0 to 44.0)") {
		t.Error(svg)
	}
	// Beside a curve that reaches further it is drawn smaller.
	high := &analyze.Effect{Curve: []analyze.Level{{Speedup: 100, Gain: known(90, 1)}}}
	beside := Curve(e, Plot{Width: 460, Height: 280, Title: "gain", Beside: []*analyze.Effect{high}})
	if !strings.Contains(beside, ">80%<") || strings.Contains(svg, ">80%<") {
		t.Error(beside)
	}
}

// TestEstimates: what a recording says is dashed and has open circles; where there are experiments, the band is theirs.
func TestEstimates(t *testing.T) {
	e := &analyze.Effect{Verdict: analyze.Faster}
	for s := 5; s <= 100; s += 5 {
		e.Estimated = append(e.Estimated, analyze.Level{Speedup: s, Gain: known(float64(s)/2, 3)})
	}
	svg := Curve(e, Plot{Width: 460, Height: 280, Title: "gain", Share: 80})
	sound(t, "estimated", svg)
	if strings.Count(svg, `class="mark open"`) != 4 || !strings.Contains(svg, `class="curve estimate"`) ||
		!strings.Contains(svg, "estimated 100% faster: 50.0% (47.0 to 53.0)") || !strings.Contains(svg, `class="band"`) ||
		!strings.Contains(svg, `class="expected"`) || !strings.Contains(svg, ">80%<") { // the share is in reach
		t.Error(svg)
	}
	if band, line := NewSparks([]*analyze.Effect{e}).Paths(e); band == "" || !strings.HasPrefix(line, "M1 26L") {
		t.Errorf("small curve %q, %q", band, line)
	}
	e.Experiments, e.Slope = 9, known(0.4, 0.04)
	e.Curve = []analyze.Level{{Gain: known(0, 0)}, {Speedup: 100, Gain: known(40, 4)}}
	svg = Curve(e, Plot{Width: 460, Height: 280, Title: "gain"})
	sound(t, "both", svg)
	if strings.Contains(svg, "mark open") || strings.Count(svg, `class="curve`) != 2 || strings.Contains(svg, "expect") {
		t.Error(svg)
	}
	// Too few experiments say nothing: beside an estimate, it is the estimate that is drawn.
	e.Slope = analyze.Estimate{Value: 0.4, Known: true}
	svg = Curve(e, Plot{Width: 460, Height: 280, Title: "gain"})
	if strings.Count(svg, `class="curve`) != 1 || !strings.Contains(svg, "estimated 100% faster: 50.0%") {
		t.Error(svg)
	}
	e.Estimated = nil
	svg = Curve(e, Plot{Width: 460, Height: 280, Title: "gain"})
	sound(t, "too few", svg)
	if strings.Contains(svg, `class="curve`) || strings.Contains(svg, `class="mark`) ||
		!strings.Contains(svg, ">too few experiments<") || !strings.Contains(svg, `aria-label="gain: too few experiments"`) {
		t.Error(svg)
	}
}

func TestMap(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	odd := Map{Heading: evil, Speedup: 50, Spots: []Spot{{Name: evil, Share: 40, Gain: known(12, 3), Link: "#" + evil},
		{Name: "b", Share: nan, Gain: known(1, 1)}, {Name: "c", Share: 4, Gain: known(inf, 1)}, {Name: "d"},
		{Name: "e", Share: 300, Gain: known(-1e300, 1)}}}
	sound(t, "odd", odd.Draw(680, 400))
	sound(t, "tiny", odd.Draw(1, 1))
	sound(t, "nothing", (&Map{}).Draw(680, 400))
	m := Map{Speedup: 50, Spots: []Spot{{Name: "hot.c:1", Share: 60, Gain: known(0, 1), Verdict: analyze.None},
		{Name: "cold.c:2", Share: 10, Gain: known(30, 2), Verdict: analyze.Faster, Estimated: true}}}
	svg := m.Draw(680, 400)
	if !strings.Contains(svg, `role="img" aria-label="share of the time against the gain if code were 50% faster; `+
		`hot.c:1: 60.0% of the time, gain 0.0% (-1.0 to 1.0); cold.c:2: 10.0% of the time, gain 30.0% (28.0 to 32.0), `+
		`estimated"`) || strings.Count(svg, `class="mark open"`) != 1 || strings.Contains(svg, "<a ") {
		t.Error(svg)
	}
	m.Spots[0].Link, m.Spots[1].Link = "#unit=1", "#unit=2"
	svg = m.Draw(680, 400)
	if strings.Count(svg, "<a ") != 2 || !strings.Contains(svg, `role="group"`) {
		t.Error(svg)
	}
	// The expectation's name makes room for a spot at the line's end, which has its own name.
	end := Map{Speedup: 50, Spots: []Spot{{Name: "end.c:3", Share: 60, Gain: known(29, 1)}}}
	if svg := end.Draw(680, 400); !strings.Contains(svg, ">end.c:3</text>") {
		t.Error(svg)
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		a    axis
		want []float64
	}{
		{axis{lo: 0, hi: 100}, []float64{0, 20, 40, 60, 80, 100}},
		{axis{lo: -12, hi: 3}, []float64{-10, -5, 0}},
		{axis{lo: 1, hi: 1}, nil},
		{axis{lo: 0, hi: math.Inf(1)}, nil},
	} {
		if got := c.a.ticks(5); len(got) != len(c.want) ||
			len(got) > 0 && (got[0] != c.want[0] || got[len(got)-1] != c.want[len(c.want)-1]) {
			t.Errorf("%+v: %v, want %v", c.a, got, c.want)
		}
	}
}

func TestHistogramAndTimeline(t *testing.T) {
	if Histogram(NewSpread(nil), NewSpread(nil), 400, 150, "") != "" || NewTimeline(nil, 0, 400, 150).SVG("") != "" {
		t.Error("nothing drawn as something")
	}
	nan := math.NaN()
	odd := []Weighted{{nan, 1}, {math.Inf(1), 1}, {-1, 1}, {0, 1}, {5, 0}}
	if Histogram(NewSpread(odd), NewSpread(odd), 400, 150, "") != "" {
		t.Error("impossible durations drawn")
	}
	sound(t, "one", Histogram(NewSpread([]Weighted{{1e6, 1}}), NewSpread(odd), 400, 150, evil))
	wide := Histogram(NewSpread([]Weighted{{1, 1}, {1e18, 3}}), NewSpread([]Weighted{{1e9, 1}}), 400, 150, "time")
	sound(t, "wide", wide)
	if !strings.Contains(wide, "median of baselines 1e+09 s, median of experiments 1 s") {
		t.Error(wide)
	}
	var many []Moment
	for i := range 100_000 {
		many = append(many, Moment{float64(i), 1e6 + float64(i%100)})
	}
	line := NewTimeline(many, 100_000, 640, 170)
	if svg := line.SVG(evil); len(svg) > 20_000 {
		t.Errorf("%d bytes for many moments", len(svg))
	} else {
		sound(t, "many", svg)
	}
	if ticks := line.Ticks([]float64{0, 50_000}); ticks != "M48 143v6M340 143v6" {
		t.Error(ticks)
	}
	sound(t, "odd", NewTimeline([]Moment{{0, nan}, {1, -1}, {2, 3}, {nan, 3}}, nan, 640, 170).SVG("x"))
}

func TestSheet(t *testing.T) {
	var b strings.Builder
	s := Sheet{Title: evil + strings.Repeat("x", 300), Notes: []string{evil}, Width: 300, Sections: []Section{
		{Heading: evil, Panels: []Panel{{evil, evil, evil, 20, &analyze.Effect{}}, {}}[:1]}, {Heading: "none"}}}
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	sound(t, "sheet", b.String())
}
