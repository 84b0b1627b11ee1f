package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// JSONVersion is the version of the JSON report. It changes if a field is renamed or gets another
// meaning, but not if one is added.
const JSONVersion = 1

// writeJSON writes a value as all reports are written: for people, too. doing is for the error.
func writeJSON(w io.Writer, doing string, value any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// JSON writes the result as one JSON object, indented. Gains, shares and speed-ups are in percent.
// Unknown numbers are null (slope, ci) or left out (a level without a gain). No number is ever NaN
// or infinite.
func JSON(w io.Writer, r *analyze.Result, opt Options) error {
	if err := KnownPoint(opt.Point, r); err != nil {
		return err
	}
	return writeJSON(w, "writing JSON report", toJSON(r).only(opt))
}

// only removes what the options do not select.
func (j jsonReport) only(opt Options) jsonReport {
	if opt.Top > 0 {
		j.Targets = j.Targets[:min(len(j.Targets), opt.Top)]
	}
	if opt.Point == "" {
		return j
	}
	j.Points = slices.DeleteFunc(j.Points, func(p jsonPoint) bool { return p.Name != opt.Point })
	j.Latencies = slices.DeleteFunc(j.Latencies, func(l jsonLatency) bool { return l.Name != opt.Point })
	other := func(e jsonEffect) bool { return e.Name != opt.Point }
	for i := range j.Targets {
		t := &j.Targets[i]
		t.Points = slices.DeleteFunc(t.Points, other)
	}
	if j.Placebo != nil {
		j.Placebo.Points = slices.DeleteFunc(j.Placebo.Points, other)
	}
	return j
}

type jsonReport struct {
	Version   int           `json:"version"`
	Summary   jsonSummary   `json:"summary"`
	Runs      []jsonRun     `json:"runs"`
	Points    []jsonPoint   `json:"points"`
	Latencies []jsonLatency `json:"latencies"`
	Targets   []jsonTarget  `json:"targets"`
	Placebo   *jsonTarget   `json:"placebo,omitempty"` // the placebo's effects
	Device    *jsonDevice   `json:"device,omitempty"`  // that the report is about, if that is not the machine of the runs
	Warnings  []jsonWarning `json:"warnings"`
}

type jsonSummary struct {
	Seconds     float64        `json:"seconds"` // of all experiments
	Experiments int            `json:"experiments"`
	Baselines   int            `json:"baselines"`
	SetAside    map[string]int `json:"set_aside"`
	Samples     int64          `json:"samples"`
	Delay       float64        `json:"delay"` // percent of the time that was virtual delay
	OwnCPU      float64        `json:"own_cpu"`
	Doubt       string         `json:"doubt"` // why the whole run tells little; "" if it does not
	// Recorded is the length of the recording that estimates are from, in seconds.
	Recorded float64 `json:"recorded,omitempty"`
}

type jsonRun struct {
	ID       string            `json:"id"`
	Args     []string          `json:"args"`
	Subject  string            `json:"subject,omitempty"` // attach or system; none for a program that was started
	Host     string            `json:"host"`
	Kernel   string            `json:"kernel"`
	CPUs     int               `json:"cpus"`
	CPUModel string            `json:"cpu_model,omitempty"`
	Tool     string            `json:"tool,omitempty"` // the tool that measured, if it was not whatif
	BuildIDs map[string]string `json:"build_ids,omitempty"`
	Started  string            `json:"started"`
	File     string            `json:"file"`
	Status   *int              `json:"status"` // null if the run was killed
	// EndedAfter is after how many seconds whatif ended the program, as it was asked to; 0: it did not.
	EndedAfter  float64 `json:"ended_after,omitempty"`
	Experiments int     `json:"experiments"`
	// Knobs is what the program really had of another machine.
	Knobs *profile.Knobs `json:"knobs,omitempty"`
}

type jsonPoint struct {
	Name        string        `json:"name"`
	Kind        string        `json:"kind"`
	Sites       int           `json:"sites,omitempty"` // places in code at which it was counted
	Visits      int64         `json:"visits"`
	Rate        float64       `json:"rate"`              // visits per second without speed-ups
	Noise       float64       `json:"noise"`             // standard deviation of one baseline, percent
	Paced       bool          `json:"paced,omitempty"`   // not slowed by delays: gains are in real time
	DelayBiased bool          `json:"dragged,omitempty"` // delays by themselves slow it down: gains are corrected
	Warnings    []jsonWarning `json:"warnings"`
}

// jsonLatency is a latency without speed-ups, in nanoseconds; null if not known. It has the name of
// the point at which it ends.
type jsonLatency struct {
	Name      string        `json:"name"`
	Begin     string        `json:"begin"` // name of the point at which it begins
	Mean      *float64      `json:"mean_ns"`
	P50       *float64      `json:"p50_ns"`
	P95       *float64      `json:"p95_ns"`
	P99       *float64      `json:"p99_ns"`
	InSystem  float64       `json:"in_system"`
	Matched   int64         `json:"matched"`
	Unmatched int64         `json:"unmatched"`
	LeftOut   int           `json:"left_out"` // experiments and baselines not used
	Warnings  []jsonWarning `json:"warnings"`
}

type jsonTarget struct {
	Unit    string  `json:"unit"`
	Name    string  `json:"name"`
	File    string  `json:"file"`
	Line    int     `json:"line"`
	Func    string  `json:"func"`
	Self    bool    `json:"self,omitempty"` // a function's own code only, without the functions that it calls
	Binary  string  `json:"binary"`
	Share   float64 `json:"share"`
	Samples int64   `json:"samples"`
	// Waiting is the time that threads waited in it, by class, in percent of the time, summed over
	// threads.
	Waiting map[string]float64 `json:"waiting,omitempty"`
	Memory  *jsonMemory        `json:"memory,omitempty"`
	// Together is the units of a combination, by how much each is faster. Points then have the gain.
	Together []jsonAskedUnit `json:"together,omitempty"`
	RankHere int             `json:"rank_here,omitempty"` // from 1, on the machine of the runs, if there is a device
	Tried    int             `json:"experiments"`
	SetAside int             `json:"set_aside"`
	Points   []jsonEffect    `json:"points"`
	Warnings []jsonWarning   `json:"warnings"`
}

// jsonMemory is the part of a unit's CPU time that waits for memory, in percent.
type jsonMemory struct {
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

func memoryJSON(m analyze.Estimate) *jsonMemory {
	if !m.Known {
		return nil
	}
	return &jsonMemory{round(m.Value, 1), round(m.Low, 1), round(m.High, 1)}
}

type jsonEffect struct {
	Name    string          `json:"name"`
	Metric  analyze.Metric  `json:"metric"`
	Verdict analyze.Verdict `json:"verdict"`
	// Reason gives the reason of the verdict, in words. Shape is "" if the data do not say. ShapeAt
	// is the speed-up, in percent, at which a plateau begins or a peak is.
	Reason  string        `json:"reason"`
	Shape   analyze.Shape `json:"shape"`
	ShapeAt *int          `json:"shape_at"`
	Slope   *float64      `json:"slope"`
	SlopeCI *[2]float64   `json:"slope_ci"`
	// Bound is "upper" if the true gains may be less than the measured ones, but not more.
	Bound string `json:"bound,omitempty"`
	// Gain and CI are of a combination: what experiments say or, without them, what a recording says.
	Gain        *float64    `json:"gain,omitempty"`
	CI          *[2]float64 `json:"ci,omitempty"`
	Experiments int         `json:"experiments"`
	// Phase is the factor of gains because the unit runs in phases.
	Phase float64 `json:"phase"`
	// Curve has 0 and the speed-ups that were tried.
	Curve []jsonLevel `json:"curve"`
	// Marks are 25, 50, 75 and 100%, tried or not, as far as the curve reaches.
	Marks []jsonLevel `json:"marks"`
	// Estimate is what a recording says, without experiments, at every 5%. If there is a recording and it says
	// nothing, Refused is the reason.
	Estimate []jsonEstimate `json:"estimate"`
	// EstimateBound is like Bound.
	EstimateBound string        `json:"estimate_bound,omitempty"`
	Basis         analyze.Basis `json:"basis"`
	Refused       string        `json:"refused,omitempty"`
	Here          *jsonHere     `json:"here,omitempty"` // if there is a device: what is known on the machine of the runs
	Warnings      []jsonWarning `json:"warnings"`
}

type jsonEstimate struct {
	Speedup int         `json:"speedup"`
	Gain    float64     `json:"gain"`
	CI      *[2]float64 `json:"ci"`
}

type jsonLevel struct {
	Speedup     int         `json:"speedup"`
	Gain        float64     `json:"gain"`
	CI          *[2]float64 `json:"ci"`
	Experiments int         `json:"experiments"`
	// RawGain and RawCI use the experiments with this speed-up alone.
	RawGain *float64    `json:"raw_gain,omitempty"`
	RawCI   *[2]float64 `json:"raw_ci,omitempty"`
}

type jsonWarning struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

func toJSON(r *analyze.Result) jsonReport {
	out := jsonReport{Version: JSONVersion, Runs: []jsonRun{}, Points: []jsonPoint{}, Latencies: []jsonLatency{},
		Targets: []jsonTarget{}, Warnings: warnings(slices.Concat(r.Warnings, r.Details)),
		Summary: jsonSummary{
			Seconds: round(float64(r.RealNS)/1e9, 3), Experiments: r.Experiments, Baselines: r.Baselines,
			SetAside: r.SetAside, Samples: r.Samples, Delay: round(percent(r.DelayNS, r.RealNS), 2),
			OwnCPU: round(percent(r.OwnNS, r.RealNS), 2), Doubt: r.Doubt(),
		}}
	if r.Estimates != nil {
		out.Summary.Recorded = round(r.Estimates.Seconds, 3)
	}
	if r.SetAside == nil {
		out.Summary.SetAside = map[string]int{}
	}
	for _, run := range r.Runs {
		out.Runs = append(out.Runs, runJSON(run))
	}
	for _, p := range r.Points {
		out.Points = append(out.Points, jsonPoint{
			Name: p.Name, Kind: p.Kind, Sites: p.Sites, Visits: p.Visits, Rate: round(p.Rate, 3),
			Noise: round(p.Noise, 3), Paced: p.Paced, DelayBiased: p.DelayBiased, Warnings: warnings(p.Warnings),
		})
	}
	for i := range r.Latencies {
		out.Latencies = append(out.Latencies, latencyJSON(r, &r.Latencies[i]))
	}
	name := unitNames(unitsOf(r))
	for i := range r.Targets {
		out.Targets = append(out.Targets, targetJSON(r, &r.Targets[i], name(r.Targets[i].Unit)))
	}
	if r.Placebo != nil {
		placebo := targetJSON(r, r.Placebo, r.Placebo.Unit.Name)
		out.Placebo = &placebo
	}
	return out
}

func runJSON(run analyze.RunFacts) jsonRun {
	p := run.Run
	if p == nil {
		p = &profile.Run{}
	}
	j := jsonRun{ID: p.ID, Args: p.Args, Subject: p.Subject, Host: p.Host, Kernel: p.Kernel, CPUs: p.CPUs,
		CPUModel: p.CPUModel, Tool: p.Tool, BuildIDs: run.BuildIDs, File: run.File, Experiments: run.Experiments,
		Knobs:   p.Knobs,
		Started: p.Started.UTC().Format("2006-01-02T15:04:05Z")}
	if j.Args == nil {
		j.Args = []string{}
	}
	if run.End != nil {
		j.Status = &run.End.Status
		if run.End.Ended {
			j.EndedAfter = round(float64(run.End.RealNS)/1e9, 3)
		}
	}
	return j
}

func latencyJSON(r *analyze.Result, l *analyze.Latency) jsonLatency {
	j := jsonLatency{Name: l.Name, Begin: r.Points[l.Begin].Name, InSystem: round(l.InSystem, 4), Matched: l.Matched,
		Unmatched: l.Unmatched, LeftOut: l.LeftOut, Warnings: warnings(l.Warnings)}
	known := func(ns float64) *float64 {
		if ns = round(ns, 1); ns <= 0 {
			return nil
		}
		return &ns
	}
	j.Mean = known(l.Mean)
	if len(l.Quantiles) == len(analyze.Quantiles) {
		for i, to := range []**float64{&j.P50, &j.P95, &j.P99} {
			*to = known(l.Quantiles[i])
		}
	}
	return j
}

func targetJSON(r *analyze.Result, t *analyze.Target, name string) jsonTarget {
	u := t.Unit
	j := jsonTarget{Unit: u.Kind, Name: name, File: u.File, Line: u.Line, Func: u.Func, Self: u.Self, Binary: u.Binary,
		Share: round(t.Share, 2), Samples: t.Samples, Waiting: rounded(t.Waiting), Tried: t.Tried, SetAside: t.SetAside,
		Memory: memoryJSON(t.Memory), Points: []jsonEffect{}, Warnings: warnings(t.Warnings)}
	for i := range t.Effects {
		e := &t.Effects[i]
		je := jsonEffect{Name: r.Points[e.Point].Name, Metric: e.Metric, Verdict: e.Verdict, Reason: e.Reason, Shape: e.Shape,
			Experiments: e.Experiments, Phase: round(e.Phase, 4),
			Curve: levels(e.Curve), Marks: levels(e.Marks), Estimate: estimates(e.Estimated), Basis: e.Basis(),
			Refused: e.Refused, Warnings: warnings(e.Warnings)}
		je.Slope, je.SlopeCI = estimate(e.Slope, 5)
		je.Bound, je.EstimateBound = bound(e.UpperBound), bound(e.EstimateBound)
		if e.Shape == analyze.Plateau || e.Shape == analyze.Peak {
			je.ShapeAt = &e.ShapeAt
		}
		if u.Kind == profile.Together {
			gain, _, _ := GainAt(e, 100)
			je.Gain, je.CI = estimate(gain, 3)
		}
		j.Points = append(j.Points, je)
	}
	for _, p := range t.Together {
		j.Together = append(j.Together, jsonAskedUnit{p.Kind, p.Name, round(p.Percent, 3), shareOf(r, p)})
	}
	return j
}

// shareOf is the share of a unit of a combination, if it is known.
func shareOf(r *analyze.Result, p profile.Part) (share float64) {
	for i := range r.Targets {
		if t := &r.Targets[i]; t.Unit.Kind == p.Kind && t.Unit.Name == p.Name {
			share += t.Share
		}
	}
	return round(share, 2)
}

// bound is "upper" for gains that are upper bounds.
func bound(is bool) string {
	if is {
		return "upper"
	}
	return ""
}

func levels(from []analyze.Level) []jsonLevel {
	to := []jsonLevel{}
	for _, l := range from {
		gain, ci := estimate(l.Gain, 3)
		if gain == nil {
			continue
		}
		j := jsonLevel{Speedup: l.Speedup, Gain: *gain, CI: ci, Experiments: l.Experiments}
		j.RawGain, j.RawCI = estimate(l.Raw, 3)
		to = append(to, j)
	}
	return to
}

func estimates(from []analyze.Level) []jsonEstimate {
	to := []jsonEstimate{}
	for _, l := range from {
		if gain, ci := estimate(l.Gain, 3); gain != nil {
			to = append(to, jsonEstimate{Speedup: l.Speedup, Gain: *gain, CI: ci})
		}
	}
	return to
}

// estimate gives the known parts of e that are numbers.
func estimate(e analyze.Estimate, digits int) (value *float64, ci *[2]float64) {
	if !e.Known || !finite(e.Value) {
		return nil, nil
	}
	v := round(e.Value, digits)
	if e.Bounded && finite(e.Low) && finite(e.High) {
		ci = &[2]float64{round(e.Low, digits), round(e.High, digits)}
	}
	return &v, ci
}

func warnings(from []analyze.Warning) []jsonWarning {
	to := []jsonWarning{}
	for _, w := range from {
		to = append(to, jsonWarning(w))
	}
	return to
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// round rounds to some digits after the point. NaN and infinities become 0.
func round(x float64, digits int) float64 {
	if !finite(x) {
		return 0
	}
	p := math.Pow10(digits)
	if y := math.Round(x*p) / p; finite(y) {
		return y + 0 // so that it is not -0
	}
	return x
}

func percent(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

func rounded(m map[string]float64) map[string]float64 {
	out := make(map[string]float64, len(m))
	for k, v := range m {
		out[k] = round(v, 2)
	}
	return out
}
