package ledger

// finer is since when ticks come more often than they were asked for. Samples are given in periods that were asked for all the same, as in the rest of the
// run, and in others.
type finer struct {
	times   int64 // as often; 0: they do not
	samples int64 // until then
	units   []int64
}

// Ticks is how many come in each period that was asked for; 0: one.
func (l *Ledger) Ticks() int { return int(l.finer.times) }

// Spins is how many ticks have met a thread of the target that waited busily.
func (l *Ledger) Spins() int64 { return int64(load(&l.page.control.Spins)) }

// Refine has ticks come so many times as often as they were asked for, from now on. It is called once, between experiments. So many units have been given numbers.
func (l *Ledger) Refine(times, units int) {
	l.finer = finer{times: int64(times), samples: l.sums().Samples, units: l.UnitSamples(units)}
	store(&l.page.control.Period, load(&l.page.control.Usual)/uint64(times))
}

// periods is what so many samples stand for, of which there were that many before.
func (f *finer) periods(before, samples int64) int64 {
	if f.times == 0 {
		return samples
	}
	return before + (samples-before)/f.times
}

// ofUnit is that of the unit with this index.
func (f *finer) ofUnit(i int, samples int64) int64 {
	if i >= len(f.units) {
		return f.periods(0, samples)
	}
	return f.periods(f.units[i], samples)
}
