package web

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"whatif/internal/analyze"
	"whatif/internal/code/sourcefile"
	"whatif/internal/profile"
)

// A world is an invented program: deterministic, with every kind of verdict.
type world struct {
	units       int // in addition to the first four
	experiments int // in addition to those of the first four
	latency     bool
	waiting     bool    // threads wait in the first units
	never       bool    // has a point that is never visited
	scale       float64 // of all gains; 0 stands for 1
	file        string  // source of the first units; "" for one that does not exist
}

// made makes the world's run. Its first units make the program faster, slower, neither, and were
// hardly tried; one was never tried.
func (w world) made() *profile.Data {
	file := w.file
	if file == "" {
		file = "/src/parse.c"
	}
	d := &profile.Data{
		File: "whatif.profile",
		Run: profile.Run{Version: 1, ID: "r1", Started: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
			Args: []string{"./server", "--name", "a b"}, Host: "h", Kernel: "6.1", CPUs: 2, CPUModel: "Model T",
			BuildIDs: map[string]string{"/bin/server": "0a1b"}, PeriodNS: 1e6,
			Points: []profile.Point{{Name: "request", Kind: "func", Spec: "func:request"}}},
		Units: map[uint32]profile.Unit{
			1: {ID: 1, Kind: "line", Name: "parse.c:18", File: file, Line: 18, Func: "parse_row", Binary: "/bin/server"},
			2: {ID: 2, Kind: "line", Name: "spin.c:7", File: "/src/spin.c", Line: 7, Func: "lock", Binary: "/bin/server"},
			3: {ID: 3, Kind: "line", Name: "parse.c:30", File: file, Line: 30, Func: "write_log", Binary: "/bin/server"},
			4: {ID: 4, Kind: "func", Name: "checksum", File: "/src/sum.c", Func: "checksum", Binary: "/lib/libsum.so"},
			5: {ID: 5, Kind: "line", Name: "cold.c:1", File: "/src/cold.c", Line: 1, Func: "cold", Binary: "/bin/server"},
		},
		Sources: map[string]string{},
	}
	if w.scale == 0 {
		w.scale = 1
	}
	if w.latency {
		d.Run.Points = append(d.Run.Points, profile.Point{Name: "put/begin", Kind: "func"},
			profile.Point{Name: "put", Kind: "func"})
		d.Run.Latencies = []profile.Latency{{Name: "put", Begin: 1, End: 2}}
	}
	if w.waiting {
		d.Run.Waiting = []string{"disk", "net", "sleep"}
	}
	if w.never {
		d.Run.Points = append(d.Run.Points, profile.Point{Name: "flush", Kind: "func"})
	}
	for i := range 48 {
		for unit := range uint32(3) {
			w.pair(d, unit+1, 25*(i%4+1), i%2 == 0)
		}
	}
	w.pair(d, 4, 50, false)
	d.Experiments[5].SetAside = "steal"
	for i := range w.units {
		id := uint32(10 + i)
		f := fmt.Sprintf("file%d.c", i%97)
		d.Units[id] = profile.Unit{ID: id, Kind: "line", Name: fmt.Sprintf("%s:%d", f, i), File: "/src/" + f, Line: i,
			Func: fmt.Sprintf("function_%d", i/3), Binary: fmt.Sprintf("/lib/lib%d.so", i%7)}
	}
	for i := 0; i < w.experiments/2 && w.units > 0; i++ {
		w.pair(d, uint32(10+i%w.units), 5*(i/w.units*7%20+1), i%2 == 0)
	}
	d.End = &profile.End{RealNS: 60e9, Visits: []int64{60000, 20000, 20000, 0}[:len(d.Run.Points)]}
	if w.never {
		d.End.Visits[len(d.End.Visits)-1] = 0
	}
	return d
}

// pair adds an experiment and a baseline.
func (w world) pair(d *profile.Data, unit uint32, speedup int, first bool) {
	pair := len(d.Experiments)/2 + 1
	for i := range 2 {
		if (i == 0) == first {
			w.experiment(d, unit, speedup, pair)
		} else {
			w.experiment(d, 0, 0, pair)
		}
	}
}

func (w world) experiment(d *profile.Data, unit uint32, speedup, pair int) {
	slope := w.scale * map[uint32]float64{1: 0.6, 2: -0.2}[unit]
	n := len(d.Experiments)
	// Noise of one in a hundred, which looks random and is not.
	noise := 1 + 0.01*math.Sin(float64(n%1000*(n%1000))*1.7+float64(n))
	e := profile.Experiment{Index: n, Unit: unit, Speedup: speedup, StartNS: int64(n) * 200e6, RealNS: 200e6, Pair: pair,
		Samples:     400,
		UnitSamples: map[uint32]int64{1: 240, 2: 80, 3: 40, 4: 20, 5: 4}, OwnNS: 1e6, PausedNS: 5e6}
	if w.waiting {
		e.UnitWaitedNS = map[uint32]map[string]int64{1: {"disk": e.RealNS / 4, "lock": 2 * e.RealNS, "sleep": e.RealNS / 20},
			2: {"sleep": e.RealNS / 2}, 3: {"net": e.RealNS / 200}}
	}
	if unit >= 10 {
		e.UnitSamples[unit] = 16
	}
	s := float64(speedup) / 100
	e.DelayNS = int64(s * 200e6 * float64(e.UnitSamples[unit]) / 400)
	window := 0.7 * float64(e.RealNS-e.DelayNS)
	visits := window / 1e6 / (1 - slope*s) / noise
	for i := range d.Run.Points {
		v := profile.Visits{Count: int64(visits / 0.7), Weight: visits, WindowNS: window}
		if d.Run.Points[i].Name == "flush" {
			v.Count, v.Weight = 0, 0
		}
		e.Points = append(e.Points, v)
	}
	if w.latency {
		e.Latencies = []profile.Durations{requests(int64(visits), n, 1-slope*s)}
	}
	d.Experiments = append(d.Experiments, e)
}

// requests are n requests that take 1 to 5 ms, times a factor.
func requests(n int64, seed int, factor float64) (l profile.Durations) {
	bins := map[int64]int64{}
	for k := range n {
		ns := (1e6 + float64((k*37+int64(seed))%101)*4e4) * factor
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
	return l
}

// unlucky are profiles of runs that went wrong, and of hostile names.
func unlucky() map[string][]*profile.Data {
	none := &profile.Data{Run: profile.Run{Version: 1, Points: []profile.Point{{Name: "request", Kind: "func"}}},
		Units: map[uint32]profile.Unit{}}
	one := world{}.made()
	one.Experiments, one.End, one.Torn = one.Experiments[:1], nil, true
	noBaseline := world{}.made()
	kept := noBaseline.Experiments[:0]
	for _, e := range noBaseline.Experiments {
		if e.Unit != 0 {
			kept = append(kept, e)
		}
	}
	noBaseline.Experiments = kept
	oneUnit := world{}.made()
	kept = nil
	for _, e := range oneUnit.Experiments {
		e.UnitSamples = map[uint32]int64{1: 240}
		if e.Unit <= 1 {
			kept = append(kept, e)
		}
	}
	oneUnit.Experiments, oneUnit.Units = kept, map[uint32]profile.Unit{1: oneUnit.Units[1]}
	names := world{latency: true}.made()
	evil := `</script><script>document.title="broken"</script><img src=x onerror="document.title='broken'">` +
		"\x1b]0;title\a\u202e\r\x00'\"&" + strings.Repeat("abcdefghi/", 30)
	names.Run.Args = []string{evil, "\xff"}
	names.Run.Host, names.Run.Kernel = evil, evil
	for i := range names.Run.Points {
		names.Run.Points[i].Name += evil
	}
	names.Run.Latencies[0].Name += evil
	for id, u := range names.Units {
		u.Name, u.Func, u.File, u.Binary = evil+u.Name, evil+u.Func, u.File+evil, u.Binary+evil
		names.Units[id] = u
	}
	names.Experiments[7].SetAside = evil
	names.Warnings = []profile.Warning{{Code: evil, Text: evil}}
	zero := world{}.made() // numbers for which divisions give NaN and infinity
	for i := range zero.Experiments {
		e := &zero.Experiments[i]
		e.Samples, e.UnitSamples = 0, nil
		switch i % 4 {
		case 0:
			e.RealNS = 0
		case 1:
			e.DelayNS, e.Points[0].WindowNS = e.RealNS, 0
		case 2:
			e.Points[0].Weight = 1e-300
		case 3:
			e.Points[0].Weight, e.Points[0].WindowNS = 9e18, 1
		}
	}
	return map[string][]*profile.Data{"nothing": nil, "empty": {none}, "one": {one}, "nobaseline": {noBaseline},
		"oneunit": {oneUnit}, "names": {names}, "zero": {zero}}
}

// estimates are what a recording of the world would say: of a unit that was tested, too, of one that was not, of one
// that no experiment met, and of one why there are none.
func (w world) estimates() *analyze.Estimates {
	levels := func(gain float64) (all []analyze.Level) {
		for s := 5; s <= 100; s += 5 {
			g := gain * math.Sqrt(float64(s)/100)
			all = append(all, analyze.Level{Speedup: s, Gain: analyze.Estimate{Value: g, Low: 0.8*g - 0.2, High: 1.2*g + 0.2,
				Known: true, Bounded: true}})
		}
		return all
	}
	effect := func(gain float64) []analyze.EstimatedEffect {
		return []analyze.EstimatedEffect{{Point: "request", Metric: analyze.Throughput, Levels: levels(gain)}}
	}
	made := w.made()
	return &analyze.Estimates{Seconds: 4.8, Within: true,
		Points: []analyze.EstimatedPoint{{Name: "request", Visits: 4800, Rate: 1000}},
		Units: []analyze.EstimatedUnit{
			{Unit: made.Units[1], Share: 60, Samples: 2880, Effects: effect(55)},
			{Unit: profile.Unit{Kind: "line", Name: "index.c:9", File: "/src/index.c", Line: 9, Func: "find",
				Binary: "/bin/server", Text: "while (low < high) {"}, Share: 8, Samples: 384, Effects: effect(21)},
			{Unit: made.Units[5], Share: 1, Samples: 48, Effects: effect(0.1)},
			{Unit: profile.Unit{Kind: "wait", Name: "wait:cpu"}, Waited: 5, Effects: []analyze.EstimatedEffect{
				{Point: "request", Metric: analyze.Throughput, Refused: "waiting for a core: whatif ask --cores"}}},
		}}
}

// estimatedPage is the page of a world with a recording.
func estimatedPage(w world) *Page {
	return New(Profile{Label: "whatif.profile", Runs: pageRuns(w), Estimates: w.estimates()}, nil, 0, false)
}

func pageOf(runs ...*profile.Data) *Page {
	return New(Profile{Label: "whatif.profile", Runs: runs}, nil, 0, false)
}

func pageRuns(w world) []*profile.Data { return []*profile.Data{w.made()} }

// sumOf is the checksum that a run would record of a file.
func sumOf(t *testing.T, path string) string {
	t.Helper()
	text, err := sourcefile.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return sourcefile.Sum(text)
}
