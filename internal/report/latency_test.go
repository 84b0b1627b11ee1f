package report

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// timed is the run made with requests that take 1 to 5 ms, less by what the program gains.
func timed(name string) *profile.Data {
	d := made()
	d.Run.Points = []profile.Point{{Name: name + "/begin", Kind: "func"}, {Name: name, Kind: "func"}}
	d.Run.Latencies = []profile.Latency{{Name: name, Begin: 0, End: 1}}
	slopes := map[uint32]float64{1: 0.6, 2: -0.2, 3: 0}
	for i := range d.Experiments {
		e := &d.Experiments[i]
		v := profile.Visits{Count: 140, Weight: 0.5e-6 * 0.7 * float64(e.RealNS-e.DelayNS),
			WindowNS: 0.7 * float64(e.RealNS-e.DelayNS)}
		e.Points = []profile.Visits{v, v}
		var l profile.Durations
		bins := map[int64]int64{}
		for k := range int64(v.Weight) {
			ns := (1e6 + float64((k*37+int64(i))%101)*4e4) * (1 - slopes[e.Unit]*float64(e.Speedup)/100)
			bin := int64(0)
			for profile.BinStart(int(bin)+1) <= ns {
				bin++
			}
			bins[bin]++
			l.Matched++
			l.TotalNS += int64(ns)
		}
		for bin := range int64(profile.MaxBins) {
			if bins[bin] > 0 {
				l.Bins = append(l.Bins, [2]int64{bin, bins[bin]})
			}
		}
		l.Begun, l.Ended, l.AreaNS = float64(l.Matched), float64(l.Matched), float64(l.TotalNS)
		e.Latencies = []profile.Durations{l}
	}
	d.End.Visits = []int64{20000, 20000}
	return d
}

func TestLatencyText(t *testing.T) {
	r := analysed(timed("request"))
	golden(t, "latency.txt", text(t, r, Options{}))
	documented, err := os.ReadFile("../../docs/latency.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range []string{string(text(t, r, Options{})), string(documented)} { // as in the document
		if !regexp.MustCompile(`(?m)^ #  unit .* mean +p50 +p95 +p99  verdict$`).MatchString(got) {
			t.Errorf("the columns are in another order:\n%s", got)
		}
	}
	narrow := text(t, r, Options{Width: 70, Top: 2})
	golden(t, "latency70.txt", narrow)
	for line := range strings.Lines(string(narrow)) {
		if n := width(strings.TrimSuffix(line, "\n")); n > 70 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	begin := string(text(t, r, Options{Point: "request/begin"}))
	if !strings.Contains(begin, "less time per visit of request/begin") || strings.Contains(begin, "less latency of") {
		t.Errorf("asked for where it begins:\n%s", begin)
	}
	hostile := string(text(t, analysed(timed("re\x1b[2Jquest\n")), Options{}))
	if strings.ContainsAny(hostile, "\x1b") {
		t.Errorf("%q", hostile)
	}
}

func TestLatencyJSON(t *testing.T) {
	var b bytes.Buffer
	if err := JSON(&b, analysed(timed("request")), Options{}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Latencies []jsonLatency
		Targets   []struct {
			Name   string
			Points []struct {
				Name, Metric, Verdict string
				Slope                 float64
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Latencies) != 1 || got.Latencies[0].Begin != "request/begin" || got.Latencies[0].P99 == nil ||
		*got.Latencies[0].P99 < 4.5e6 || *got.Latencies[0].P99 > 5.5e6 {
		t.Errorf("%+v", got.Latencies)
	}
	want := map[string][]string{"parse.c:118": {"unsure", "none", "faster", "faster", "faster", "faster"}}
	for _, target := range got.Targets {
		if want[target.Name] == nil {
			continue
		}
		for i, metric := range []string{"throughput", "throughput", "latency", "p50", "p95", "p99"} {
			p := target.Points[i]
			if p.Metric != metric || i >= 2 && (p.Name != "request" || p.Verdict != want[target.Name][i] || p.Slope < 0.55 ||
				p.Slope > 0.65) {
				t.Errorf("%s: %+v, want %s", target.Name, p, metric)
			}
		}
	}
}

// TestLatencyCounted: if visits are only counted, the report says what to do about the percentiles,
// or why there are none.
func TestLatencyCounted(t *testing.T) {
	for found, want := range map[bool]string{true: "its percentiles are measured with -l request",
		false: "no percentiles, because its points are only counted"} {
		d := timed("request")
		d.Run.Latencies[0].Found = found
		for i := range d.Experiments {
			l := &d.Experiments[i].Latencies[0]
			l.Late, l.Matched, l.Bins, l.TotalNS = l.Matched, 0, nil, 0
		}
		if out := string(text(t, analysed(d), Options{Width: 200})); !strings.Contains(out, want) ||
			!strings.Contains(out, "latency request: mean ") {
			t.Errorf("%v: \n%s", found, out)
		}
	}
}

// TestLatencyNotKnown: unknown figures of a latency do not show as numbers.
func TestLatencyNotKnown(t *testing.T) {
	d := timed("request")
	for i := range d.Experiments {
		d.Experiments[i].Latencies = nil
	}
	r := analysed(d)
	if out := string(text(t, r, Options{})); !strings.Contains(out, "latency request: not known\n") ||
		!strings.Contains(out, "no unit was tried for latency request") {
		t.Errorf("\n%s", out)
	}
	var b bytes.Buffer
	if err := JSON(&b, r, Options{}); err != nil || !strings.Contains(b.String(), `"p99_ns": null`) {
		t.Errorf("%v\n%s", err, b.String())
	}
	if got := len(r.Targets[0].Effects); got != 2 || r.Targets[0].Effects[1].Metric != analyze.Throughput {
		t.Errorf("%d effects", got)
	}
}
