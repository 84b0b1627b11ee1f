package analyze

import "whatif/internal/profile"

// count sums up what was measured.
func (in *input) count(res *Result) {
	for _, d := range in.runs {
		if n := len(res.Runs); d.Part && n > 0 {
			res.Runs[n-1].Experiments += len(d.Experiments)
			res.Runs[n-1].Torn = res.Runs[n-1].Torn || d.Torn
		} else {
			res.Runs = append(res.Runs, RunFacts{Run: &d.Run, End: d.End, File: d.File, Torn: d.Torn, BuildIDs: d.BuildIDs(),
				Experiments: len(d.Experiments)})
		}
		run := &res.Runs[len(res.Runs)-1]
		for i := range d.Experiments {
			e := &d.Experiments[i]
			run.Ticks = max(run.Ticks, e.TicksEach())
			res.RealNS += e.RealNS
			res.DelayNS += max(0, e.DelayNS)
			res.PausedNS += max(0, e.PausedNS)
			res.HeldNS += max(0, e.HeldNS)
			for reason, ns := range e.LevelsNS {
				if res.LevelsNS == nil {
					res.LevelsNS = make(map[string]int64)
				}
				res.LevelsNS[reason] += ns
			}
			res.DealtNS += max(0, e.DealtNS)
			res.OwnNS += max(0, e.OwnNS)
			switch {
			case !usable(e):
				reason := e.SetAside
				if reason == "" {
					reason = "no time"
				}
				res.SetAside[reason]++
			case e.IsBaseline():
				res.Baselines++
				res.Samples += e.Samples
			default:
				res.Experiments++
				res.Samples += e.Samples
			}
		}
	}
	for u := range in.targets {
		for _, o := range in.tried[u] {
			if usable(&in.runs[o.run].Experiments[o.exp]) {
				in.targets[u].Tried++
			} else {
				in.targets[u].SetAside++
			}
		}
	}
}

// shareSamples is how many samples the baselines must have for shares to come from them alone: a
// share of a half is then known to ±7 points. During experiments the delays distort the shares.
const shareSamples = 200

// measureShares sets the targets' shares and samples. Runs may have been sampled at different
// periods, so samples are weighted by the time that they stand for.
func (in *input) measureShares(res *Result) {
	var baseSamples int64
	var baseTotal, total, ran, real float64
	base := make([]float64, len(in.targets)) // CPU time, in ns
	all := make([]float64, len(in.targets))
	for r, d := range in.runs {
		period := max(1, float64(d.Run.PeriodNS))
		add := func(samples int64, units map[uint32]int64, baseline bool) {
			total += float64(samples) * period
			if baseline {
				baseSamples += samples
				baseTotal += float64(samples) * period
			}
			for id, n := range units {
				u, cpu := in.unitOf[r][id], float64(n)*period
				in.targets[u].Samples += n
				all[u] += cpu
				if baseline {
					base[u] += cpu
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
	from, of := base, baseTotal
	if baseSamples < shareSamples {
		from, of = all, total
	}
	in.measureWaiting()
	for u := range in.targets {
		in.targets[u].CPUNS = int64(min(max(0, all[u]), 1e18))
		if of > 0 {
			// Units are read after the total, so code on every stack may have a sample more than
			// the total.
			in.targets[u].Share = min(100, 100*from[u]/of)
		}
		if in.targets[u].Unit.Kind == profile.Together {
			in.targets[u].Samples, in.targets[u].CPUNS = 0, 0 // its units have them
		}
	}
}
