package analyze

// count sums up what was measured.
func (in *input) count(res *Result) {
	for _, d := range in.runs {
		if n := len(res.Runs); d.Part && n > 0 {
			res.Runs[n-1].Experiments += len(d.Experiments)
			res.Runs[n-1].Torn = res.Runs[n-1].Torn || d.Torn
		} else {
			res.Runs = append(res.Runs, RunFacts{Run: &d.Run, End: d.End, File: d.File, Torn: d.Torn, BuildIDs: d.BuildIDs(), Experiments: len(d.Experiments)})
		}
		for i := range d.Experiments {
			e := &d.Experiments[i]
			res.RealNS += e.RealNS
			res.DelayNS += max(0, e.DelayNS)
			res.PausedNS += max(0, e.PausedNS)
			res.HeldNS += max(0, e.HeldNS)
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

// shareSamples is how many samples the baselines must have for shares to come
// from them alone: a share of a half is then known to ±7 points. During
// experiments the shares are distorted by the delays.
const shareSamples = 200

// measureShares sets the targets' shares and samples.
func (in *input) measureShares(res *Result) {
	var baseTotal int64
	var ran, real float64
	base := make([]int64, len(in.targets))
	all := make([]int64, len(in.targets))
	for r, d := range in.runs {
		for i := range d.Experiments {
			e := &d.Experiments[i]
			if !usable(e) {
				continue
			}
			ran += float64(e.Samples) * float64(d.Run.PeriodNS)
			real += float64(e.RealNS)
			if e.IsBaseline() {
				baseTotal += e.Samples
			}
			for id, n := range e.UnitSamples {
				u := in.unitOf[r][id]
				all[u] += n
				if e.IsBaseline() {
					base[u] += n
				}
			}
		}
	}
	if real > 0 {
		res.cores = ran / real
	}
	for r, d := range in.runs {
		for id, n := range d.Sampled {
			u := in.unitOf[r][id]
			all[u] += n
			base[u] += n
			baseTotal += n
			res.Samples += n
		}
	}
	from, total := base, baseTotal
	if baseTotal < shareSamples {
		from, total = all, res.Samples
	}
	in.measureWaiting()
	for u := range in.targets {
		in.targets[u].Samples = all[u]
		if total > 0 {
			// What is on every stack may have been counted once more: units are read after the total.
			in.targets[u].Share = min(100, 100*float64(from[u])/float64(total))
		}
	}
}
