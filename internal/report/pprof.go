package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"whatif/internal/analyze"
)

// Pprof writes the result for go tool pprof: the samples and the gain of each unit. Each unit is
// one sample, with a location that is the unit.
//
// Values are whole numbers there, and pprof adds them up over the groups that it shows, which is
// right for samples only. So a gain is in thousandths: the gain of the program per unit of speed-up
// (the slope), if it is certain, and gain_at_least is the end of the interval that is nearer to
// zero. An uncertain gain is 0. Grouped by lines (-lines), nothing is added up.
func Pprof(w io.Writer, r *analyze.Result, opt Options) error {
	if err := KnownPoint(opt.Point, r); err != nil {
		return err
	}
	p := &profile.Profile{
		SampleType:        []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType:        &profile.ValueType{Type: "cpu", Unit: "nanoseconds"},
		Period:            samplingPeriod(r),
		DurationNanos:     max(0, r.RealNS),
		DefaultSampleType: "cpu",
	}
	if len(r.Runs) > 0 && r.Runs[0].Run != nil {
		p.TimeNanos = max(0, r.Runs[0].Run.Started.UnixNano())
		if r.Runs[0].Run.Started.IsZero() {
			p.TimeNanos = 0
		}
		if len(r.Runs[0].Run.Args) > 0 {
			p.Comments = append(p.Comments, "profile of "+command(r.Runs[0].Run.Args))
		}
	}
	p.Comments = append(p.Comments, "gains are in thousandths of what the unit is made faster by, only where they are "+
		"certain; look at them with -lines")
	if doubt := r.Doubt(); doubt != "" {
		p.Comments = append(p.Comments, clean(doubt))
	}
	for _, w := range serious(r.Warnings) {
		p.Comments = append(p.Comments, "with care: "+clean(w.Text))
	}
	columns := slices.DeleteFunc(pprofColumns(r),
		func(c pprofColumn) bool { return opt.Point != "" && r.Points[c.point].Name != opt.Point })
	for _, c := range columns {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: "gain." + c.name, Unit: "thousandths"},
			&profile.ValueType{Type: "gain_at_least." + c.name, Unit: "thousandths"})
	}
	b := pprofBuilder{p: p, functions: map[[2]string]*profile.Function{}, mappings: map[string]*profile.Mapping{},
		ids: buildIDs(r)}
	name := unitNames(unitsOf(r))
	for i := range r.Targets {
		if opt.Top > 0 && i >= opt.Top {
			break
		}
		t := &r.Targets[i]
		s := &profile.Sample{Location: []*profile.Location{b.location(t, clean(name(t.Unit)))},
			Value: []int64{t.Samples, t.CPUNS}, Label: map[string][]string{}}
		for _, c := range columns {
			sure, least := int64(0), int64(0)
			if e := effectOn(t, c.point, c.metric); e != nil && e.Experiments > 0 {
				sure, least = certain(e.Slope)
				s.Label["verdict."+c.name] = []string{string(e.Verdict)}
			}
			s.Value = append(s.Value, sure, least)
		}
		p.Sample = append(p.Sample, s)
	}
	if err := p.CheckValid(); err != nil {
		return fmt.Errorf("making a profile for pprof: %w", err)
	}
	if err := p.Write(w); err != nil {
		return fmt.Errorf("writing a profile for pprof: %w", err)
	}
	return nil
}

// A pprofColumn is a metric that units have a gain in.
type pprofColumn struct {
	name   string // without blanks, so that it can be typed
	point  int
	metric analyze.Metric
}

func pprofColumns(r *analyze.Result) (columns []pprofColumn) {
	seen := map[string]bool{}
	add := func(k int, m analyze.Metric) {
		name := strings.Join(strings.Fields(clean(r.Points[k].Name)), "_")
		if m != analyze.Throughput {
			name += "." + string(m)
		}
		for seen[name] {
			name += "'"
		}
		seen[name] = true
		columns = append(columns, pprofColumn{name, k, m})
	}
	for k := range r.Points {
		add(k, analyze.Throughput)
	}
	for _, l := range r.Latencies {
		add(l.End, analyze.MeanLatency)
	}
	return columns
}

// certain is a slope in thousandths, and the end of its interval nearer to 0; both are 0 if 0 is in
// the interval.
func certain(e analyze.Estimate) (value, least int64) {
	if !e.Known || !e.Bounded || !finite(e.Value) || !finite(e.Low) || !finite(e.High) || e.Low <= 0 && e.High >= 0 {
		return 0, 0
	}
	end := e.Low
	if e.High < 0 {
		end = e.High
	}
	return whole(1000 * e.Value), whole(1000 * end)
}

// samplingPeriod is the time that a sample stands for, in nanoseconds; if there are several runs,
// that of the first.
func samplingPeriod(r *analyze.Result) int64 {
	for _, run := range r.Runs {
		if run.Run != nil && run.Run.PeriodNS > 0 && run.Run.PeriodNS <= 1e9 {
			return run.Run.PeriodNS
		}
	}
	return 1
}

func buildIDs(r *analyze.Result) map[string]string {
	ids := map[string]string{}
	for _, run := range r.Runs {
		maps.Copy(ids, run.BuildIDs)
	}
	return ids
}

type pprofBuilder struct {
	p         *profile.Profile
	functions map[[2]string]*profile.Function
	mappings  map[string]*profile.Mapping
	ids       map[string]string
}

// location is a unit as a place: its name, with its line and file.
func (b *pprofBuilder) location(t *analyze.Target, name string) *profile.Location {
	u := t.Unit
	function := clean(u.Func)
	if function == "" || u.Kind != "line" {
		function = name
	}
	l := &profile.Location{ID: uint64(len(b.p.Location) + 1),
		Line: []profile.Line{{Function: b.function(function, clean(u.File)), Line: int64(max(0, u.Line))}}}
	if u.Binary != "" {
		l.Mapping = b.mapping(u.Binary)
	}
	b.p.Location = append(b.p.Location, l)
	return l
}

func (b *pprofBuilder) function(name, file string) *profile.Function {
	key := [2]string{name, file}
	f := b.functions[key]
	if f == nil {
		f = &profile.Function{ID: uint64(len(b.functions) + 1), Name: name, SystemName: name, Filename: file}
		b.functions[key] = f
		b.p.Function = append(b.p.Function, f)
	}
	return f
}

func (b *pprofBuilder) mapping(binary string) *profile.Mapping {
	m := b.mappings[binary]
	if m == nil {
		m = &profile.Mapping{ID: uint64(len(b.mappings) + 1), File: clean(binary), BuildID: clean(b.ids[binary]),
			HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}
		b.mappings[binary] = m
		b.p.Mapping = append(b.p.Mapping, m)
	}
	return m
}
