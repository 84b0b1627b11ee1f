package analyze

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"whatif/internal/profile"
)

// Limits beyond which something is worth a warning.
const (
	noisyPercent   = 10  // of a baseline's period: 50 of them then tell ±3 points at best
	driftFactor    = 1.5 // between the slowest and the fastest tenth of a run
	foreignPercent = 5   // of all CPU time
	networkPercent = 5   // of all wake-ups
	stealPercent   = 2
	ownPercent     = 3  // DESIGN: whatif takes at most 3% of a core
	unpaidPercent  = 5  // of an experiment's time, in the median
	asidePercent   = 20 // of all experiments
	spinFactor     = 0.8
	fewAVisit      = 5  // visits in a window; the plan lengthens experiments until there are
	fewSamples     = 50 // that tell where a program's time goes
)

func (t *Target) warn(code, format string, args ...any) {
	t.Warnings = append(t.Warnings, Warning{code, fmt.Sprintf(format, args...)})
}

func (p *Point) warn(code, format string, args ...any) {
	p.Warnings = append(p.Warnings, Warning{code, fmt.Sprintf(format, args...)})
}

func (e *Effect) warn(code, format string, args ...any) {
	e.Warnings = append(e.Warnings, Warning{code, fmt.Sprintf(format, args...)})
}

func (r *Result) warn(code, format string, args ...any) {
	r.Warnings = append(r.Warnings, Warning{code, fmt.Sprintf(format, args...)})
}

// pointFacts sets what is known of a point, and the doubts about it.
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
		// The run's total includes what fell between experiments.
		if d.End != nil && slot < len(d.End.Visits) {
			visits = max(visits, d.End.Visits[slot])
		}
		p.Visits += visits
		p.Sites = max(p.Sites, sitesOf(d, slot))
	}
	switch {
	case p.Visits == 0:
		p.warn("never-visited", "point %s was visited 0 times in %.0f s", p.Name, seconds)
		return
	case t.count == 0:
		p.warn("no-baseline", "point %s: no usable baseline, so nothing to compare with", p.Name)
		return
	case t.visits == 0:
		p.warn("no-baseline", "point %s: no visit in any baseline, so nothing to compare with", p.Name)
		return
	}
	p.Rate = 1e9 * t.visits / (t.mean * float64(t.count))
	if t.df < 2 {
		p.warn("few-baselines", "point %s: %d %s, too few to know the noise: no intervals", p.Name, t.count, plural(t.count, "baseline"))
		return
	}
	p.Noise = 100 * math.Sqrt(t.variance)
	if mean := t.visits / float64(t.count); mean < fewAVisit {
		p.warn("few-visits", "point %s: %.2g visits in a baseline; longer experiments, or a point that is visited more often, would tell more", p.Name, mean)
	} else if p.Noise > noisyPercent {
		p.warn("unstable-baseline", "point %s: the time per visit in one baseline differs by ±%.0f%% from its neighbours'", p.Name, min(p.Noise, 999))
	}
	if f := t.drift(); f > driftFactor {
		p.warn("drift", "point %s: its time per visit changed by a factor of %.3g while measuring", p.Name, f)
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

// effectDoubts adds the doubts about one target's effect on one point.
func (in *input) effectDoubts(e *Effect, u int, t *track, f *fit) {
	tg := &in.targets[u]
	switch {
	case f.total == 0 && (tg.Tried == 0 || t.visits == 0):
		return // said at the target, or at the point
	case f.total == 0:
		e.warn("no-data", "none of its %d %s can be compared at this point", tg.Tried, plural(tg.Tried, "experiment"))
		return
	case f.total < leastTrials:
		e.warn("few-experiments", "%d %s: needs at least %d for an interval", f.total, plural(f.total, "experiment"), leastTrials)
		return
	}
	if f.phase != 1 {
		e.warn("phases", "it runs in phases of the program: what was gained in them was multiplied by %.2f", f.phase)
	}
	var visits float64
	for _, s := range f.levels {
		visits += s.visits
	}
	if visits < 2*fewVisits {
		e.warn("few-visits", "%.0f visits in %d experiments", visits, f.total)
	}
	switch {
	case f.clipped == 1:
		e.warn("outliers", "1 of %d experiments was an outlier: its weight was reduced", f.total)
	case f.clipped > 1:
		e.warn("outliers", "%d of %d experiments were outliers: their weight was reduced", f.clipped, f.total)
	}
	if f.disagree > 1 {
		e.warn("runs-disagree", "its %d runs say different things, by more than their noise: intervals were made %.1f times as wide", f.runs, math.Sqrt(f.disagree))
	}
	if up, down := e.sureLevels(); up && down {
		e.warn("bends", "gains at some speed-ups, loses at others: look at the curve")
	} else if e.Slope.Bounded && (e.Verdict == Faster && e.Slope.Low <= 0 || e.Verdict == Slower && e.Slope.High >= 0) {
		e.warn("bends", "the curve bends: its slope is not its effect")
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

// doubts adds the warnings that concern targets and the whole.
func (in *input) doubts(res *Result) {
	for u := range in.targets {
		tg := &in.targets[u]
		switch {
		case tg.Tried == 0 && tg.SetAside > 0:
			tg.warn("set-aside", "all of its %d %s set aside", tg.SetAside, were(tg.SetAside))
		case tg.Tried == 0:
			tg.warn("few-experiments", "never tried")
		case 100*tg.SetAside > asidePercent*(tg.Tried+tg.SetAside):
			tg.warn("set-aside", "%d of its %d %s set aside", tg.SetAside, tg.Tried+tg.SetAside, were(tg.Tried+tg.SetAside))
		}
	}
	in.unitDoubts()
	in.runWarnings(res)
	for i := range res.Points {
		res.Warnings = append(res.Warnings, res.Points[i].Warnings...)
	}
	for i := range res.Latencies {
		res.Warnings = append(res.Warnings, res.Latencies[i].Warnings...)
	}
	in.experimentDoubts(res)
}

// unitDoubts looks at what was recorded beside the visits for what concerns single units: a unit's
// experiments may have been disturbed where most of the others were not.
func (in *input) unitDoubts() {
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
			tg.warn("unpaid", "in half of its experiments %.0f%% or more of their time was still owed at the end", x)
		}
		const more = 2 // times as much as in all experiments: else it is said of these
		if x := 100 * own.foreign / own.cpu; x > foreignPercent && own.foreign*all.cpu > more*all.foreign*own.cpu {
			tg.warn("foreign-cpu", "other processes took %.0f%% of the CPU time during its experiments", x)
		}
		if x := 100 * own.steal / own.cpu; x > stealPercent && own.steal*all.cpu > more*all.steal*own.cpu {
			tg.warn("steal", "the hypervisor took %.0f%% of the CPU time during its experiments", x)
		}
	}
}

// A disturbance is by whom experiments were disturbed, in ns, and what each of them still owed.
type disturbance struct {
	cpu, foreign, steal float64
	unpaid              []float64 // parts of their time
}

func (x *disturbance) add(run *profile.Run, e *profile.Experiment) {
	x.cpu += float64(e.RealNS) * float64(max(1, run.CPUs))
	x.foreign += float64(e.ForeignNS)
	x.steal += float64(e.StealNS)
	if !e.IsBaseline() {
		x.unpaid = append(x.unpaid, float64(e.UnpaidNS)/float64(e.RealNS))
	}
}

// runWarnings passes on what the runner was in doubt about, each text once.
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
			res.warn("torn", "%s: the run at line %d was cut short; what it had measured is used", d.File, d.Line)
		}
	}
	if unknown > 0 {
		res.warn("newer", "%d %s of the profile passed over: a newer whatif wrote them, and knows more", unknown, wereRecords(unknown))
	}
}

// experimentDoubts looks at what was recorded beside the visits.
func (in *input) experimentDoubts(res *Result) {
	if len(in.runs) == 0 {
		res.warn("no-data", "the profile holds no run")
		return
	}
	if res.Experiments+res.Baselines == 0 {
		res.warn("no-data", "no usable experiment")
	}
	if aside := total(res.SetAside); aside > 0 && 100*aside > asidePercent*(aside+res.Experiments+res.Baselines) {
		res.warn("set-aside", "%d of %d experiments and baselines were set aside: %s", aside, aside+res.Experiments+res.Baselines, list(res.SetAside))
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
				continue // little is owed there, and stops are too short to tell
			}
			unpaid = append(unpaid, float64(e.UnpaidNS)/float64(e.RealNS))
			if e.SpinTurns > 0 && e.SpinNS > 1e6 {
				turns = append(turns, float64(e.SpinTurns)/float64(e.SpinNS))
			}
		}
	}
	in.machineDoubts(res, 100*foreign/cpu, 100*steal/cpu)
	if 100*network > networkPercent*wakes {
		res.warn("remote-clients", "%.0f%% of the wake-ups came from other machines, which are not slowed down with the program: "+
			"the gains hold for clients that wait for each answer, and are too large for others", 100*float64(network)/float64(wakes))
	}
	if res.Samples >= fewSamples && !slices.ContainsFunc(res.Targets, func(t Target) bool { return (t.Samples > 0 || t.Tried > 0) && !isPlacebo(t) }) {
		res.warn("no-units", "none of %d samples was in code that can be sped up; --list-units shows what runs, and why that cannot be", res.Samples)
	}
	if x := 100 * median(unpaid); x > unpaidPercent {
		res.warn("unpaid", "in half of the experiments %.0f%% or more of their time was still owed at the end", x)
	}
	slices.Sort(turns)
	if len(turns) >= 10 && quantile(turns, 0.1) < spinFactor*quantile(turns, 0.5) {
		res.warn("hidden-contention", "in a tenth of the experiments pauses ran at %.0f%% of their usual speed: the cores were not all there",
			100*quantile(turns, 0.1)/quantile(turns, 0.5))
	}
	losses := in.losses()
	in.stackDoubts(res, losses)
	if len(losses) > 0 {
		res.warn("losses", "lost in the kernel: %s", list(losses))
	}
}

// stackDoubts takes those losses out that are samples, and gives them as a share. That
// tables are read when a stack first leads to them is how it should be; too many of
// those are worth a word.
func (in *input) stackDoubts(res *Result, losses map[string]int64) {
	const manyEarly = 2 // percent
	var samples int64
	for _, d := range in.runs {
		for i := range d.Experiments {
			e := &d.Experiments[i]
			samples += e.Samples * int64(e.TicksEach()) // as losses are counted: each
		}
	}
	percent := func(lost int64) float64 { return 100 * float64(lost) / float64(max(samples, lost, 1)) }
	if n := losses[profile.LossStack]; n > 0 {
		res.warn("stacks", "of %s of the samples the callers could not be found: %s %d", percentText(percent(n)), profile.LossStack, n)
	}
	early := make(map[string]int)
	for _, name := range []string{profile.LossTable, profile.LossPlace} {
		if n := losses[name]; n > 0 {
			early[name] = int(n)
		}
		delete(losses, name)
	}
	if x := percent(int64(total(early))); x > manyEarly {
		res.warn("early-stacks", "%s of the samples came too early to be given to any code: %s; a longer run has fewer", percentText(x), list(early))
	}
	delete(losses, profile.LossStack)
}

func percentText(percent float64) string {
	if percent < 0.1 {
		return "less than 0.1%"
	}
	return fmt.Sprintf("%.1f%%", percent)
}

// losses adds up what was lost in the kernel. The end record has a run's total;
// a run that was killed has only what its experiments say.
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

// machineDoubts: who else was using the machine.
func (in *input) machineDoubts(res *Result, foreign, steal float64) {
	if foreign > foreignPercent {
		res.warn("foreign-cpu", "other processes took %.0f%% of the CPU time: the gains are those on this busy machine", foreign)
	}
	if steal > stealPercent {
		res.warn("steal", "the hypervisor took %.0f%% of the CPU time", steal)
	}
	if own := 100 * float64(res.OwnNS) / math.Max(1, float64(res.RealNS)); own > ownPercent {
		res.warn("own-cpu", "whatif itself took %.1f%% of a core", own)
	}
}

func total(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// list writes counts with their names, the largest first.
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

// sitesOf is at how many places a run counted one of its points.
func sitesOf(d *profile.Data, slot int) int {
	if d.End != nil && slot < len(d.End.Sites) {
		return d.End.Sites[slot]
	}
	return d.Run.Points[slot].Sites
}

// markNeverVisited says of the effects on points that were never visited why there are none. Visits are counted by
// doubts.
func (r *Result) markNeverVisited() {
	for i := range r.Targets {
		for j := range r.Targets[i].Effects {
			if e := &r.Targets[i].Effects[j]; r.Points[e.Point].Visits == 0 {
				e.NeverVisited, e.Reason = true, "never visited: nothing to measure"
			}
		}
	}
}
