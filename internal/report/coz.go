package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"whatif/internal/profile"
)

// Coz writes the experiments in COZ's format, for its viewer and for scripts that read its
// profiles: as words and tabs, which all of its versions read, or, with asJSON, as JSON lines,
// which the later ones write.
//
// COZ measures a baseline for each line, and its viewer does not show lines without one. So a
// baseline is written under the name of each unit that has an experiment next to it. Visits are
// whole numbers there; the next experiment with the same unit and speed-up gets what rounding took
// from the one before. Times are effective ones. Discarded experiments are left out.
func Coz(w io.Writer, runs []*profile.Data, asJSON bool) error {
	out := &cozWriter{w: bufio.NewWriter(w), json: asJSON}
	for _, d := range runs {
		out.run(d)
	}
	if err := out.w.Flush(); err != nil {
		return fmt.Errorf("writing a profile for COZ: %w", err)
	}
	return nil
}

type cozWriter struct {
	w    *bufio.Writer
	json bool
	left map[cozCell]float64
	time float64
}

// A cozCell is where rounding errors are carried on.
type cozCell struct {
	unit    uint32
	speedup int
	what    string
	index   int
}

func (c *cozWriter) run(d *profile.Data) {
	c.left = map[cozCell]float64{}
	if !d.Part {
		c.time = 0
		started := int64(0)
		if !d.Run.Started.IsZero() {
			started = d.Run.Started.UnixNano()
		}
		c.record("startup", "time", started)
	}
	written := map[[2]int]bool{} // a baseline, under a unit's name
	for i := range d.Experiments {
		e := &d.Experiments[i]
		if e.IsBaseline() || !cozUsable(e) || d.IsPlacebo(e) || isTogether(d, e.Unit) {
			continue
		}
		if b := baselineOf(d, i); b >= 0 && !written[[2]int{b, int(e.Unit)}] {
			written[[2]int{b, int(e.Unit)}] = true
			c.experiment(d, &d.Experiments[b], e.Unit)
		}
		c.experiment(d, e, e.Unit)
	}
	c.record("runtime", "time", whole(c.time))
	for _, s := range cozSamples(d) {
		c.record("samples", "location", cozName(d.Units[s.unit]), "count", s.n)
	}
}

// isTogether says whether a unit is several at once, which COZ does not know.
func isTogether(d *profile.Data, unit uint32) bool { return d.Units[unit].Kind == profile.Together }

func cozUsable(e *profile.Experiment) bool { return e.SetAside == "" && effective(e) > 0 }

func effective(e *profile.Experiment) float64 { return float64(e.RealNS) - float64(e.DelayNS) }

// baselineOf is the baseline that the plan drew with an experiment, or else the nearest in time; -1
// if there is none.
func baselineOf(d *profile.Data, of int) int {
	nearest, pair := -1, d.Experiments[of].Pair
	for step := 1; step < len(d.Experiments); step++ {
		for _, i := range []int{of - step, of + step} {
			if i < 0 || i >= len(d.Experiments) || !d.Experiments[i].IsBaseline() || !cozUsable(&d.Experiments[i]) {
				continue
			}
			if pair != 0 && d.Experiments[i].Pair == pair {
				return i
			}
			if nearest < 0 {
				nearest = i
			}
		}
		if nearest >= 0 && (pair == 0 || step >= 2) {
			break // the two of a pair are neighbours
		}
	}
	return nearest
}

// experiment writes an experiment under the name of a unit.
func (c *cozWriter) experiment(d *profile.Data, e *profile.Experiment, unit uint32) {
	duration := effective(e)
	c.time += duration
	speedup := e.Speedup
	if e.IsBaseline() {
		speedup = 0
	}
	fraction := any(cozFraction(speedup))
	samples := "selected-samples"
	if c.json {
		fraction, samples = json.Number(cozFraction(speedup)), "selected_samples"
	}
	c.record("experiment", "selected", cozName(d.Units[unit]), "speedup", fraction,
		"duration", whole(duration), samples, e.UnitSamples[unit])
	inLatency := map[int]bool{}
	for _, l := range d.Run.Latencies {
		inLatency[l.Begin], inLatency[l.End] = true, true
	}
	round := func(what string, index int, x float64) int64 {
		cell := cozCell{unit, speedup, what, index}
		n := math.Round(x + c.left[cell])
		c.left[cell] += x - n
		return whole(n)
	}
	for k, v := range e.Points {
		if k >= len(d.Run.Points) || inLatency[k] {
			continue
		}
		if v.WindowNS <= 0 && v.Weight <= 0 && v.Count <= 0 {
			continue // the experiment recorded nothing of this point
		}
		visits := float64(v.Count)
		if v.WindowNS > 0 {
			visits = v.Weight / v.WindowNS * duration
		}
		// Without type=source, which COZ's viewer would take for the kind of the line.
		c.record("throughput-point", "name", clean(d.Run.Points[k].Name), "delta", round("visits", k, visits))
	}
	for k := range e.Latencies {
		if k >= len(d.Run.Latencies) {
			break
		}
		l := d.Run.Latencies[k]
		window := e.Points[l.Begin].WindowNS
		if window <= 0 {
			continue
		}
		t := &e.Latencies[k]
		c.record("latency-point", "name", clean(l.Name), "arrivals", round("arrivals", k, t.Begun/window*duration),
			"departures", round("departures", k, t.Ended/window*duration),
			"difference", round("difference", k, max(0, t.AreaNS)/window))
	}
}

// record writes a line: keys and values alternately.
func (c *cozWriter) record(kind string, pairs ...any) {
	if !c.json {
		c.w.WriteString(kind)
		for i := 0; i < len(pairs); i += 2 {
			fmt.Fprintf(c.w, "\t%v=%v", pairs[i], pairs[i+1])
		}
		c.w.WriteByte('\n')
		return
	}
	fmt.Fprintf(c.w, `{"type":%q`, kind)
	for i := 0; i < len(pairs); i += 2 {
		value, err := json.Marshal(pairs[i+1])
		if err != nil { // impossible for strings and whole numbers
			value = []byte("null")
		}
		fmt.Fprintf(c.w, `,%q:%s`, pairs[i], value)
	}
	c.w.WriteString("}\n")
}

// cozFraction formats a speed-up as COZ does.
func cozFraction(percent int) string { return strconv.FormatFloat(float64(percent)/100, 'f', 2, 64) }

// cozName is COZ's name of a unit: FILE:LINE.
func cozName(u profile.Unit) string {
	if u.Kind == "line" && u.File != "" {
		return clean(u.File) + ":" + strconv.Itoa(u.Line)
	}
	if u.Name == "" {
		return "?"
	}
	return clean(u.Name)
}

type unitCount struct {
	unit uint32
	n    int64
}

// cozSamples is how many samples each unit had in the whole run, by name.
func cozSamples(d *profile.Data) []unitCount {
	sum := map[uint32]int64{}
	for i := range d.Experiments {
		for id, n := range d.Experiments[i].UnitSamples {
			sum[id] += n
		}
	}
	for id, n := range d.Sampled {
		sum[id] += n
	}
	var all []unitCount
	for id, n := range sum {
		if isTogether(d, id) {
			continue // its units have these samples
		}
		all = append(all, unitCount{id, n})
	}
	slices.SortFunc(all, func(a, b unitCount) int {
		if by := strings.Compare(cozName(d.Units[a.unit]), cozName(d.Units[b.unit])); by != 0 {
			return by
		}
		return int(a.unit) - int(b.unit)
	})
	return all
}

// whole is x as a whole number that any reader can represent.
func whole(x float64) int64 {
	const most = 1 << 53 // the largest exact integer in JavaScript
	if math.IsNaN(x) {
		return 0
	}
	return int64(math.Round(max(-most, min(most, x))))
}
