package analyze

import "whatif/internal/profile"

// Result is what the runs together say. All gains, speed-ups, shares and slopes
// of it are as the report shows them: percent, except the slope, which is percent
// of gain per percent of speed-up.
type Result struct {
	Runs      []RunFacts
	Points    []Point
	Latencies []Latency
	Targets   []Target // by rank: what is certain and large first
	Placebo   *Target  // the unit that is no code; nil where it was not tried
	Warnings  []Warning

	Margin float64 // Options.Margin as used

	Experiments int              // of a unit, and used
	Baselines   int              // used
	SetAside    map[string]int   // not used, by the runner's reason
	Samples     int64            // of the target, in all experiments used
	RealNS      int64            // measured: the sum of all experiments' time
	DelayNS     int64            // of which were virtual delays
	PausedNS    int64            // time that cores were stopped for them
	HeldNS      int64            // time that threads which had slept by the clock were kept for them
	LevelsNS    map[string]int64 // why threads were charged for them, or not: by how much their levels changed
	DealtNS     int64            // CPU time of others that the target deals with, such as its clients
	OwnNS       int64            // CPU time that the profiler took

	cores float64 // that the target ran on, on average
	in    *input
}

// Visits is what an experiment of a run says of point k; nil if the run does not have it.
func (r *Result) Visits(run int, e *profile.Experiment, k int) *profile.Visits {
	return at(e, r.in.slot(run, k))
}

// Durations is what an experiment of a run says of a latency, whether it is used or not; nil if nothing.
func (r *Result) Durations(run int, e *profile.Experiment, l *Latency) *profile.Durations {
	d, _ := r.in.recorded(l, run, e)
	return d
}

// RunFacts says which run the data came from.
type RunFacts struct {
	Run         *profile.Run
	End         *profile.End // nil if the run was killed
	File        string
	Torn        bool
	BuildIDs    map[string]string // of all binaries that are known, by path
	Experiments int               // of all kinds
	Ticks       int               // in each of its periods, at most
}

// Point is a progress point, merged over runs by name and kind.
type Point struct {
	Name, Kind string
	Sites      int     // places in code that it was counted at, in the run that had most
	Visits     int64   // in all that was measured, between experiments too where that was recorded
	Rate       float64 // visits per second in the baselines, 0 if not known
	// Noise is the standard deviation of one baseline's period about its
	// neighbours', in percent; 0 if not known.
	Noise float64
	// Paced says that delays for nothing do not slow it down: something that whatif does not delay, a clock, sets its
	// pace. Effects on it are by the clock then.
	Paced bool
	// Dragged says that delays by themselves change it, as placebos tell, and effects are corrected for that (drag.go).
	Dragged  bool
	Warnings []Warning
}

// Latency is the time from one point to another, merged over runs by name.
type Latency struct {
	Name       string
	Begin, End int // indices of Result.Points
	// In the baselines: how long it took on average, in ns, by Little's law, and how
	// many were in between on average; 0 if not known.
	Mean, InSystem float64
	// Quantiles, in ns, in the order of the variable Quantiles; nil if not known.
	Quantiles []float64
	Matched   int64 // ends in all that was measured whose begin was known
	Unmatched int64 // ends that had none
	// Counted: of its begins and ends only how many there were is known, so there are
	// no Quantiles. Found: nobody asked for it.
	Counted, Found bool
	// LeftOut is how many experiments and baselines are not used because many of what
	// ended in them had begun before, see latency.go.
	LeftOut  int
	Warnings []Warning

	common bool // that happens often, and none is left out
}

// Target is one unit, merged over runs by what it is.
type Target struct {
	Unit    profile.Unit // ID is 0: ids are per run
	Share   float64      // percent of the target's CPU time that its samples stand for
	Samples int64        // in it, in all experiments used
	CPUNS   int64        // the time that they stand for
	// Waiting is what threads waited in it, by class, in percent of the time, summed over the threads.
	// Waited is the part of the time, in percent, for which somebody waited in it for what counts as its own.
	Waiting  map[string]float64
	Waited   float64
	Tried    int // experiments with it, those set aside not counted
	SetAside int
	// Effects: one for each of Result.Points, in that order; then those on latencies.
	Effects []Effect
	// Warnings concern the unit at every point.
	Warnings []Warning
}

// Effect is what making the target faster does to one point.
type Effect struct {
	Point   int // index of Result.Points; of a latency: where it ends
	Metric  Metric
	Verdict Verdict
	// Reason is why the verdict is what it is, in words.
	Reason string
	// NeverVisited says that the point was never visited: it is not the data that are too few.
	NeverVisited bool
	// Shape is how the gain depends on the speed-up, where the data say so; ShapeAt is the
	// speed-up in percent at which it turns, of a plateau or a peak.
	Shape   Shape
	ShapeAt int
	// Slope is that of the straight line through the origin that fits the gains
	// best (least squares, each experiment counting by its length): the gain per
	// unit of speed-up, averaged over the speed-ups that were tried. Where the
	// curve bends it is neither the initial slope nor the gain at 100%.
	Slope       Estimate
	Experiments int // with visits to be counted
	// Phase is the factor by which gains were multiplied because the unit was
	// tried only while it ran (paper, equations 5 to 8); 1 if it runs all the time.
	Phase float64
	// Curve has one level for each speed-up that was tried, in ascending order,
	// speed-up 0 first: its experiments are the baselines.
	Curve []Level
	// Marks are the gains at 25, 50, 75 and 100%, tried or not, those left out
	// that the curve does not reach.
	Marks    []Level
	Warnings []Warning
	// Trials are the experiments one by one, if Options asked for them.
	Trials []Trial

	doubt  uncertainty // of Slope
	chance float64     // see judge
}

// At is the gain at a speed-up that is a level of the curve or a quarter.
func (e *Effect) At(speedup int) (Estimate, bool) {
	l, ok := e.level(speedup)
	return l.Gain, ok
}

// NoiseAt is half the width that the interval of At would have without the method's own error, which no number of
// experiments makes smaller.
func (e *Effect) NoiseAt(speedup int) float64 {
	l, _ := e.level(speedup)
	return l.doubt.noiseHalf()
}

// RawNoiseAt is the same for the experiments at that speed-up alone, if they are enough for an interval.
func (e *Effect) RawNoiseAt(speedup int) (half float64, ok bool) {
	for i := range e.Curve {
		if l := &e.Curve[i]; l.Speedup == speedup && l.Raw.Bounded {
			return l.rawDoubt.noiseHalf(), true
		}
	}
	return 0, false
}

// level is the one at a speed-up, if its gain is known.
func (e *Effect) level(speedup int) (Level, bool) {
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
	// Gain is the estimate that uses the whole curve, see curve.go.
	Gain Estimate
	// Raw uses the experiments of this level alone.
	Raw Estimate

	doubt, rawDoubt uncertainty // of Gain, of Raw
}

// Estimate is a number and its 95% interval. Neither may be known.
type Estimate struct {
	Value     float64
	Low, High float64
	Known     bool // Value is
	Bounded   bool // Low and High are
}

// Half is the interval's half width: how far its further end is from the value
// (both are as far, but for gains that would exceed 100%).
func (e Estimate) Half() float64 { return max(e.High-e.Value, e.Value-e.Low) }

// atMost draws in what cannot be: a program that takes no time at all has gained
// 100%.
func (e Estimate) atMost(limit float64) Estimate {
	e.Value, e.Low, e.High = min(e.Value, limit), min(e.Low, limit), min(e.High, limit)
	return e
}

// Metric says what an effect's gain is a gain of.
type Metric string

const (
	// Throughput is the number of visits per time.
	Throughput Metric = "throughput"
	// MeanLatency is the mean time from a latency's begin to its end. A gain is by
	// how much it falls, as with the quantiles.
	MeanLatency Metric = "latency"
	P50         Metric = "p50"
	P95         Metric = "p95"
	P99         Metric = "p99"
)

// Quantiles are the metrics of a latency's distribution, and which quantile each is.
var Quantiles = []struct {
	Metric   Metric
	Quantile float64
}{{P50, 0.50}, {P95, 0.95}, {P99, 0.99}}

// Verdict is an effect in one word; see verdict.go for the rules.
type Verdict string

const (
	Faster Verdict = "faster" // speeding the unit up makes the program faster
	Slower Verdict = "slower" // it makes the program slower: contention
	None   Verdict = "none"   // it surely does nothing worth having
	Unsure Verdict = "unsure" // not enough data to say
)

// Warning is a doubt about a number; Code is for programs, Text for people.
type Warning struct {
	Code string
	Text string
}
