package profile

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const cozWords = "startup\ttime=1415880321185373496\n" +
	"experiment\tselected=src/a.c:12\tspeedup=0.00\tduration=100\tselected-samples=3\n" +
	"progress-point\tname=a.c:40\ttype=source\tdelta=10\n" +
	"experiment\tselected=src/b.c:3\tspeedup=0.05\tduration=50\tselected-samples=3\n" +
	"throughput-point\tname=a.c:40\ttype=source\tdelta=7\n" +
	"latency-point\tname=wait\tarrivals=5\tdepartures=4\tdifference=2\n" +
	"samples\tlocation=src/a.c:12\tcount=3\n" +
	"samples\tlocation=src/a.c:12\tcount=9\n" +
	"runtime\ttime=150\n" +
	"startup\ttime=1415880321185373497\n" +
	"experiment\tselected=src/a.c:12\tspeedup=1.00\tduration=18446744073709551000\tselected-samples=3\n" +
	"samples\tlocation=src/a.c:12\tcount=4\n" +
	"shutdown\ttime=1415880321185373498\tsamples=1\n"

const cozObjects = `{"type":"startup","time":1415880321185373496}
{"type":"experiment","selected":"src/a.c:12","speedup":0,"duration":100,"selected_samples":3}
{"type":"throughput_point","name":"a.c:40","delta":10}
{"type":"experiment","selected":"src/b.c:3","speedup":0.05,"duration":50,"selected_samples":3}
{"type":"throughput-point","name":"a.c:40","delta":7}
{"type":"latency-point","name":"wait","arrivals":5,"departures":4,"difference":2}
{"type":"samples","location":"src/a.c:12","count":3}
{"type":"samples","location":"src/a.c:12","count":9}
{"type":"runtime","time":150}
{"type":"startup","time":1415880321185373497}
{"type":"experiment","selected":"src/a.c:12","speedup":1,"duration":18446744073709551000,"selected_samples":3}
{"type":"something-new","of":["a","fork"]}
{"type":"samples","location":"src/a.c:12","count":4}
`

func TestReadCoz(t *testing.T) {
	for name, text := range map[string]string{"words": cozWords, "objects": cozObjects, "blank lines": "\n\n" + cozWords} {
		runs, err := Read("x", strings.NewReader(text))
		if err != nil || len(runs) != 3 {
			t.Fatalf("%s: %d runs: %v", name, len(runs), err)
		}
		run, a, b := runs[0], runs[1], runs[2]
		if run.Run.Tool != "COZ" || run.Part || !a.Part || !b.Part || run.Run.Started.Year() != 2014 ||
			len(run.Warnings) != 1 {
			t.Errorf("%s: run %+v", name, run)
		}
		if run.Sampled[1] != 13 { // 9 in the first execution, 4 in the second
			t.Errorf("%s: %d samples", name, run.Sampled[1])
		}
		if u := run.Units[1]; u.Kind != "line" || u.Name != "a.c:12" || u.File != "src/a.c" || u.Line != 12 {
			t.Errorf("%s: unit %+v", name, u)
		}
		if p := a.Run.Points; len(p) != 3 || p[0].Name != "a.c:40" || p[1].Name != "wait/begin" || p[2].Name != "wait" {
			t.Fatalf("%s: points %+v", name, p)
		}
		first, wrapped := a.Experiments[0], a.Experiments[1]
		if !first.IsBaseline() || first.Points[0] != (Visits{10, 10, 100}) || first.Points[2] != (Visits{}) ||
			first.SetAside != "" {
			t.Errorf("%s: first experiment %+v", name, first)
		}
		if wrapped.SetAside == "" || wrapped.RealNS != 0 || wrapped.Speedup != 100 {
			t.Errorf("%s: experiment of less than no time %+v", name, wrapped)
		}
		e := b.Experiments[0]
		if e.Speedup != 5 || e.Points[0].Count != 7 || e.Points[1].Count != 5 || e.Points[2].Count != 4 ||
			e.Latencies[0].AreaNS != 100 || e.Latencies[0].Begun != 5 {
			t.Errorf("%s: experiment %+v", name, e)
		}
	}
}

// TestTornCoz: COZ appends its next run to what a kill left.
func TestTornCoz(t *testing.T) {
	whole := len("experiment\tselected=src/a.c:12\tspeedup=0.00\tduration=100\tselected-samples=3\n" +
		"progress-point\tname=a.c:40\ttype=source\tdelta=10\n")
	head, tail := "startup\ttime=1\n", cozWords[strings.Index(cozWords, "experiment"):][:whole]
	for name, text := range map[string]string{
		"end":   head + tail + "experiment\tselected=src/a.c:12\tspee",
		"glued": head + tail + "experiment\tselected=src/a.c:12\tspeestartup\ttime=2\n" + tail,
		"object": `{"type":"startup","time":1}` + "\n" + `{"type":"experiment","selected":"a:1","speedup":0,"duration":1}` +
			"\n" + `{"type":"experi{"type":"startup","time":2}` + "\n",
	} {
		runs, err := Read("x", strings.NewReader(text))
		if err != nil || !runs[len(runs)-1].Torn {
			t.Errorf("%s: %+v, %v", name, runs, err)
		}
	}
	for name, text := range map[string]string{
		"middle":       head + "experiment\tselected=src/a.c:12\tspee\n" + tail,
		"no number":    head + "experiment\tselected=a\tspeedup=x\tduration=1\n" + tail,
		"NaN":          head + "experiment\tselected=a\tspeedup=NaN\tduration=1\n" + tail,
		"infinite":     head + "experiment\tselected=a\tspeedup=0\tduration=Inf\n" + tail,
		"too fast":     head + "experiment\tselected=a\tspeedup=1.5\tduration=1\n" + tail,
		"homeless":     head + "progress-point\tname=a\tdelta=1\n" + tail,
		"two of a key": head + tail + "latency-point\tname=a.c:40\tarrivals=1\tdepartures=1\tdifference=1\n" + tail,
		"prose":        head + "Dear Sir\n" + tail,
	} {
		if _, err := Read("x", strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), "x:") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestShippedCoz reads all profiles that Debian's coz-profiler ships, and counts their experiments.
func TestShippedCoz(t *testing.T) {
	files, err := filepath.Glob("/usr/share/coz-profiler/viewer/profiles/*.coz")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("Debian's coz-profiler is not installed")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		runs, err := ReadFiles([]string{file})
		if err != nil {
			t.Error(err)
			continue
		}
		experiments, baselines := 0, 0
		for _, d := range runs {
			experiments += len(d.Experiments)
			for i := range d.Experiments {
				if d.Experiments[i].IsBaseline() {
					baselines++
				}
			}
		}
		if want := bytes.Count(text, []byte("\nexperiment\t")); experiments != want || want < 100 {
			t.Errorf("%s: %d experiments, want %d", file, experiments, want)
		}
		if want := bytes.Count(text, []byte("speedup=0.00\t")); baselines != want {
			t.Errorf("%s: %d baselines, want %d", file, baselines, want)
		}
		if len(runs[0].Sampled) < 30 || len(runs[0].Run.Points) != 1 {
			t.Errorf("%s: %d units sampled, points %+v", file, len(runs[0].Sampled), runs[0].Run.Points)
		}
	}
}

func FuzzReadCoz(f *testing.F) {
	f.Add([]byte(cozWords))
	f.Add([]byte(cozObjects))
	f.Add([]byte("startup\ttime=1\nexperiment\tselected=a\tspee"))
	f.Fuzz(func(t *testing.T, text []byte) {
		runs, _ := Read("x", bytes.NewReader(text))
		for _, d := range runs {
			if d.Run.Tool != "COZ" && !d.Part {
				continue
			}
			for i := range d.Experiments {
				e := &d.Experiments[i]
				if len(e.Points) != len(d.Run.Points) || len(e.Latencies) != len(d.Run.Latencies) {
					t.Fatalf("experiment %d: %d points and %d latencies, the run has %d and %d",
						i, len(e.Points), len(e.Latencies), len(d.Run.Points), len(d.Run.Latencies))
				}
				if _, ok := d.Units[e.Unit]; !ok || e.RealNS < 0 || e.Speedup < 0 || e.Speedup > 100 {
					t.Fatalf("experiment %+v", e)
				}
				for _, v := range e.Points {
					if !within(v.Weight) || !within(v.WindowNS) || v.Count < 0 {
						t.Fatalf("visits %+v", v)
					}
				}
				for k := range e.Latencies {
					if err := e.Latencies[k].check(); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	})
}
