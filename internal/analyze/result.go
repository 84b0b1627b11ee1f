package analyze

import "whatif/internal/profile"

// Result is what the runs together say. Gains, speed-ups and shares are in percent, as the report
// shows them. Slopes are percent of gain per percent of speed-up.
type Result struct {
	Runs      []RunFacts
	Points    []Point
	Latencies []Latency
	Targets   []Target // in the order of rank: certain and large effects first
	Placebo   *Target  // the placebo, which is no code; nil if it was not tried
	// Estimates is what a recording says; nil: there is none. See AddEstimates.
	Estimates *Estimates
	Warnings  Warnings
	Details   Warnings // doubts about so little that no number depends on it

	Margin float64 // Options.Margin as used

	Experiments int              // with a unit, and used
	Baselines   int              // used
	SetAside    map[string]int   // number of discarded experiments, by the runner's reason
	Samples     int64            // samples of the target in all used experiments
	RealNS      int64            // the sum of all experiments' real time
	DelayNS     int64            // the part of RealNS that was virtual delay
	PausedNS    int64            // time that cores were stopped for delays
	HeldNS      int64            // return delays: time that threads waited after a sleep, before they returned
	LevelsNS    map[string]int64 // by how much levels changed, by the reason of the change
	DealtNS     int64            // CPU time of outsiders that the target talks to, such as its clients
	OwnNS       int64            // CPU time of whatif

	cores float64 // number of cores that the target ran on, on average
	in    *input
}

// Visits is what an experiment of a run recorded at point k; nil if the run does not have the
// point.
func (r *Result) Visits(run int, e *profile.Experiment, k int) *profile.Visits {
	return at(e, r.in.slot(run, k))
}

// EachBaseline calls f with each usable baseline, run by run and in the order of time.
func (r *Result) EachBaseline(f func(run int, e *profile.Experiment)) {
	for run, d := range r.in.runs {
		for _, i := range r.in.bases[run] {
			f(run, &d.Experiments[i])
		}
	}
}

// Window is the number of visits of point k in an experiment and the virtual time in which they were
// counted; ok is false if the point was not measured.
func (r *Result) Window(run int, e *profile.Experiment, k int) (visits, ns float64, ok bool) {
	slot := r.in.slot(run, k)
	if !measured(e, slot) {
		return 0, 0, false
	}
	return e.Points[slot].Weight, e.Points[slot].WindowNS, true
}

// Residence is the time that all requests of a latency spent in the system during an experiment, and
// how many arrived. Their quotient is the mean latency (Little's law).
func (r *Result) Residence(run int, e *profile.Experiment, l *Latency) (ns, requests float64, ok bool) {
	d, window := r.in.durations(l, run, e)
	if d == nil || window == 0 {
		return 0, 0, false
	}
	return max(0, d.AreaNS), d.Begun, true
}

// Durations is what an experiment of a run recorded of a latency, used or not; nil if nothing.
func (r *Result) Durations(run int, e *profile.Experiment, l *Latency) *profile.Durations {
	d, _ := r.in.recorded(l, run, e)
	return d
}

// RunFacts describes the run that the data came from.
type RunFacts struct {
	Run         *profile.Run
	End         *profile.End // nil if the run was killed
	File        string
	Torn        bool
	BuildIDs    map[string]string // of all known binaries, by path
	Experiments int               // of all kinds
	Ticks       int               // largest number in one of its periods
}

// Point is a progress point, merged over runs by name and kind.
type Point struct {
	Name, Kind string
	Sites      int     // number of places in code at which it was counted, in the run that had most
	Visits     int64   // in all experiments, and between them where that was recorded
	Rate       float64 // visits per second in the baselines; 0 if not known
	// Noise is the standard deviation of one baseline's period about its neighbours', in percent; 0
	// if not known.
	Noise float64
	// Paced says that placebos do not slow the point down: a clock or another thing that is not
	// delayed sets its pace. Effects on it are in real time then.
	Paced bool
	// DelayBiased says that placebos certainly lose: delays by themselves slow the point down, and
	// its effects are corrected for that (delaybias.go).
	DelayBiased bool
	Warnings    Warnings
}

// Latency is the time from one point to another, merged over runs by name.
type Latency struct {
	Name       string
	Begin, End int // indices of Result.Points
	// Mean is the mean latency in the baselines, in ns, by Little's law, and InSystem the mean
	// number of requests in the system; 0 if not known.
	Mean, InSystem float64
	// Quantiles are in ns, in the order of the variable Quantiles; nil if not known.
	Quantiles []float64
	Matched   int64 // ends with a known begin, in all experiments
	Unmatched int64 // ends without a begin
	// Counted says that only the numbers of begins and ends are known, so there are no Quantiles.
	// Found says that whatif found the latency by itself.
	Counted, Found bool
	// LeftOut is how many experiments and baselines are not used because many of their requests had
	// begun before (latency.go).
	LeftOut  int
	Warnings Warnings

	useCarried bool // many experiments have carried requests, so all are used
}

// Target is one unit, merged over runs by its key.
type Target struct {
	Unit    profile.Unit // ID is 0: ids are per run
	Share   float64      // percent of the target's CPU time
	Samples int64        // samples of the unit, in all used experiments
	CPUNS   int64        // the CPU time that they stand for
	// Waiting is the time that threads waited in the unit, by class of wait, in percent of real
	// time and summed over threads. Waited is the percentage of real time in which a thread waited
	// in the unit and the wait counted as the unit's time.
	Waiting map[string]float64
	Waited  float64
	Memory  Estimate // percent of its CPU time that waits for memory, as a recording says
	// Calls is the percentage of a function's time that other functions of the program have that it calls, as a recording
	// says; 0 if that is not known.
	Calls float64
	// Together is what the unit is made of, if it is several at once (profile.Together).
	Together []profile.Part
	Tried    int // experiments with it, without the discarded ones
	SetAside int
	// Effects has one effect for each of Result.Points, in that order, and then those on latencies.
	Effects []Effect
	// Warnings are about the unit at every point.
	Warnings Warnings
}

// Effect is what making the target faster does to one point.
type Effect struct {
	Point   int // index of Result.Points; for a latency, the point where it ends
	Metric  Metric
	Verdict Verdict
	// Reason says in words why the verdict is what it is.
	Reason string
	// NeverVisited says that the point was never visited, so more data would not help.
	NeverVisited bool
	// Shape is how the gain depends on the speed-up, if the data say so. ShapeAt is the speed-up,
	// in percent, of a plateau's or peak's turn.
	Shape   Shape
	ShapeAt int
	// Slope is the slope of the straight line through the origin that fits the gains best (least
	// squares, each experiment weighted by its length, or by how much the unit ran): the gain per unit of speed-up,
	// averaged over the speed-ups that were tried. If the curve bends, it is neither the initial slope nor
	// the gain at 100%.
	Slope Estimate
	// UpperBound says that the true gains may be anything from 0 up to what was measured: the load comes from clients
	// that are not slowed down with the program (the warning remote-clients).
	UpperBound  bool
	Experiments int // those that can be compared with baselines
	// Phase is the factor by which gains were multiplied because the unit was tried only while it
	// ran (paper, equations 5 to 8); 1 if it runs all the time.
	Phase float64
	// Curve has one level for each speed-up that was tried, in ascending order. The first is
	// speed-up 0, with the baselines for experiments.
	Curve []Level
	// Marks are the gains at 25, 50, 75 and 100%, tried or not, as far as the curve reaches.
	Marks    []Level
	Warnings Warnings
	// Trials are the single experiments, if Options.Trials is set.
	Trials []Trial
	// Estimated is what a recording says, at every 5%, without experiments; nil if it says nothing.
	// Refused is why not, if there is a recording.
	Estimated []Level
	Refused   string
	// EstimateBound is UpperBound for Estimated, and EstimateVerdict what Estimated alone says.
	EstimateBound   bool
	EstimateVerdict Verdict

	uncertainty uncertainty // of Slope
	chance      float64     // probability of so large an effect by chance, see judge
}

// TooFew says that experiments with the unit were too few for an interval: their gains say nothing
// yet, and nobody should see them as if they did.
func (e *Effect) TooFew() bool { return e.Experiments > 0 && !e.NeverVisited && !e.Slope.Bounded }

// Telling is the curve of the experiments if they say something; otherwise nil.
func (e *Effect) Telling() []Level {
	if e.TooFew() {
		return nil
	}
	return e.Curve
}

// OnlyEstimated says that all that is known of the effect is what a recording says: there were no experiments, or too
// few.
func (e *Effect) OnlyEstimated() bool { return len(e.Estimated) > 0 && len(e.Telling()) == 0 }

// At is the gain at a speed-up that was tried, or at 25, 50, 75 or 100%; ok is false if it is not known.
func (e *Effect) At(speedup int) (gain Estimate, ok bool) {
	l, ok := e.LevelAt(speedup)
	return l.Gain, ok
}

// NoiseAt is half the width that the interval of At would have without the method error. More
// experiments make it smaller.
func (e *Effect) NoiseAt(speedup int) float64 {
	l, _ := e.LevelAt(speedup)
	return l.uncertainty.noiseHalf()
}

// RawNoiseAt is like NoiseAt, for the experiments at that speed-up alone; ok is false if they are
// too few for an interval.
func (e *Effect) RawNoiseAt(speedup int) (half float64, ok bool) {
	for i := range e.Curve {
		if l := &e.Curve[i]; l.Speedup == speedup && l.Raw.Bounded {
			return l.rawUncertainty.noiseHalf(), true
		}
	}
	return 0, false
}

// LevelAt is the level at a speed-up, of Curve or Marks; ok is false if its gain is not known.
func (e *Effect) LevelAt(speedup int) (l Level, ok bool) {
	for _, levels := range [][]Level{e.Curve, e.Marks} {
		for _, l := range levels {
			if l.Speedup == speedup && l.Gain.Known {
				return l, true
			}
		}
	}
	return Level{}, false
}

// Level is the gain at one speed-up.
type Level struct {
	Speedup     int
	Experiments int // with exactly this speed-up
	// Gain is the estimate that uses the whole curve (curve.go).
	Gain Estimate
	// Raw uses the experiments of this level alone.
	Raw Estimate

	uncertainty, rawUncertainty uncertainty // of Gain, of Raw
}

// Half is half the width of the interval that Gain would have if it missed with probability alpha.
func (l *Level) Half(alpha float64) float64 { return l.uncertainty.half(alpha) }

// Estimate is a number and its 95% interval. Either may be unknown.
type Estimate struct {
	Value     float64
	Low, High float64
	Known     bool // Value is known
	Bounded   bool // Low and High are known
}

// Half is the distance from the value to the further end of the interval. Both ends are as far,
// except for gains that would exceed 100% and for gains that may be too high (delaybias.go).
func (e Estimate) Half() float64 { return max(e.High-e.Value, e.Value-e.Low) }

// AtMost limits the value and its interval: a gain above 100% is impossible.
func (e Estimate) AtMost(limit float64) Estimate {
	e.Value, e.Low, e.High = min(e.Value, limit), min(e.Low, limit), min(e.High, limit)
	return e
}

// Metric says what an effect's gain is a gain of. Its values are those of JSON reports.
type Metric string

const (
	// Throughput is the number of visits per time.
	Throughput Metric = "throughput"
	// MeanLatency is the mean time from a latency's begin to its end. Its gain is by how much it
	// falls; so are the gains of the quantiles.
	MeanLatency Metric = "latency"
	P50         Metric = "p50"
	P95         Metric = "p95"
	P99         Metric = "p99"
)

// Measures is what a metric measures, in words.
func (m Metric) Measures() string {
	switch m {
	case Throughput:
		return "time per visit"
	case MeanLatency:
		return "mean latency"
	}
	return string(m) + " of latency"
}

// Quantiles are the metrics of a latency's distribution, and the quantile of each.
var Quantiles = []struct {
	Metric   Metric
	Quantile float64
}{{P50, 0.50}, {P95, 0.95}, {P99, 0.99}}

// Verdict is an effect in one word; judge has the rules. Its values are those of JSON reports.
type Verdict string

const (
	Faster Verdict = "faster" // speeding the unit up makes the program faster
	Slower Verdict = "slower" // it makes the program slower: contention
	None   Verdict = "none"   // it certainly does nothing worth having
	Unsure Verdict = "unsure" // the data are too few to say
)

// Warning is a doubt about a number. Code is for programs, Text for people.
type Warning struct {
	Code string
	Text string
}
