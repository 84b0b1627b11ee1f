package analyze

import (
	"fmt"
	"slices"

	"whatif/internal/profile"
)

// shareSamples is how many samples the baselines must have for shares to come from them alone: a
// share of a half is then known to ±7 points. During experiments the delays distort the shares.
const shareSamples = 200

// choices are the runs by how their units were chosen: by the kind of unit, the targets and the
// scope. A unit that runs of one choice have cannot be in those of another: no function is a unit of
// a run of lines, and a line that was called from a target belonged to the target. So a unit's share
// is one of the time of those runs that could have it.
type choices struct {
	of   []int   // run → its choice
	n    int     // number of choices
	from [][]int // target → the choices that its share comes from
}

// choices finds the choices of the runs. A unit's share comes from each choice that met the unit.
// Where there were targets, other units lack the time of what targets called: such a choice counts
// for them only if there is no better one.
func (in *input) choices() *choices {
	c := &choices{}
	index := map[string]int{}
	for _, d := range in.runs {
		key := fmt.Sprintf("%q %q %q", d.Run.Unit, sorted(d.Run.Targets), sorted(d.Run.Scope))
		at, known := index[key]
		if !known {
			at = c.n
			index[key] = at
			c.n++
		}
		c.of = append(c.of, at)
	}
	whole, partly := make([][]int, len(in.targets)), make([][]int, len(in.targets))
	add := func(to *[]int, choice int) {
		if !slices.Contains(*to, choice) {
			*to = append(*to, choice)
		}
	}
	for r, d := range in.runs {
		for id := range d.Units {
			if u := in.unitOf[r][id]; len(d.Run.Targets) == 0 {
				add(&whole[u], c.of[r])
			} else {
				add(&partly[u], c.of[r])
			}
		}
	}
	for u, all := range in.tried {
		for _, o := range all { // what was tried although there were targets is one of them
			add(&whole[u], c.of[o.run])
		}
		if len(whole[u]) == 0 {
			whole[u] = partly[u]
		}
		slices.Sort(whole[u]) // sums of floating-point numbers depend on the order
	}
	c.from = whole
	return c
}

func sorted(all []string) []string {
	all = slices.Clone(all)
	slices.Sort(all)
	return all
}

// cpuTime is the CPU time of the runs of one choice, in ns, of all code and of each target.
type cpuTime struct {
	samples int64
	total   float64
	unit    []float64
}

func (t *cpuTime) add(samples int64, cpu float64) {
	t.samples += samples
	t.total += cpu
}

// measureShares sets the targets' shares and samples. Runs may have been sampled at different
// periods, so samples are weighted by the time that they stand for.
func (in *input) measureShares(res *Result) {
	c := in.choices()
	base, all := make([]cpuTime, c.n), make([]cpuTime, c.n)
	for i := range c.n {
		base[i].unit, all[i].unit = make([]float64, len(in.targets)), make([]float64, len(in.targets))
	}
	var ran, real float64
	for r, d := range in.runs {
		period := max(1, float64(d.Run.PeriodNS))
		base, all := &base[c.of[r]], &all[c.of[r]]
		add := func(samples int64, units map[uint32]int64, baseline bool) {
			all.add(samples, float64(samples)*period)
			if baseline {
				base.add(samples, float64(samples)*period)
			}
			for id, n := range units {
				u, cpu := in.unitOf[r][id], float64(n)*period
				in.targets[u].Samples += n
				all.unit[u] += cpu
				if baseline {
					base.unit[u] += cpu
				}
			}
		}
		for i := range d.Experiments {
			e := &d.Experiments[i]
			if !usable(e) {
				continue
			}
			ran += float64(e.Samples) * period
			real += float64(e.RealNS)
			add(e.Samples, e.UnitSamples, e.IsBaseline())
		}
		var sampled int64
		for _, n := range d.Sampled {
			sampled += n
		}
		add(sampled, d.Sampled, true)
		res.Samples += sampled
	}
	if real > 0 {
		res.cores = ran / real
	}
	in.measureWaiting(c)
	for u := range in.targets {
		in.setShare(u, c.from[u], base, all)
		if in.targets[u].Unit.Kind == profile.Together {
			in.targets[u].Samples, in.targets[u].CPUNS = 0, 0 // its units have them
		}
	}
}

// setShare sets a target's share from the runs of some choices.
func (in *input) setShare(u int, from []int, base, all []cpuTime) {
	var ran float64
	for i := range all {
		ran += all[i].unit[u]
	}
	in.targets[u].CPUNS = int64(min(max(0, ran), 1e18))
	var samples int64
	for _, i := range from {
		samples += base[i].samples
	}
	if samples < shareSamples {
		base = all
	}
	var part, total float64
	for _, i := range from {
		part += base[i].unit[u]
		total += base[i].total
	}
	if total > 0 {
		// Units are read after the total, so code on every stack may have a sample more than the
		// total.
		in.targets[u].Share = min(100, 100*part/total)
	}
}
