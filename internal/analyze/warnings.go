package analyze

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"whatif/internal/profile"
)

// Limits from which a warning is given.
const (
	noisyPercent       = 10  // of a baseline's period: with 50 such baselines, ±3 points are the best possible
	driftFactor        = 1.5 // between the slowest and the fastest tenth of a run
	foreignPercent     = 5   // of all CPU time
	networkPercent     = 5   // of all wake-ups
	stealPercent       = 2
	ownPercent         = 3  // whatif is meant to take at most 3% of a core
	unpaidPercent      = 5  // of an experiment's time, in the median
	discardedPercent   = 20 // of all experiments
	spinFactor         = 0.8
	fewVisitsPerWindow = 5  // the plan lengthens experiments until there are as many
	fewSamples         = 50 // to know where a program's time goes
)

// Warnings are the warnings about one thing: a result, a point, a latency, a target or an effect.
type Warnings []Warning

// Add appends a warning. Its text is formatted as by fmt.Sprintf.
func (w *Warnings) Add(code, format string, args ...any) {
	*w = append(*w, Warning{code, fmt.Sprintf(format, args...)})
}

// isExecution says whether a point is the end of a whole execution, in a run that has no other point.
func (in *input) isExecution(k int) bool {
	for r, d := range in.runs {
		if in.slot(r, k) >= 0 && !d.Run.WholeRuns {
			return false
		}
	}
	return true
}

// pointFacts sets the figures of a point, and adds the warnings about it.
func (in *input) pointFacts(p *Point, t *track) {
	k := slices.IndexFunc(in.points, func(q Point) bool { return q.Name == p.Name && q.Kind == p.Kind })
	var seconds float64
	for r, d := range in.runs {
		slot := in.slot(r, k)
		if slot < 0 {
			continue
		}
		var visits int64
		for i := range d.Experiments {
			if measured(&d.Experiments[i], slot) {
				visits += d.Experiments[i].Points[slot].Count
			}
			seconds += float64(d.Experiments[i].RealNS) / 1e9
		}
		// The run's total includes visits between experiments.
		if d.End != nil && slot < len(d.End.Visits) {
			visits = max(visits, d.End.Visits[slot])
		}
		if d.End != nil && len(d.Experiments) == 0 { // it was only recorded, or ended too soon
			seconds += float64(d.End.RealNS) / 1e9
		}
		p.Visits += visits
		p.Sites = max(p.Sites, sitesOf(d, slot))
	}
	switch {
	case p.Visits == 0 && in.isExecution(k):
		p.Warnings.Add("never-visited", "no progress point was named, so a whole execution of the program is one "+
			"experiment, and none ended by itself, with status 0, in %.0f s. Name what the program does once for each unit of "+
			"work, with -p: whatif points -d 5s -- PROGRAM ranks what it does under load", seconds)
		return
	case p.Visits == 0:
		p.Warnings.Add("never-visited", "point %s was visited 0 times in %.0f s: it tells nothing. "+
			"Is it the right point, and does the load run?", p.Name, seconds)
		return
	case t.count == 0:
		p.Warnings.Add("no-baseline", "point %s: no time without a speed-up could be used, so there is nothing to "+
			"compare with: run longer", p.Name)
		return
	case t.visits == 0:
		p.Warnings.Add("no-baseline", "point %s was not visited while nothing was sped up, so there is nothing to "+
			"compare with: run longer, or choose a point that is visited more often", p.Name)
		return
	}
	p.Rate = 1e9 * t.visits / (t.mean * float64(t.count))
	if t.df < 2 {
		p.Warnings.Add("few-baselines", "point %s: %d %s, too few to know the noise: no intervals; run longer",
			p.Name, t.count, plural(t.count, "baseline"))
		return
	}
	p.Noise = 100 * math.Sqrt(t.variance)
	if mean := t.visits / float64(t.count); mean < fewVisitsPerWindow {
		p.Warnings.Add("few-visits", "point %s: %.2g visits in a baseline, so intervals are wide: use a longer "+
			"--experiment, or a point that is visited more often", p.Name, mean)
	} else if p.Noise > noisyPercent {
		p.Warnings.Add("unstable-baseline", "point %s is noisy: its time per visit varies by ±%.0f%% from one "+
			"baseline to the next, so intervals are wide; run longer, or on a quiet machine", p.Name, min(p.Noise, 999))
	}
	if f := t.drift(); f > driftFactor {
		p.Warnings.Add("drift", "point %s: its time per visit changed by a factor of %.3g while measuring, so gains are "+
			"those of a mixture: --warmup leaves a slow start out", p.Name, f)
	}
}

// drift is the largest factor, over the runs, between expected periods: that of
// the slowest tenth of baselines over that of the fastest.
func (t *track) drift() float64 {
	worst := 1.0
	for _, s := range t.segments {
		var periods []float64
		for _, p := range s.loo {
			if p > 0 {
				periods = append(periods, p)
			}
		}
		if len(periods) < 10 {
			continue
		}
		slices.Sort(periods)
		worst = math.Max(worst, quantile(periods, 0.9)/quantile(periods, 0.1))
	}
	return worst
}

// manyOutliers is the part of a unit's experiments from which on its outliers are worth a word.
const manyOutliers = 0.2

// effectWarnings adds the warnings about one target's effect on one point.
func (in *input) effectWarnings(e *Effect, u int, t *track, f *fit) {
	tg := &in.targets[u]
	switch {
	case f.total == 0 && (tg.Tried == 0 || t.visits == 0):
		return // the target or the point has a warning about it
	case f.total == 0:
		e.Warnings.Add("no-data", "none of its %d %s can be compared at this point: there was no visit, or no baseline "+
			"near it", tg.Tried, plural(tg.Tried, "experiment"))
		return
	case f.total < leastTrials:
		e.Warnings.Add("few-experiments", "%d %s: needs at least %d for an interval",
			f.total, plural(f.total, "experiment"), leastTrials)
		return
	}
	if math.Abs(f.phase-1) > 0.05 {
		e.Warnings.Add("phases", "it was tried only in the phases of the program in which it runs: its gains are scaled "+
			"to the whole program")
	}
	var visits float64
	for _, s := range f.levels {
		visits += s.visits
	}
	if visits < 2*fewVisits {
		e.Warnings.Add("few-visits", "only %.0f visits in %d experiments: a longer run tells more", visits, f.total)
	}
	if float64(f.clipped) > manyOutliers*float64(f.total) {
		e.Warnings.Add("outliers", "%d of %d experiments were outliers: their weight was reduced", f.clipped, f.total)
	}
	if f.disagree > 1 {
		e.Warnings.Add("runs-disagree", "its %d runs differ by more than their noise: intervals were made %.1f times as wide",
			f.runs, math.Sqrt(f.disagree))
	}
	if up, down := e.certainLevels(); up && down {
		e.Warnings.Add("bends", "gains at some speed-ups, loses at others: look at the curve")
	} else if e.Slope.Bounded && (e.Verdict == Faster && e.Slope.Low <= 0 || e.Verdict == Slower && e.Slope.High >= 0) {
		e.Warnings.Add("bends", "the curve bends: read its gains, and not a straight line through them")
	}
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

func were(n int) string {
	if n == 1 {
		return "experiment was"
	}
	return "experiments were"
}

func wereRecords(n int) string {
	if n == 1 {
		return "record was"
	}
	return "records were"
}

// addWarnings adds the warnings about targets and about the whole result.
func (in *input) addWarnings(res *Result) {
	for u := range in.targets {
		tg := &in.targets[u]
		switch {
		case tg.Tried == 0 && tg.SetAside > 0:
			tg.Warnings.Add("set-aside", "all of its %d %s discarded", tg.SetAside, were(tg.SetAside))
		case tg.Tried == 0:
			tg.Warnings.Add("few-experiments", "never tried")
		case 100*tg.SetAside > discardedPercent*(tg.Tried+tg.SetAside):
			tg.Warnings.Add("set-aside", "%d of its %d %s discarded",
				tg.SetAside, tg.Tried+tg.SetAside, were(tg.Tried+tg.SetAside))
		}
	}
	in.unitWarnings()
	in.runWarnings(res)
	for i := range res.Points {
		res.Warnings = append(res.Warnings, res.Points[i].Warnings...)
	}
	for i := range res.Latencies {
		res.Warnings = append(res.Warnings, res.Latencies[i].Warnings...)
	}
	in.experimentWarnings(res)
}

// unitWarnings looks at what was recorded beside the visits, for single units: a unit's experiments
// may have been disturbed when most others were not.
func (in *input) unitWarnings() {
	var all disturbance
	each := make([]disturbance, len(in.targets))
	for r, d := range in.runs {
		for i := range d.Experiments {
			if e := &d.Experiments[i]; usable(e) {
				all.add(&d.Run, e)
				if !e.IsBaseline() {
					each[in.unitOf[r][e.Unit]].add(&d.Run, e)
				}
			}
		}
	}
	for u := range in.targets {
		tg, own := &in.targets[u], &each[u]
		if len(own.unpaid) < leastTrials {
			continue
		}
		if x := 100 * median(own.unpaid); x > unpaidPercent {
			tg.Warnings.Add("unpaid", "in half of its experiments delays of %.0f%% or more were still to be made "+
				"at the end: its gains may be too large by as much; use a longer --experiment", x)
		}
		const more = 2 // times the figure of all experiments; below that, the result has the warning
		if x := 100 * own.foreign / own.cpu; x > foreignPercent && own.foreign*all.cpu > more*all.foreign*own.cpu {
			tg.Warnings.Add("foreign-cpu", "other processes took %.0f%% of the CPU time during its experiments", x)
		}
		if x := 100 * own.steal / own.cpu; x > stealPercent && own.steal*all.cpu > more*all.steal*own.cpu {
			tg.Warnings.Add("steal", "the hypervisor took %.0f%% of the CPU time during its experiments", x)
		}
	}
}

// A disturbance sums up what disturbed experiments, in ns, and the debt that each of them still
// had.
type disturbance struct {
	cpu, foreign, steal float64
	unpaid              []float64 // parts of the experiments' time
}

func (x *disturbance) add(run *profile.Run, e *profile.Experiment) {
	x.cpu += float64(e.RealNS) * float64(max(1, run.CPUs))
	x.foreign += float64(e.ForeignNS)
	x.steal += float64(e.StealNS)
	if !e.IsBaseline() {
		x.unpaid = append(x.unpaid, float64(e.UnpaidNS)/float64(e.RealNS))
	}
}

// runWarnings passes on the warnings that the runs recorded, each text once.
func (in *input) runWarnings(res *Result) {
	seen := map[profile.Warning]bool{}
	unknown := 0
	for _, d := range in.runs {
		unknown += d.Unknown
		for _, w := range d.Warnings {
			if !seen[w] {
				seen[w] = true
				res.Warnings = append(res.Warnings, Warning(w))
			}
		}
		if d.Torn {
			res.Warnings.Add("torn", "%s: the run at line %d was cut short; what it had measured is used", d.File, d.Line)
		}
	}
	if unknown > 0 {
		res.Warnings.Add("newer", "%d %s of the profile passed over: a newer whatif wrote them, and knows more",
			unknown, wereRecords(unknown))
	}
}

// boundGains marks gains in throughput as upper bounds. Those on latencies are not, as a load that does not follow the
// program makes latencies gain more, and not less.
func (r *Result) boundGains() {
	for i := range r.Targets {
		for j := range r.Targets[i].Effects {
			e := &r.Targets[i].Effects[j]
			e.UpperBound = e.Metric == Throughput
		}
	}
}

// experimentWarnings looks at what was recorded beside the visits, in all experiments.
func (in *input) experimentWarnings(res *Result) {
	if len(in.runs) == 0 {
		res.Warnings.Add("no-data", "the profile holds no run")
		return
	}
	if res.Experiments+res.Baselines == 0 {
		res.Warnings.Add("no-data", "no experiment could be used, so there are no gains: run longer")
	}
	if aside := total(res.SetAside); aside > 0 && 100*aside > discardedPercent*(aside+res.Experiments+res.Baselines) {
		res.Warnings.Add("set-aside", "%d of %d experiments and baselines were discarded: %s; intervals are wider for "+
			"that. Run longer, or on a quieter machine",
			aside, aside+res.Experiments+res.Baselines, list(res.SetAside))
	}
	var cpu, foreign, steal float64
	var wakes, network int64
	var unpaid, turns []float64
	for _, d := range in.runs {
		for i := range d.Experiments {
			e := &d.Experiments[i]
			if !usable(e) {
				continue
			}
			cpu += float64(e.RealNS) * float64(max(1, d.Run.CPUs))
			foreign += float64(e.ForeignNS)
			steal += float64(e.StealNS)
			wakes += e.Wakes
			network += e.NetworkWakes
			if e.IsBaseline() {
				continue // baselines owe little, and their stops are too short for a rate
			}
			unpaid = append(unpaid, float64(e.UnpaidNS)/float64(e.RealNS))
			if e.SpinTurns > 0 && e.SpinNS > 1e6 {
				turns = append(turns, float64(e.SpinTurns)/float64(e.SpinNS))
			}
		}
	}
	in.machineWarnings(res, 100*foreign/cpu, 100*steal/cpu)
	if 100*network > networkPercent*wakes {
		res.Warnings.Add("remote-clients", "%.0f%% of the wake-ups came from other machines, which are not slowed down "+
			"with the program: gains hold for clients that wait for each answer, and are upper bounds for others. "+
			"Load it from this machine to know more",
			100*float64(network)/float64(wakes))
		res.boundGains()
	}
	isMet := func(t Target) bool { return (t.Samples > 0 || t.Tried > 0) && !isPlacebo(t) }
	if res.Samples >= fewSamples && !slices.ContainsFunc(res.Targets, isMet) {
		res.Warnings.Add("no-units", "none of %d samples was in code that can be sped up, so there are no gains. whatif "+
			"units shows what runs, and why it is left out; --include and --kernel change that", res.Samples)
	}
	if x := 100 * median(unpaid); x > unpaidPercent {
		res.Warnings.Add("unpaid", "in half of the experiments delays of %.0f%% or more were still to be made at the end: "+
			"gains may be too large by as much; use a longer --experiment", x)
	}
	slices.Sort(turns)
	if len(turns) >= 10 && quantile(turns, 0.1) < spinFactor*quantile(turns, 0.5) {
		res.Warnings.Add("hidden-contention", "in a tenth of the experiments the cores ran at %.0f%% of their usual speed, "+
			"as something outside of this machine had them: gains may be off. Use another machine, or another hour",
			100*quantile(turns, 0.1)/quantile(turns, 0.5))
	}
	losses := in.losses()
	samples := in.countedSamples()
	in.stackWarnings(res, losses, samples)
	if n := total(losses); n > 0 {
		res.warningsAbout(n, samples).Add("losses", "the kernel side had no room for some events, which gains do "+
			"not count: %s", list(losses))
	}
}

// detail is the share of what was measured, in percent, below which a loss changes no number that is shown.
const detail = 1

// warningsAbout is where a doubt about some of the samples belongs.
func (res *Result) warningsAbout(some, samples int64) *Warnings {
	if 100*some < detail*samples {
		return &res.Details
	}
	return &res.Warnings
}

// countedSamples is how many ticks met the program in experiments: losses are counted for each tick.
func (in *input) countedSamples() (n int64) {
	for _, d := range in.runs {
		for i := range d.Experiments {
			n += d.Experiments[i].Samples * int64(d.Experiments[i].TicksEach())
		}
	}
	return n
}

// stackWarnings removes the losses that are samples, and gives them as a share. Unwind tables are
// read when a stack first needs them, so some early stacks are normal; too many of them are worth a
// warning. Only those in experiments that count matter: elsewhere nothing was delayed for them.
func (in *input) stackWarnings(res *Result, losses map[string]int64, samples int64) {
	const manyEarly = 2 // percent
	percent := func(lost, of int64) float64 { return 100 * float64(lost) / float64(max(of, lost, 1)) }
	if n := losses[profile.LossStack]; n > 0 {
		res.warningsAbout(n, samples).Add("stacks", "of %s of the samples (%d) the callers could not be found: shares and "+
			"gains of functions that call others are too small by so much. Build with frame pointers, or with unwind tables",
			percentText(percent(n, samples)), n)
	}
	early, of := in.earlySamples()
	delete(losses, profile.LossTable)
	delete(losses, profile.LossPlace)
	if x := percent(int64(total(early)), of); x > manyEarly {
		res.Warnings.Add("early-stacks", "%s of the samples came too early to be given to any code: %s; "+
			"a longer run has fewer", percentText(x), list(early))
	}
	delete(losses, profile.LossStack)
}

// earlySamples are the samples that came too early in experiments that count, by why they did, and how many samples
// these experiments have.
func (in *input) earlySamples() (early map[string]int, samples int64) {
	early = make(map[string]int)
	for _, d := range in.runs {
		for i := range d.Experiments {
			e := &d.Experiments[i]
			if !usable(e) {
				continue
			}
			samples += e.Samples * int64(e.TicksEach())
			for _, name := range []string{profile.LossTable, profile.LossPlace} {
				if n := e.Losses[name]; n > 0 {
					early[name] += int(n)
				}
			}
		}
	}
	return early, samples
}

func percentText(percent float64) string {
	if percent < 0.1 {
		return "less than 0.1%"
	}
	return fmt.Sprintf("%.1f%%", percent)
}

// losses adds up what was lost in the kernel. The end record has the total of a run; a run that was
// killed has only the losses of its experiments.
func (in *input) losses() map[string]int64 {
	sum := map[string]int64{}
	for _, d := range in.runs {
		run := map[string]int64{}
		for i := range d.Experiments {
			for name, n := range d.Experiments[i].Losses {
				run[name] += n
			}
		}
		if d.End != nil {
			for name, n := range d.End.Losses {
				run[name] = max(run[name], n)
			}
		}
		for name, n := range run {
			if n > 0 {
				sum[name] += n
			}
		}
	}
	return sum
}

// machineWarnings adds the warnings about other users of the machine.
func (in *input) machineWarnings(res *Result, foreign, steal float64) {
	if foreign > foreignPercent {
		res.Warnings.Add("foreign-cpu", "other processes took %.0f%% of the CPU time: the gains are those "+
			"on this busy machine. Stop the others to know those of a quiet one", foreign)
	}
	if steal > stealPercent {
		res.Warnings.Add("steal", "the hypervisor took %.0f%% of the CPU time: gains are noisy, and may be off. Use another "+
			"machine, or another hour", steal)
	}
	if own := 100 * float64(res.OwnNS) / math.Max(1, float64(res.RealNS)); own > ownPercent {
		res.Warnings.Add("own-cpu", "whatif itself took %.1f%% of a core: count fewer points, or use a longer --period", own)
	}
}

func total[N int | int64](counts map[string]N) (n N) {
	for _, c := range counts {
		n += c
	}
	return n
}

// list formats counts with their names, the largest first.
func list[N int | int64](counts map[string]N) string {
	names := slices.Collect(maps.Keys(counts))
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	s := ""
	for i, name := range names {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprintf("%s %d", name, counts[name])
	}
	return s
}

// sitesOf is the number of places at which a run counted one of its points.
func sitesOf(d *profile.Data, slot int) int {
	if d.End != nil && slot < len(d.End.Sites) {
		return d.End.Sites[slot]
	}
	return d.Run.Points[slot].Sites
}

// markNeverVisited gives the reason for missing effects on points that were never visited.
// addWarnings must have counted the visits.
func (r *Result) markNeverVisited() {
	for i := range r.Targets {
		for j := range r.Targets[i].Effects {
			if e := &r.Targets[i].Effects[j]; r.Points[e.Point].Visits == 0 {
				e.NeverVisited, e.Reason = true, "never visited: nothing to measure"
			}
		}
	}
}
