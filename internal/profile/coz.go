package profile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The profiles of COZ, in both of its formats: lines of words and tabs (up to version 0.2.2), and
// JSON lines (later). One file may have lines of both.
//
// What COZ measured fits into experiments: those with a speed-up of 0 are the baselines. COZ tries
// a line when it has just been sampled, so in the phase of the program in which the line runs.
// Hence its baselines belong to one line each, and a file becomes one run in parts (Data.Part), one
// for each line that was tried, in the order of time, also across executions of the program. COZ's
// durations are effective ones, without delays, so the delays themselves are not known. Samples are
// counted over whole executions.

// A cozRecord is a line of such a profile, with the names of the JSON format.
type cozRecord struct {
	Type       string  `json:"type"`
	Time       float64 `json:"time"`
	Selected   string  `json:"selected"`
	Speedup    float64 `json:"speedup"`
	Duration   float64 `json:"duration"`
	Name       string  `json:"name"`
	Delta      float64 `json:"delta"`
	Arrivals   float64 `json:"arrivals"`
	Departures float64 `json:"departures"`
	Difference float64 `json:"difference"`
	Location   string  `json:"location"`
	Count      float64 `json:"count"`
}

var (
	cozText = regexp.MustCompile(
		`^(startup|experiment|runtime|samples|throughput-point|progress-point|latency-point|shutdown)\t`)
	cozJSON = regexp.MustCompile(`^\{\s*"type"\s*:`)

	cozStart = regexp.MustCompile(`(startup\ttime=\d+|\{"type":"startup"[^{}]*\})$`)
)

// isCoz recognises a profile of COZ by its beginning.
func isCoz(in *bufio.Reader) bool {
	start, _ := in.Peek(4096) // short files give less, with an error
	start = bytes.TrimLeft(start, " \t\r\n")
	return cozText.Match(start) || cozJSON.Match(start)
}

// readCoz reads the runs of a profile of COZ. It reports damage as Read does.
func (rd *reader) readCoz(in *bufio.Reader) ([]*Data, error) {
	c := cozReader{reader: rd}
	for {
		line, err := rd.next(in)
		if errors.Is(err, io.EOF) {
			c.finish()
			return rd.runs, rd.settle()
		}
		if err == nil {
			err = c.take(line)
		}
		if err != nil {
			c.finish()
			return rd.runs, err
		}
	}
}

// A cozReader is the state between two lines of a profile of COZ.
type cozReader struct {
	*reader
	run       *Data             // the properties that all parts have in common
	parts     map[uint32]*Data  // by unit
	last      *Experiment       // the experiment to which visits belong
	units     map[string]uint32 // by location
	points    map[string]int    // by name
	latencies map[string]int    // likewise
	counted   map[uint32]int64  // samples of the current execution
	at        float64           // effective time so far
}

func (c *cozReader) take(line []byte) error {
	rec, err := parseCoz(line)
	if err := c.put(rec.Type == "startup", err, func() error { return c.add(rec) }); err != nil || c.bad == nil {
		return err
	}
	// COZ appends its next run at the end of the file, even in the middle of a line.
	if at := cozStart.FindIndex(line); at != nil && at[0] > 0 {
		return c.take(line[at[0]:])
	}
	return nil
}

func parseCoz(line []byte) (rec cozRecord, err error) {
	if line[0] == '{' {
		if err := json.Unmarshal(line, &rec); err != nil {
			return rec, fmt.Errorf("not a record of COZ: %w", err)
		}
		rec.Type = strings.ReplaceAll(rec.Type, "_", "-")
	} else if rec, err = parseCozText(string(line)); err != nil {
		return rec, err
	}
	for _, x := range []*float64{&rec.Duration, &rec.Difference} {
		if *x > math.MaxInt64 { // COZ's numbers are unsigned, so this one was negative: delays were longer than the time
			*x -= 1 << 64
		}
	}
	for _, x := range []float64{rec.Time, rec.Speedup, math.Abs(rec.Duration), rec.Delta, rec.Arrivals, rec.Departures,
		math.Abs(rec.Difference), rec.Count} {
		if !within(x) {
			return rec, fmt.Errorf("not a record of COZ: impossible number %v", x)
		}
	}
	missing := ""
	switch rec.Type {
	case "experiment":
		if rec.Selected == "" {
			missing = "selected"
		}
		if rec.Speedup > 1 {
			return rec, fmt.Errorf("not a record of COZ: speed-up of %v", rec.Speedup)
		}
	case "throughput-point", "progress-point", "latency-point":
		if rec.Name == "" {
			missing = "name"
		}
	case "samples":
		if rec.Location == "" {
			missing = "location"
		}
	case "":
		missing = "type"
	}
	if missing != "" {
		return rec, fmt.Errorf("not a record of COZ: no %s in it", missing)
	}
	return rec, nil
}

// parseCozText reads a line of words: its type, and key=value after tabs. Other keys are ignored.
func parseCozText(line string) (rec cozRecord, err error) {
	words := strings.Split(line, "\t")
	rec.Type = words[0]
	if len(words) == 1 {
		return rec, errors.New("not a record of COZ: no tab in it")
	}
	numbers := map[string]*float64{"time": &rec.Time, "speedup": &rec.Speedup, "duration": &rec.Duration,
		"delta":    &rec.Delta,
		"arrivals": &rec.Arrivals, "departures": &rec.Departures, "difference": &rec.Difference, "count": &rec.Count}
	given := map[string]bool{}
	for _, word := range words[1:] {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			return rec, fmt.Errorf("not a record of COZ: %q is not KEY=VALUE", word)
		}
		given[key] = true
		switch key {
		case "selected":
			rec.Selected = value
		case "name":
			rec.Name = value
		case "location":
			rec.Location = value
		}
		if to := numbers[key]; to != nil {
			if *to, err = strconv.ParseFloat(value, 64); err != nil {
				return rec, fmt.Errorf("not a record of COZ: %s is %q", key, value)
			}
		}
	}
	for _, key := range cozNeeds[rec.Type] {
		if !given[key] { // the line was cut short between two words
			return rec, fmt.Errorf("not a record of COZ: no %s in it", key)
		}
	}
	return rec, nil
}

var cozNeeds = map[string][]string{
	"experiment":       {"selected", "speedup", "duration"},
	"throughput-point": {"name", "delta"},
	"progress-point":   {"name", "delta"},
	"latency-point":    {"name", "arrivals", "departures", "difference"},
	"samples":          {"location", "count"},
}

// add puts a record where it belongs. Other types of records are ignored.
func (c *cozReader) add(rec cozRecord) error {
	if c.run == nil {
		c.begin(rec)
	}
	switch rec.Type {
	case "startup":
		c.counted, c.last = map[uint32]int64{}, nil
	case "experiment":
		c.experiment(rec)
	case "throughput-point", "progress-point", "latency-point":
		if c.last == nil {
			return errors.New("visits before the first experiment")
		}
		if rec.Type == "latency-point" {
			return c.latency(rec)
		}
		c.visits(c.point(rec.Name), rec.Delta)
	case "samples": // they add up over an execution, and are written more than once
		id := c.unit(rec.Location)
		if n := int64(rec.Count); n > c.counted[id] {
			c.run.Sampled[id] += n - c.counted[id]
			c.counted[id] = n
		}
	}
	return nil
}

// begin starts the run.
func (c *cozReader) begin(rec cozRecord) {
	const period = 1e6 // the sampling period of COZ
	d := &Data{Units: map[uint32]Unit{}, Sampled: map[uint32]int64{}, File: c.name, Line: c.line,
		Run: Run{Version: Version, ID: "coz", Tool: "COZ", PeriodNS: period, Points: []Point{}}}
	if rec.Type == "startup" && rec.Time > 0 {
		d.Run.Started = time.Unix(0, int64(min(rec.Time, 1<<62))).UTC()
	}
	d.Warnings = []Warning{{Code: "coz", Text: "measured by COZ: intervals hold the scatter of its experiments, and not " +
		"the error of its method, which stops threads where whatif stops cores; phases of the program are not corrected for"}}
	c.runs = append(c.runs, d)
	c.run, c.parts = d, map[uint32]*Data{}
	c.units, c.points, c.latencies, c.counted = map[string]uint32{}, map[string]int{}, map[string]int{}, map[uint32]int64{}
}

// finish gives all experiments the points and latencies of the whole run, which are met one after
// the other. An experiment that recorded nothing of a point has an empty window.
func (c *cozReader) finish() {
	for _, d := range c.runs {
		if d == c.run {
			continue
		}
		d.Run = c.run.Run
		for i := range d.Experiments {
			e := &d.Experiments[i]
			for len(e.Points) < len(d.Run.Points) {
				e.Points = append(e.Points, Visits{})
			}
			for len(e.Latencies) < len(d.Run.Latencies) {
				e.Latencies = append(e.Latencies, Durations{})
			}
		}
	}
}

func (c *cozReader) experiment(rec cozRecord) {
	id := c.unit(rec.Selected)
	d := c.parts[id]
	if d == nil {
		d = &Data{Part: true, Units: map[uint32]Unit{id: c.run.Units[id]}, File: c.name, Line: c.line}
		c.parts[id] = d
		c.runs = append(c.runs, d)
	}
	e := Experiment{Index: len(d.Experiments), StartNS: int64(min(c.at, 1<<62)),
		RealNS: int64(max(0, min(rec.Duration, 1<<62))), Unit: id,
		Speedup: int(math.Round(100 * rec.Speedup))}
	if rec.Duration <= 0 {
		e.SetAside = "delays longer than the time"
	}
	c.at += float64(e.RealNS)
	d.Experiments = append(d.Experiments, e)
	c.last = &d.Experiments[len(d.Experiments)-1]
}

// visits counts visits of a point in the last experiment.
func (c *cozReader) visits(k int, n float64) {
	for len(c.last.Points) <= k {
		c.last.Points = append(c.last.Points, Visits{})
	}
	c.last.Points[k] = Visits{Count: int64(min(n, 1<<62)), Weight: n, WindowNS: float64(c.last.RealNS)}
}

// latency adds a record of a latency: the numbers of begins and ends, and how many requests were in
// the system at the end. The integral over time is estimated from these, because COZ records
// nothing better.
func (c *cozReader) latency(rec cozRecord) error {
	k, ok := c.latencies[rec.Name]
	if !ok {
		if _, ok := c.points[rec.Name]; ok {
			return fmt.Errorf("%q is both a point and a latency", rec.Name)
		}
		begin, end := c.point(rec.Name+"/begin"), c.point(rec.Name)
		k = len(c.run.Run.Latencies)
		c.latencies[rec.Name] = k
		c.run.Run.Latencies = append(c.run.Run.Latencies, Latency{Name: rec.Name, Spec: rec.Name, Begin: begin, End: end})
	}
	l := c.run.Run.Latencies[k]
	c.visits(l.Begin, rec.Arrivals)
	c.visits(l.End, rec.Departures)
	for len(c.last.Latencies) <= k {
		c.last.Latencies = append(c.last.Latencies, Durations{})
	}
	between := max(0, rec.Difference)
	c.last.Latencies[k] = Durations{InSystem: int64(min(between, 1<<62)), Begun: rec.Arrivals, Ended: rec.Departures,
		AreaNS: min(between*float64(c.last.RealNS), math.MaxInt64)}
	return nil
}

func (c *cozReader) point(name string) int {
	k, ok := c.points[name]
	if !ok {
		k = len(c.run.Run.Points)
		c.points[name] = k
		c.run.Run.Points = append(c.run.Run.Points, Point{Name: name, Kind: "source", Spec: name})
	}
	return k
}

// unit is the unit of a location. COZ writes FILE:LINE; any other form is taken for a function.
func (c *cozReader) unit(location string) uint32 {
	id, ok := c.units[location]
	if ok {
		return id
	}
	id = uint32(len(c.units) + 1)
	c.units[location] = id
	u := Unit{ID: id, Kind: "func", Name: location, Func: location}
	if at := strings.LastIndexByte(location, ':'); at > 0 {
		if line, err := strconv.Atoi(location[at+1:]); err == nil && line > 0 && line <= math.MaxInt32 {
			u = Unit{ID: id, Kind: "line", File: location[:at], Line: line}
			u.Name = fmt.Sprintf("%s:%d", path.Base(u.File), line)
		}
	}
	c.run.Units[id] = u
	return id
}
