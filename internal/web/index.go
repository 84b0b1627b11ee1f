package web

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"

	"whatif/internal/analyze"
	"whatif/internal/analyze/diff"
	"whatif/internal/profile"
	"whatif/internal/report"
)

// perChunk is how many units have their details in one resource. It is a compromise: a chunk is
// decompressed as a whole, and small chunks compress badly.
const perChunk = 24

// index is what the first view needs, except the rows.
type index struct {
	Version string   `json:"version"`
	Live    bool     `json:"live"`
	Title   string   `json:"title"`
	Sides   []side   `json:"sides"` // the profile, and the one to compare it with
	Views   []view   `json:"views"`
	Units   []unit   `json:"units"`             // by rank; units that only the other side has come last
	Changes []change `json:"changes,omitempty"` // the comparison of the two sides
	Chunk   int      `json:"chunk"`
}

// side describes a profile as a whole, as in the JSON report.
type side struct {
	Label   string       `json:"label"`
	Summary any          `json:"summary"`
	Runs    []report.Run `json:"runs"`
	// Confidence is good, fair or poor, and Why says why not good; "" where a doubt about the run says more.
	Confidence string           `json:"confidence"`
	Why        []string         `json:"why"`
	Recorded   string           `json:"recorded,omitempty"` // from what estimates are
	Points     []report.Point   `json:"points"`
	Latencies  []report.Latency `json:"latencies"`
	Warnings   []warning        `json:"warnings"` // those that are about no point or latency
}

// change is a part of the comparison.
type change struct {
	Head  string   `json:"head"`
	Lines []string `json:"lines"`
}

// warning is one of the report, with its level (see health.go).
type warning struct {
	report.Warning
	Level string `json:"level,omitempty"`
}

// unit is what rows of a unit have in common, in all views.
type unit struct {
	ID     string `json:"id"` // used in links
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Was    string `json:"was,omitempty"` // its name on the other side, if it differs
	Beside string `json:"beside"`        // such as the function of a line
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Begin  int    `json:"begin,omitempty"` // where its source begins: the line, or that of a function's declaration
	Func   string `json:"func,omitempty"`
	Binary string `json:"binary,omitempty"`
	Text   string `json:"text,omitempty"` // of its line, see lines.go
	Source int    `json:"source"`         // number of its source resource; -1 for none
	// By side.
	Share    []float64   `json:"share"`
	Waits    []string    `json:"waits,omitempty"` // what threads wait for in it, the largest first
	Samples  []int64     `json:"samples"`
	Tried    []int       `json:"tried"`
	SetAside []int       `json:"set_aside"`
	Warnings [][]warning `json:"warnings"`
}

func title(r *analyze.Result) string {
	if len(r.Runs) == 0 {
		return "no run"
	}
	if name := report.Command(r.Runs[0].Run.Args); name != "" {
		return name
	}
	return "(no program)"
}

func newSide(label string, r *analyze.Result) side {
	m := report.NewModel(r)
	s := side{Label: report.Clean(label), Summary: m.Summary, Runs: m.Runs, Points: m.Points, Latencies: m.Latencies,
		Warnings: []warning{}, Why: []string{}}
	level, why := report.Confidence(r)
	s.Confidence, s.Why = level, append(s.Why, why...)
	if r.Estimates != nil {
		s.Recorded = report.RecordedText(r)
	}
	particular := map[report.Warning]bool{}
	for i := range s.Points {
		s.Points[i].Name, s.Points[i].Kind = report.Clean(s.Points[i].Name), report.Clean(s.Points[i].Kind)
		for _, w := range m.Points[i].Warnings {
			particular[w] = true
		}
	}
	for i := range s.Latencies {
		s.Latencies[i].Name, s.Latencies[i].Begin = report.Clean(s.Latencies[i].Name), report.Clean(s.Latencies[i].Begin)
		for _, w := range m.Latencies[i].Warnings {
			particular[w] = true
		}
	}
	for _, w := range m.Warnings {
		if !particular[w] {
			s.Warnings = append(s.Warnings, judged(w))
		}
	}
	for i := range s.Runs {
		s.Runs[i].Args = []string{report.Command(s.Runs[i].Args)}
		s.Runs[i].Host, s.Runs[i].Kernel = report.Clean(s.Runs[i].Host), report.Clean(s.Runs[i].Kernel)
		s.Runs[i].File = report.Clean(s.Runs[i].File)
		s.Runs[i].CPUModel = report.Clean(s.Runs[i].CPUModel)
		if k := s.Runs[i].Knobs; k != nil {
			cleaned := *k
			cleaned.Device, cleaned.Text = report.Clean(k.Device), report.Clean(k.Text)
			s.Runs[i].Knobs = &cleaned
		}
		ids := map[string]string{}
		for file, id := range s.Runs[i].BuildIDs {
			ids[report.Clean(file)] = report.Clean(id)
		}
		s.Runs[i].BuildIDs = ids
	}
	return s
}

// mergeUnits lists the units of all sides. Package diff decides which units are the same on both.
func (p *Page) mergeUnits() {
	p.index.Units, p.index.Chunk = []unit{}, perChunk
	ids := map[string]bool{}
	var places map[int]int // places in the list of the first side's targets, by targets of this side
	for s, r := range p.results {
		if s == 1 {
			places = map[int]int{}
			for at, old := range diff.Matches(r, p.results[0]) {
				places[old] = at // the first side's targets are in its order
			}
		}
		model := report.NewModel(r)
		beside := report.Beside(r)
		for i := range r.Targets {
			t := &r.Targets[i]
			at, known := places[i]
			if !known {
				at = len(p.index.Units)
				u := newUnit(&model.Targets[i], report.Clean(beside(t.Unit)))
				if u.ID = u.Name; ids[u.ID] {
					u.ID = fmt.Sprintf("%s~%s", u.Name, digest(t.Unit.Key()))
				}
				ids[u.ID] = true
				p.index.Units = append(p.index.Units, u)
			} else if u, was := &p.index.Units[at], report.Clean(model.Targets[i].Name); was != u.Name {
				u.Was = was
			}
			p.take(s, at, i)
			u := &p.index.Units[at]
			u.Share = extend(u.Share, s, model.Targets[i].Share)
			if text := report.Waits(t); text != "" {
				u.Waits = extend(u.Waits, s, text)
			}
			u.Samples = extend(u.Samples, s, t.Samples)
			u.Tried = extend(u.Tried, s, t.Tried)
			u.SetAside = extend(u.SetAside, s, t.SetAside)
			u.Warnings = extend(u.Warnings, s, judgedAll(model.Targets[i].Warnings))
		}
	}
	n, sides := len(p.index.Units), len(p.results)
	for s := range sides {
		p.take(s, n-1, -2) // extends the list to its full length
	}
	for i := range p.index.Units {
		u := &p.index.Units[i]
		u.Share, u.Samples = full(u.Share, sides), full(u.Samples, sides)
		u.Tried, u.SetAside = full(u.Tried, sides), full(u.SetAside, sides)
		u.Warnings = full(u.Warnings, sides)
	}
}

// take records that target i of side s is the unit at a place; -2 only extends the list.
func (p *Page) take(s, at, i int) {
	for len(p.targets) <= s {
		p.targets = append(p.targets, nil)
	}
	for len(p.targets[s]) <= at {
		p.targets[s] = append(p.targets[s], -1)
	}
	if i >= 0 {
		p.targets[s][at] = i
	}
}

// extend sets the value of side s.
func extend[T any](of []T, s int, v T) []T { return append(full(of, s), v) }

func full[T any](of []T, n int) []T {
	for len(of) < n {
		var zero T
		of = append(of, zero)
	}
	return of
}

func newUnit(t *report.Target, beside string) unit {
	return unit{Name: report.Clean(t.Name), Kind: t.Unit, Beside: beside, File: report.Clean(t.File), Line: t.Line,
		Func: report.Clean(t.Func), Binary: report.Clean(t.Binary), Source: -1}
}

func digest(k profile.UnitKey) string {
	h := fnv.New32a()
	fmt.Fprintf(h, "%+v", k)
	return fmt.Sprintf("%08x", h.Sum32())
}

// listSources numbers the source files of the units of all sides.
func (p *Page) listSources() {
	number := map[string]int{}
	for s, r := range p.results {
		first := firstLines(r)
		for at, i := range p.targets[s] {
			if i < 0 || r.Targets[i].Unit.File == "" {
				continue
			}
			u := r.Targets[i].Unit
			n, known := number[u.File]
			if !known {
				n = len(p.files)
				number[u.File] = n
				p.files = append(p.files, sourceFile{path: u.File, sum: recorded(p.runs[s], u.File)})
			}
			begin := cmp.Or(u.Line, first[body{u.File, u.Name, u.Kind}])
			if begin > 0 {
				p.files[n].shown = append(p.files[n].shown, stretchOf(u.Kind, begin))
			}
			if x := &p.index.Units[at]; x.Source < 0 {
				x.Source, x.Begin = n, begin
			}
		}
	}
	for i := range p.files {
		slices.SortFunc(p.files[i].shown, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	}
}

// body is a function in a file.
type body struct{ file, function, kind string }

// firstLines is the first line that is known of each function: profiles of old have no other place of it.
func firstLines(r *analyze.Result) map[body]int {
	first := map[body]int{}
	for i := range r.Targets {
		u := &r.Targets[i].Unit
		if u.Kind != "line" || u.Func == "" {
			continue
		}
		in := body{u.File, u.Func, "func"}
		if at, known := first[in]; !known || u.Line < at {
			first[in] = u.Line
		}
	}
	return first
}

// recorded is the sum of a file in the last run that knew it.
func recorded(runs []*profile.Data, file string) (sum string) {
	for _, d := range runs {
		sum = cmp.Or(d.Sources[file], sum)
	}
	return sum
}
