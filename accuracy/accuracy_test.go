package main

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseVisits(t *testing.T) {
	tests := []struct {
		output  string
		visits  int64
		seconds float64
		wrong   string // part of the error
	}{
		{output: "visits 212 seconds 0.500364\n", visits: 212, seconds: 0.500364},
		{output: "hello\nvisits 1 seconds 2\nbye\n", visits: 1, seconds: 2},
		{output: "", wrong: "no line"},
		{output: "visits many seconds 1\n", wrong: `parsing "many"`},
		{output: "visits 3 seconds long\n", wrong: `parsing "long"`},
		{output: "visits 0 seconds 1\n", wrong: "nothing was measured"},
		{output: "visits 1 seconds NaN\n", wrong: "nothing was measured"},
	}
	for _, test := range tests {
		visits, seconds, err := parseVisits(test.output)
		if test.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("parseVisits(%q): error %v, want one with %q", test.output, err, test.wrong)
			}
			continue
		}
		if err != nil || visits != test.visits || seconds != test.seconds {
			t.Errorf("parseVisits(%q) = %d, %g, %v, want %d, %g", test.output, visits, seconds, err, test.visits,
				test.seconds)
		}
	}
}

func TestParseLatency(t *testing.T) {
	got, err := parseLatency("hello\nlatency mean 0.002 p50 0.001 p99 1.5\nvisits 3 seconds 1\n")
	if err != nil || len(got) != 3 || got["latency"] != 0.002 || got["p50"] != 0.001 || got["p99"] != 1.5 {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := parseLatency("visits 3 seconds 1\n"); err != nil || len(got) != 0 {
		t.Errorf("without latencies: %v, %v", got, err)
	}
	for _, wrong := range []string{"latency mean", "latency mean long", "latency mean 0", "latency mean NaN"} {
		if got, err := parseLatency(wrong); err == nil {
			t.Errorf("%q: %v", wrong, got)
		}
	}
}

func TestMarkedLine(t *testing.T) {
	for mark, want := range map[string]string{"// TARGET": "", "// TARGET<put": "<put", "// TARGET<f<g\r": "<f<g"} {
		line, callers, err := markedLine("a\nb "+mark+"\nthe // TARGET is above\n", targetMark)
		if line != 2 || callers != want || err != nil {
			t.Errorf("%q: line %d, callers %q, %v, want 2", mark, line, callers, err)
		}
	}
	for _, text := range []string{"", "a\n", "a // TARGET\nb // TARGET\n"} {
		if _, _, err := markedLine(text, targetMark); err == nil {
			t.Errorf("markedLine(%q): no error", text)
		}
	}
}

// Every program must have a source with one target, and a model for the usual four levels or none.
func TestPrograms(t *testing.T) {
	names := map[string]bool{}
	for _, p := range programs {
		if _, err := targetOf(filepath.Join("programs", p.source)); err != nil {
			t.Errorf("%s: %v", p.name, err)
		}
		if names[p.name] {
			t.Errorf("%s is there twice", p.name)
		}
		names[p.name] = true
		if _, ok := limits.program[p.kind]; !ok {
			t.Errorf("%s: kind %q has no limit", p.name, p.kind)
		}
		if p.model != nil && len(p.model) != 4 {
			t.Errorf("%s: the model has %d levels, want 4", p.name, len(p.model))
		}
		if p.batch && p.seconds == 0 {
			t.Errorf("%s: a batch program needs its SECONDS", p.name)
		}
	}
}

func TestChoose(t *testing.T) {
	chosen, err := choose([]string{"spin", "barrier"})
	if err != nil || len(chosen) != 2 || chosen[0].name != "barrier" {
		t.Errorf("choose(spin, barrier) = %v, %v", chosen, err)
	}
	if _, err := choose([]string{"barier"}); err == nil {
		t.Error("choose(barier): no error")
	}
	if all, err := choose(nil); err != nil || slices.ContainsFunc(all, func(p program) bool { return p.group != "" }) {
		t.Errorf("choose() = %v, %v", all, err)
	}
	if group, err := choose([]string{"across"}); err != nil || len(group) != len(across()) {
		t.Errorf("choose(across) = %v, %v", group, err)
	}
}

func TestGainOf(t *testing.T) {
	e := gainOf([]float64{math.Log(0.5), math.Log(0.5), math.Log(0.5)})
	if math.Abs(e.Gain-50) > 1e-9 || math.Abs(e.Low-50) > 1e-9 || math.Abs(e.High-50) > 1e-9 {
		t.Errorf("equal ratios of 1/2: %+v, want 50 without spread", e)
	}
	// ln 0.9 ± 2.776 * sqrt(0.0001*10/4/5): values -2, -1, 0, 1, 2 hundredths around it.
	base := math.Log(0.9)
	e = gainOf([]float64{base - 0.02, base - 0.01, base, base + 0.01, base + 0.02})
	half := 2.776 * 0.01 * math.Sqrt(2.5/5)
	if want := 100 * (1 - 0.9*math.Exp(half)); math.Abs(e.Low-want) > 1e-9 {
		t.Errorf("low %g, want %g", e.Low, want)
	}
	if want := 100 * (1 - 0.9*math.Exp(-half)); math.Abs(e.High-want) > 1e-9 {
		t.Errorf("high %g, want %g", e.High, want)
	}
}

// The interval must contain the truth in 95% of cases, whatever the number of rounds.
func TestGainOfCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, rounds := range []int{2, 3, 6, 12, 20} {
		const cases = 4000
		inside := 0
		for range cases {
			ratios := make([]float64, rounds)
			for i := range ratios {
				ratios[i] = math.Log(0.8) + 0.03*rng.NormFloat64()
			}
			if e := gainOf(ratios); e.Low <= 20 && 20 <= e.High {
				inside++
			}
		}
		if share := float64(inside) / cases; share < 0.935 || share > 0.965 {
			t.Errorf("%d rounds: %.1f%% of the intervals contain the truth", rounds, 100*share)
		}
	}
}

// There are more rounds if the truth is not known well enough. The final intervals are a little too narrow.
func TestWantsMore(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, test := range []struct {
		rounds        int
		within, noise float64
		from, to      float64 // rounds, on average
		sure          float64 // the least share of intervals that contain the truth
	}{
		{rounds: 4, within: 3, noise: 0.005, from: 4, to: 4.1, sure: 0.93},
		{rounds: 3, within: 3, noise: 0.05, from: 5, to: 8.9, sure: 0.86},
		{rounds: 4, within: 3, noise: 0.05, from: 5, to: 11, sure: 0.90},
		{rounds: 6, within: 3, noise: 0.05, from: 7, to: 17, sure: 0.91},
		{rounds: 4, within: 3, noise: 0.5, from: 11.9, to: 12, sure: 0.93},
		{rounds: 4, within: 0, noise: 0.5, from: 4, to: 4, sure: 0.93},
	} {
		const cases = 4000
		pl := plan{rounds: test.rounds, truthWithin: test.within}
		inside, rounds := 0, 0
		for range cases {
			truth := truthRun{ratios: map[string]map[int][]float64{throughput: {50: nil}}}
			of := truth.ratios[throughput]
			for n := 0; pl.wantsMore(n, &truth); n++ {
				of[50] = append(of[50], math.Log(0.8)+test.noise*rng.NormFloat64())
				rounds++
			}
			if e := truth.gains(throughput)[50]; e.Low <= 20 && 20 <= e.High {
				inside++
			}
		}
		sure, mean := float64(inside)/cases, float64(rounds)/cases
		if sure < test.sure || sure > 0.97 || mean < test.from || mean > test.to {
			t.Errorf("%+v: %.1f%% of the intervals contain the truth, after %.1f rounds", test, 100*sure, mean)
		}
	}
}

func TestCovers(t *testing.T) {
	tests := []struct {
		prediction, truth estimate
		want              bool
	}{
		{estimate{10, 8, 12}, estimate{11, 11, 11}, true},
		{estimate{10, 8, 12}, estimate{13, 13, 13}, false},
		{estimate{10, 8, 12}, estimate{13, 10, 14}, true},   // 3 apart, 2 and 3 wide: 3.6
		{estimate{10, 8, 12}, estimate{14, 11, 17}, false},  // 4 apart
		{estimate{10, 1, 12}, estimate{13, 13, 20}, false},  // the wide sides face away
		{estimate{10, 7, 10}, estimate{7.5, 7, 7.5}, true},  // below
		{estimate{10, 9, 20}, estimate{7.5, 1, 7.5}, false}, // below, the wide sides face away
	}
	for _, test := range tests {
		if got := covers(test.prediction, test.truth); got != test.want {
			t.Errorf("covers(%v, %v) = %v", test.prediction, test.truth, got)
		}
	}
}

// A target that is no line has the name in the report that -t has, without "func:".
func TestParseReportOfFunction(t *testing.T) {
	text := strings.Replace(reportJSON, `"name": "barrier.c:24", "file": "/src/barrier.c", "line": 24`,
		`"name": "jvm.Join.parse", "func": "jvm.Join.parse(int)"`, 1)
	got, _, err := parseReport([]byte(text), place{spec: "func:jvm.Join.parse"}, "done", throughput)
	if err != nil || len(got.tested) != 2 {
		t.Errorf("%v, %v", got, err)
	}
	if _, _, err := parseReport([]byte(text), place{spec: "func:jvm.Join.other"}, "done", throughput); err == nil {
		t.Error("another function: no error")
	}
}

const reportJSON = `{"version": 1, "points": [{"name": "done", "kind": "func", "visits": 12345}],
 "targets": [
  {"unit": "line", "name": "other.c:7", "file": "/src/other.c", "line": 7, "points": []},
  {"unit": "line", "name": "barrier.c:24", "file": "/src/barrier.c", "line": 24, "share": 61.2, "points": [
   {"name": "done", "metric": "latency", "curve": [{"speedup": 25, "gain": 99, "ci": [98, 100]}]},
   {"name": "done", "metric": "throughput", "verdict": "faster", "curve": [
    {"speedup": 0, "gain": 0, "ci": [-1, 1], "experiments": 40},
    {"speedup": 25, "gain": 24.1, "ci": [22.0, 26.3], "experiments": 12},
    {"speedup": 50, "gain": 33, "ci": [30, 36], "experiments": 12}],
    "estimate": [{"speedup": 25, "gain": 23, "ci": [20, 27]}]}]}],
 "warnings": [{"code": "foreign-cpu", "text": "others used 9%"}]}`

func TestParseReport(t *testing.T) {
	target := place{file: "barrier.c", line: 24}
	for _, point := range []string{"done", ""} {
		got, warnings, err := parseReport([]byte(reportJSON), target, point, throughput)
		if err != nil {
			t.Fatal(err)
		}
		gains := got.tested
		if len(gains) != 2 || gains[25] != (estimate{24.1, 22, 26.3}) || gains[50] != (estimate{33, 30, 36}) {
			t.Errorf("point %q: gains %v", point, gains)
		}
		if len(got.estimated) != 1 || got.estimated[25] != (estimate{23, 20, 27}) || got.refused != "" {
			t.Errorf("point %q: estimates %v, refused %q", point, got.estimated, got.refused)
		}
		if len(warnings) != 1 || warnings[0] != "foreign-cpu: others used 9%" {
			t.Errorf("point %q: warnings %q", point, warnings)
		}
	}
	wrong := []struct {
		text   string
		target place
		point  string
	}{
		{reportJSON, place{file: "barrier.c", line: 25}, "done"},
		{reportJSON, place{file: "other.c", line: 7}, "done"},
		{reportJSON, place{file: "barrier.c", line: 24, callers: "<main"}, "done"},
		{reportJSON, target, "request"},
		{"{", target, "done"},
	}
	for _, w := range wrong {
		if _, _, err := parseReport([]byte(w.text), w.target, w.point, throughput); err == nil {
			t.Errorf("parseReport(%.10q, %v, %q): no error", w.text, w.target, w.point)
		}
	}
}

const cozProfile = "startup\ttime=1\n" +
	"experiment\tselected=/src/barrier.c:24\tspeedup=0\tduration=1000\tselected-samples=5\n" +
	"throughput-point\tname=done\tdelta=10\n" +
	"throughput-point\tname=other\tdelta=99\n" +
	"experiment\tselected=/src/barrier.c:24\tspeedup=0.25\tduration=800\tselected-samples=6\n" +
	"throughput-point\tname=done\tdelta=10\n" +
	"runtime\ttime=9\n" +
	"samples\tlocation=/src/barrier.c:24\tcount=10\n"

func TestParseCoz(t *testing.T) {
	got, err := parseCoz(strings.NewReader(cozProfile), "done")
	if err != nil {
		t.Fatal(err)
	}
	want := []cozExperiment{{0, 1000, 10, 5}, {0.25, 800, 10, 6}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("parseCoz = %v, want %v", got, want)
	}
	for _, text := range []string{
		"throughput-point\tname=done\tdelta=1\n",
		"experiment\tspeedup=x\tduration=1\tselected-samples=1\n",
		"experiment\tspeedup=0\tduration=1\n",
		"experiment\tspeedup=0\tduration=1\tselected-samples=1\nthroughput-point\tname=done\n",
	} {
		if _, err := parseCoz(strings.NewReader(text), "done"); err == nil {
			t.Errorf("parseCoz(%q): no error", text)
		}
	}
}

func FuzzParseCoz(f *testing.F) {
	f.Add(cozProfile)
	f.Fuzz(func(_ *testing.T, text string) {
		if experiments, err := parseCoz(strings.NewReader(text), "done"); err == nil {
			_, _ = cozGains(experiments, []int{25, 50, 75, 100})
		}
	})
}

// A straight line must be reproduced, also at the ends of the range, and an experiment with more delay than time must
// not count.
func TestCozGains(t *testing.T) {
	var experiments []cozExperiment
	for i := 0; i <= 20; i++ {
		s := float64(i) / 20
		experiments = append(experiments, cozExperiment{s, 1000 * (1 - 0.6*s), 10, 1}, cozExperiment{s, -5, 1000, 1})
	}
	gains, err := cozGains(experiments, []int{25, 50, 75, 100})
	if err != nil {
		t.Fatal(err)
	}
	for level, want := range map[int]float64{25: 15, 50: 30, 75: 45, 100: 60} {
		if math.Abs(gains[level]-want) > 1e-6 {
			t.Errorf("%d%%: gain %g, want %g", level, gains[level], want)
		}
	}
	gains, err = cozGains([]cozExperiment{{0, 1000, 10, 1}, {0.5, 700, 10, 1}, {0.6, 1e9, 1, 1}}, []int{50, 100})
	if err != nil {
		t.Fatal(err)
	}
	if _, found := gains[100]; found || math.Abs(gains[50]-30) > 1e-6 {
		t.Errorf("one level only: %v, want 30 at 50 and nothing at 100", gains)
	}
	if _, err := cozGains(experiments[4:], []int{50}); err == nil {
		t.Error("no baseline: no error")
	}
	if _, err := cozGains([]cozExperiment{{0, 1000, 10, 0}, {0.5, 1000, 10, 0}}, []int{50}); err == nil {
		t.Error("no samples: no error")
	}
}

// synthetic has four levels with a truth of 10 each, and errors of 1, 1, 3 and 3.
func synthetic(name string, k kind, coz bool) result {
	r := result{Program: name, Kind: k}
	for i, level := range []int{25, 50, 75, 100} {
		off := []float64{1, -1, 3, -3}[i]
		l := levelResult{Level: level, Truth: estimate{10, 9.5, 10.5}, Prediction: &estimate{10 + off, 8 + off, 12 + off}}
		if coz {
			gain := 10 + 4*off
			l.Coz = &gain
		}
		r.Levels = append(r.Levels, l)
	}
	return r
}

func TestSummarize(t *testing.T) {
	missing := synthetic("missing", ordinary, false)
	missing.Levels[2].Prediction = nil
	results := []result{synthetic("both", ordinary, true), synthetic("ours", ordinary, false), missing}
	s := summarize(results)
	if s.programs != 2 || s.missing != 1 || s.cozPrograms != 1 {
		t.Errorf("counts %+v", s)
	}
	if s.meanError != 2 || s.worstError != 2 || s.cozError != 8 || s.ourSame != 2 {
		t.Errorf("errors %+v", s)
	}
	if s.inside != 4 || s.of != 8 { // 1 off is inside ±2, 3 off is not
		t.Errorf("%d of %d inside, want 4 of 8", s.inside, s.of)
	}
}

// TestSecondTarget: a program's second target is a row of its own, and counts.
func TestSecondTarget(t *testing.T) {
	second := synthetic("java", made, false)
	second.Target = "by function"
	second.Levels[0].Prediction.Gain = 40
	s := summarize([]result{synthetic("java", made, false), second})
	if s.programs != 2 || s.worstProgram != "java by function" {
		t.Errorf("%+v", s)
	}
	p, err := newPredictor("whatif", &program{name: "java"},
		binaries{plain: filepath.Join(t.TempDir(), "java"), point: "Bench.java:3"}, []int{50})
	if err != nil {
		t.Fatal(err)
	}
	function, err := p.of("func:jvm.Join.parse", "function")
	if err != nil {
		t.Fatal(err)
	}
	if line := strings.Join(function.arguments(time.Second), " "); function.profile == p.profile ||
		!strings.Contains(line, "-p done=Bench.java:3 -t func:jvm.Join.parse -s 0,50 ") {
		t.Errorf("%s: %s", function.profile, line)
	}
	found, err := p.of("", "found")
	if err != nil || strings.Contains(strings.Join(found.arguments(time.Second), " "), " -t ") {
		t.Errorf("%v, %v", found.arguments(time.Second), err)
	}
}

// TestRank: a target that whatif has to find is to be the first.
func TestRank(t *testing.T) {
	r := synthetic("java", made, false)
	r.ranked = true
	for rank, want := range []int{1, 0, 1} {
		r.Rank = rank
		n := 0
		for _, m := range missed([]result{r}) {
			if strings.Contains(m, "told only the point") {
				n++
			}
		}
		if n != want {
			t.Errorf("rank %d: %q", rank, missed([]result{r}))
		}
	}
	if lines := ranks([]result{r, synthetic("other", made, false)}); len(lines) != 1 ||
		!strings.HasSuffix(lines[0], "at place 2") {
		t.Errorf("%q", lines)
	}
}

func TestJavaPoint(t *testing.T) {
	point, err := javaPoint(filepath.Join("programs", "jvm", benchJava))
	if err != nil || !strings.HasPrefix(point, "Bench.java:") {
		t.Errorf("%q, %v", point, err)
	}
}

func TestMissed(t *testing.T) {
	exact := synthetic("exact", ordinary, true)
	for i := range exact.Levels {
		exact.Levels[i].Prediction.Gain = 10
	}
	if m := missed([]result{exact}); len(m) != 0 {
		t.Errorf("an exact prediction misses %q", m)
	}
	for k, misses := range map[kind]int{ordinary: 1, crossing: 1, made: 1} {
		near := synthetic("near", k, false)
		for i := range near.Levels { // above the limit of the mean, and below that of a program
			near.Levels[i].Prediction = &estimate{14.5, 9, 18}
		}
		if m := missed(slices.Repeat([]result{near}, suitePrograms)); len(m) != misses {
			t.Errorf("%s, 4.5 points off: %q is missed", k, m)
		}
		if m := missed([]result{near, near}); len(m) != 0 {
			t.Errorf("two programs that are %s and 4.5 points off are no suite: %q is missed", k, m)
		}
	}
	for k, misses := range map[kind]int{ordinary: 1, made: 0} {
		near := synthetic("near", k, false)
		for i := range near.Levels { // between the limits of the mean
			near.Levels[i].Prediction = &estimate{13.5, 9, 18}
		}
		if m := missed(slices.Repeat([]result{near}, suitePrograms)); len(m) != misses {
			t.Errorf("%s, 3.5 points off: %q is missed", k, m)
		}
	}
	nothing := synthetic("nothing", zero, false)
	text := strings.Join(missed(slices.Repeat([]result{nothing}, suitePrograms)), "\n")
	for _, want := range []string{"nothing: 11.0 predicted at 25%", "48 intervals"} {
		if !strings.Contains(text, want) {
			t.Errorf("missed does not say %q:\n%s", want, text)
		}
	}
}

func TestResultTable(t *testing.T) {
	only := synthetic("truth-only", ordinary, false)
	for i := range only.Levels {
		only.Levels[i].Prediction = nil
	}
	only.model = []float64{12.5, 10, 10, 10}
	tests := map[string][]result{
		"full.golden":  {synthetic("barrier", ordinary, true), synthetic("spin", spinning, false)},
		"truth.golden": {only},
	}
	for name, results := range tests {
		var got bytes.Buffer
		table := resultTable(results)
		if err := table.writeText(&got); err != nil {
			t.Fatal(err)
		}
		got.WriteByte('\n')
		if err := table.writeMarkdown(&got); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join("testdata", name))
		if os.IsNotExist(err) && os.Getenv("UPDATE") != "" {
			err = os.WriteFile(filepath.Join("testdata", name), got.Bytes(), 0o644)
			want = got.Bytes()
		}
		if err != nil {
			t.Fatal(err)
		}
		if got.String() != string(want) {
			t.Errorf("%s differs:\n%s\nwant:\n%s", name, got.String(), want)
		}
	}
}

func TestChunksAfter(t *testing.T) {
	for _, test := range []struct{ rounds, chunks int }{{6, 2}, {2, 1}, {1, 4}, {5, 3}, {2, 7}} {
		sum := 0
		for round := range test.rounds {
			sum += chunksAfter(round, test.rounds, test.chunks)
		}
		sum += chunksAfter(test.rounds, test.rounds, test.chunks) // there are none after more rounds
		if sum != test.chunks {
			t.Errorf("%d rounds, %d chunks: %d are run", test.rounds, test.chunks, sum)
		}
	}
}

// Flags on the command line override those of -quick.
func TestQuick(t *testing.T) {
	o, err := parseOptions(io.Discard, []string{"-quick", "-rounds", "3", "-only", "spin,lock"})
	if err != nil {
		t.Fatal(err)
	}
	if o.plan.rounds != 3 || o.plan.truthWithin != 0 || o.plan.chunks != 1 || o.plan.predict != 6*time.Second ||
		len(o.chosen) != 2 {
		t.Errorf("options %+v", o)
	}
	for _, wrong := range []string{"-levels=0", "-levels=a", "-rounds=1", "-seconds=0", "-only=nothing", "more"} {
		if _, err := parseOptions(io.Discard, []string{wrong}); err == nil {
			t.Errorf("%s: no error", wrong)
		}
	}
}

func TestArguments(t *testing.T) {
	b := binaries{plain: "/b/x", target: place{file: "x.c", line: 3}}
	two := "" // where there are more processors
	if runtime.NumCPU() > 2 {
		two = "taskset -c " + twoProcessors() + " "
	}
	tests := []struct {
		program program
		want    string
	}{
		{program{name: "x"}, "run -p done=func:progress_done -t x.c:3 -s 0,25,100 -d 10s -o f -- /b/x 0 100000"},
		{program{name: "x", point: "main.progressDone"},
			"run -p done=func:main.progressDone -t x.c:3 -s 0,25,100 -d 10s -o f -- /b/x 0 100000"},
		{program{name: "x", ranks: 2}, "run -p done=func:progress_done -t x.c:3 -s 0,25,100 -d 10s -o f -- " +
			"mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 /b/x 0 100000"},
		{program{name: "x", source: "jvm/X.java", defines: []string{"SHORT"}, jar: "/a.jar", point: progressCall},
			"run -p done=syscall:lseek --warmup 1s -t x.c:3 -s 0,25,100 -d 10s -o f -- " + two +
				"java -DSHORT -cp /b/x:/a.jar jvm.X 0 100000"},
		{program{name: "x", source: "jit/x.js", defines: []string{"AUDIT"}, runtime: []string{"--perf-prof"}},
			"run -p done=func:progress_done --warmup 1s -t x.c:3 -s 0,25,100 -d 10s -o f -- " + two +
				"node --perf-prof /b/x/x.js AUDIT 0 100000"},
		{program{name: "x", source: "jit/x.erl"}, "run -p done=func:progress_done --warmup 1s -t x.c:3 -s 0,25,100 " +
			"-d 10s -o f -- " + two + "erl -noinput -pa /b/x -s x main -extra 0 100000"},
		{program{name: "x", batch: true, seconds: 0.4}, "run -t x.c:3 -s 0,25,100 -d 10s -o f -- /b/x 0 0.4"},
	}
	for _, test := range tests {
		b.point = test.program.pointSpec()
		p := predictor{program: &test.program, built: b, levels: []int{25, 100}, profile: "f"}
		if got := strings.Join(p.arguments(10*time.Second), " "); got != test.want {
			t.Errorf("arguments:\n%s\nwant\n%s", got, test.want)
		}
	}
}
