package experiment

import (
	"maps"
	"slices"
	"time"

	"whatif/internal/experiment/probes"
	"whatif/internal/ledger"
	"whatif/internal/plan"
	"whatif/internal/profile"
)

// meter makes the records of experiments from what was counted, as the differences of the counts since the end of the
// experiment before.
type meter struct {
	ledger    *ledger.Ledger
	units     *unitTable
	probes    *probes.Probes
	waits     *waitMeter
	start     uint64        // of profiling, on the ledger's clock
	period    time.Duration // of sampling
	wholeRuns bool          // each execution of the program is one experiment
	named     bool          // the units to try were named

	totals ledger.Totals // as of the last experiment's end, or the next one's begin: see rebase
	before []int64       // samples of the units as of the end of the experiment before
	steal  time.Duration // that the hypervisor took, as totals
	own    time.Duration // that whatif took, as totals
}

func newMeter(l *ledger.Ledger, units *unitTable, p *probes.Probes, cfg *Config, start uint64, wholeRuns bool) *meter {
	return &meter{
		ledger: l, units: units, probes: p, waits: &waitMeter{ledger: l, units: units, waiting: cfg.Waiting},
		start: start, period: cfg.Period, wholeRuns: wholeRuns, named: len(cfg.Targets) > 0,
	}
}

// rebase makes the next experiment's counts begin now: what came since the end of the last one, as in a warm-up or when
// the program was started, belongs to no experiment.
func (m *meter) rebase() {
	m.totals = m.ledger.Totals(m.units.count())
	m.steal, m.own = stealTime(), ownTime()
	m.waits.rebase()
}

// read makes the record of a trial's experiment from a reading. It also gives what was counted in it.
func (m *meter) read(t plan.Trial, r ledger.Reading) (profile.Experiment, ledger.Totals) {
	d := r.Totals.Minus(m.totals)
	m.before, m.totals = m.totals.Units, r.Totals
	e := profile.Experiment{
		Unit: t.Unit, Speedup: t.Speedup, Pair: t.Pair, Chance: round(t.Chance),
		StartNS: int64(r.Start - m.start), RealNS: int64(r.Real), DelayNS: int64(r.Delay),
		Samples: d.Samples, PausedNS: int64(d.Stopped), ForeignNS: int64(d.Foreign), TooSoon: d.TooSoon,
		SpinTurns: d.Turns, SpinNS: int64(d.Turning), HeldNS: int64(d.Delayed), UnpaidNS: int64(r.Unpaid),
		DealtNS: int64(d.Dealt), Wakes: d.Wakes, NetworkWakes: d.NetworkWakes,
		Losses: losses(d), LevelsNS: d.Changes.ByReason(),
	}
	if ticks := m.ledger.Ticks(); ticks > 1 {
		e.Ticks = ticks
	}
	m.waits.read(&e, d.Waited)
	for i, n := range d.Units {
		if n > 0 {
			if e.UnitSamples == nil {
				e.UnitSamples = make(map[uint32]int64)
			}
			e.UnitSamples[uint32(i+1)] = n
		}
	}
	m.units.addTogether(&e)
	steal, own := stealTime(), ownTime()
	e.StealNS, e.OwnNS = int64(steal-m.steal), int64(own-m.own)
	m.steal, m.own = steal, own
	m.visits(&e, r)
	return e, d
}

// visits adds the visits of the points, and latencies, to an experiment's record.
func (m *meter) visits(e *profile.Experiment, r ledger.Reading) {
	if m.wholeRuns {
		effective := float64(max(0, r.Real-r.Delay))
		e.Points = []profile.Visits{{Count: 1, Weight: 1, WindowNS: effective}}
		return
	}
	for i := range m.probes.Points() {
		e.Points = append(e.Points, weigh(r.Points[i].Bins, r.Points[i].Width, r.Real, r.Delay))
	}
	e.Latencies = durations(r, m.probes.Latencies())
}

// candidates are the units that may be tried, weighted with how much they took part since the last experiment but one:
// a period of waiting counts like a sample.
func (m *meter) candidates() []plan.Candidate {
	all := m.units.candidates(m.before)
	if m.named {
		return all
	}
	at := make(map[uint32]int)
	for i, c := range all {
		at[c.Unit] = i
	}
	for _, id := range slices.Sorted(maps.Keys(m.waits.last)) {
		n := m.waits.last[id] / int64(m.period)
		if n == 0 {
			continue
		}
		if i, ok := at[id]; ok {
			all[i].Samples += n
		} else {
			all = append(all, plan.Candidate{Unit: id, Samples: n})
		}
	}
	return all
}

// losses names what was lost in the kernel.
func losses(t ledger.Totals) map[string]int64 {
	var m map[string]int64
	for name, n := range t.Losses() {
		if m == nil {
			m = make(map[string]int64)
		}
		m[name] = n
	}
	return m
}
