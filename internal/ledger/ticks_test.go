package ledger

import "testing"

// Ticks of 15 to 35 µs, 2 µs early to 37 µs late, among twice as many other gaps of 2 µs.
func TestCostOfTick(t *testing.T) {
	const period, seed, begin, end = 1_000_000, 7, 5_000_000_000, 5_030_000_000
	var gaps []gap
	want, ticks := uint64(0), uint64(0)
	for i := uint64(begin / period); i < end/period; i++ {
		base := i * period
		gaps = append(gaps, gap{base - 300_000, base - 298_000}, gap{base - 100_000, base - 98_000})
		due := tickTime(i, period, seed)
		if due < base || due >= base+period/4 {
			t.Fatalf("tick %d is due at %d", i, due)
		}
		from, took := due-2000+i%14*3000, 15_000+i%5*5000
		if i == begin/period+9 {
			took = 900_000 // the core was taken away
		}
		gaps = append(gaps, gap{from, from + took})
		if i > begin/period && took < 35_000 {
			want, ticks = want+took, ticks+1
		}
	}
	got := costOfTick(gaps, begin, end, period, seed)
	// The longest are left out: most of those of 35 µs stay.
	if got < want/ticks || got > 25_000 {
		t.Errorf("%d, want %d to 25000", got, want/ticks)
	}
	if got := costOfTick(nil, begin, end, period, seed); got != 0 {
		t.Errorf("without gaps: %d", got)
	}
}
