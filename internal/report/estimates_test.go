package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// line is estimates for a line of a server whose gain is some part of its speed-up.
func line(name string, n int, share, slope float64, point string, metrics ...analyze.Metric) analyze.EstimatedUnit {
	u := analyze.EstimatedUnit{Share: share, Samples: int64(40 * share), Unit: profile.Unit{
		Kind: "line", Name: name, File: "/src/" + strings.Split(name, ":")[0], Line: n, Binary: "/bin/server"}}
	for _, m := range metrics {
		e := analyze.EstimatedEffect{Point: point, Metric: m}
		for s := 5; s <= 100; s += 5 {
			g := slope * float64(s)
			e.Levels = append(e.Levels, analyze.Level{Speedup: s, Gain: analyze.Estimate{
				Value: g, Low: g - 0.1*g - 0.5, High: g + 0.1*g + 0.5, Known: true, Bounded: true}})
		}
		u.Effects = append(u.Effects, e)
	}
	return u
}

// estimatesOf is what a recording says beside the experiments of made: of one unit the same, of one something else, and
// two new ones.
func estimatesOf(refused string) *analyze.Estimates {
	e := &analyze.Estimates{Seconds: 5, Refused: refused,
		Points: []analyze.EstimatedPoint{{Name: "request", Visits: 5000, Rate: 1000}}}
	e.Units = []analyze.EstimatedUnit{
		line("parse.c:118", 118, 60, 0.6, "request", analyze.Throughput),
		line("spin.c:7", 7, 20, 0.4, "request", analyze.Throughput),
		line("index.c:9", 9, 8, 0.08, "request", analyze.Throughput),
		line("sum.c:1", 1, 1, 0.001, "request", analyze.Throughput),
	}
	e.Units[2].Waiting = map[string]float64{"disk": 12}
	e.Units = append(e.Units, analyze.EstimatedUnit{Unit: profile.Unit{Kind: "wait", Name: "wait:disk"}, Waited: 12,
		Effects: []analyze.EstimatedEffect{{Point: "request", Metric: analyze.Throughput,
			Refused: "its time per visit is 1.3 times the recorded one"}}})
	if refused != "" {
		for i := range e.Units {
			e.Units[i].Effects[0].Levels, e.Units[i].Effects[0].Refused = nil, refused
		}
	}
	return e
}

// recorded is a profile with a recording and no experiments.
func recorded() *profile.Data {
	d := made()
	d.Experiments, d.Units = nil, map[uint32]profile.Unit{}
	return d
}

// TestEstimates: a report with experiments and a recording, with a recording only, and with one that is refused.
func TestEstimates(t *testing.T) {
	const reason = "simulating the recording with nothing changed is 32% off"
	for name, c := range map[string]struct {
		runs    *profile.Data
		refused string
	}{"estimated": {made(), ""}, "recorded": {recorded(), ""}, "refused": {recorded(), reason}} {
		r := analysed(c.runs)
		r.AddEstimates(estimatesOf(c.refused))
		golden(t, name+".txt", text(t, r, Options{Width: 100}))
		golden(t, name+".json", toBytes(t, r))
		for _, opt := range []Options{{Width: 60}, {Width: 80, ASCII: true, Curves: true}, {Top: 1}, {Verbose: true}} {
			text(t, r, opt)
		}
	}
}

// TestLatencyEstimates: latencies that only a recording knows have a table, with percentiles.
func TestLatencyEstimates(t *testing.T) {
	d := timed("request")
	d.Experiments = nil
	r := analysed(d)
	end := r.Points[r.Latencies[0].End].Name
	r.AddEstimates(&analyze.Estimates{Seconds: 5,
		Points: []analyze.EstimatedPoint{{Name: end, Visits: 5000, Rate: 1000, Mean: 2e6, Matched: 4990,
			Quantiles: []float64{1e6, 5e6, 9e6}}},
		Units: []analyze.EstimatedUnit{line("parse.c:118", 118, 60, 0.5, end, analyze.Throughput, analyze.MeanLatency,
			analyze.P50, analyze.P95, analyze.P99)}})
	golden(t, "recorded_latency.txt", text(t, r, Options{Width: 100}))
	golden(t, "recorded_latency.json", toBytes(t, r))
}

// TestEstimateJSON: the fields that other programs rely on.
func TestEstimateJSON(t *testing.T) {
	r := analysed(made())
	r.AddEstimates(estimatesOf(""))
	var found struct {
		Targets []struct {
			Name   string
			Points []struct {
				Basis    string
				Refused  *string
				Curve    []struct{ Speedup int }
				Estimate []struct {
					Speedup int
					Gain    float64
					CI      []float64
				}
			}
		}
	}
	if err := json.Unmarshal(toBytes(t, r), &found); err != nil {
		t.Fatal(err)
	}
	bases := map[string]string{"parse.c:118": "both", "spin.c:7": "both", "log.c:30": "tested", "index.c:9": "estimated",
		"wait:disk": "none", "cold.c:1": "none"}
	for _, target := range found.Targets {
		e := target.Points[0]
		if want, ok := bases[target.Name]; ok && e.Basis != want {
			t.Errorf("%s is %s, want %s", target.Name, e.Basis, want)
		}
		delete(bases, target.Name)
		has := e.Basis == "estimated" || e.Basis == "both"
		if has != (len(e.Estimate) == 20) || e.Estimate == nil || e.Curve == nil ||
			(e.Refused != nil) != (target.Name == "wait:disk") {
			t.Errorf("%s: %d estimates, curve %v, refused %v", target.Name, len(e.Estimate), e.Curve, e.Refused)
		}
		if target.Name == "index.c:9" && (len(e.Curve) > 0 || e.Estimate[4].Speedup != 25 || e.Estimate[4].Gain != 2 ||
			e.Estimate[4].CI[0] != 1.3 || e.Estimate[4].CI[1] != 2.7) {
			t.Errorf("%+v", e)
		}
	}
	if len(bases) > 0 {
		t.Errorf("not in the report: %v", bases)
	}
}

// TestAsk: an answer in words and as JSON.
func TestAsk(t *testing.T) {
	asked := &Asked{Args: []string{"./server", "-n", "2"}, Seconds: 5, Cores: 4, Recorded: 2,
		Together: []AskedUnit{
			{profile.Unit{Kind: "line", Name: "parse.c:118"}, 50, 61.2, 0},
			{profile.Unit{Kind: "wait", Name: "wait:disk"}, 20, 0, 31},
			{profile.Unit{Kind: "func", Name: "evil\x1b[31m"}, -10, 4, 12},
		},
		Points: []Answer{
			{Point: "request", Metric: analyze.Throughput,
				Gain: analyze.Estimate{Value: 23.42, Low: 19.8, High: 27.04, Known: true, Bounded: true}},
			{Point: "request", Metric: analyze.MeanLatency,
				Gain: analyze.Estimate{Value: -3, Low: -5, High: -1, Known: true, Bounded: true}},
			{Point: "request", Metric: analyze.P50, Gain: analyze.Estimate{Value: 7, Known: true}},
			{Point: "request", Metric: analyze.P99, Refused: "12 requests with a known latency in the recording, too few"},
		}}
	var b, j bytes.Buffer
	if err := Ask(&b, asked, Options{Width: 80}); err != nil {
		t.Fatal(err)
	}
	golden(t, "ask.txt", b.Bytes())
	if clean(b.String()) != strings.ReplaceAll(b.String(), "\n", `\n`) {
		t.Errorf("not safe to print: %q", b.String())
	}
	if err := AskJSON(&j, asked); err != nil {
		t.Fatal(err)
	}
	golden(t, "ask.json", j.Bytes())
	b.Reset()
	if err := Ask(&b, &Asked{}, Options{}); err != nil || !strings.Contains(b.String(), NoPoints) {
		t.Errorf("%s: %v", b.String(), err)
	}
}
