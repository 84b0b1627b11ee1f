package analyze

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
