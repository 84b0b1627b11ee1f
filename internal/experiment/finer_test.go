package experiment

import (
	"testing"
	"time"

	"whatif/internal/ledger"
	"whatif/internal/profile"
)

// Ticks come more often where threads wait busily, or hand over more than once in a period that they run, or where
// requests are shorter than that.
func TestFinerTicksNeeded(t *testing.T) {
	for _, c := range []struct {
		totals ledger.Totals
		needed bool
	}{
		{ledger.Totals{Samples: 1000}, false},
		{ledger.Totals{Samples: 1000, Busy: 19}, false},
		{ledger.Totals{Samples: 1000, Busy: 20}, true},
		{ledger.Totals{Samples: 2000, Busy: 30}, false},
		{ledger.Totals{Samples: 1000, HandOvers: 1000}, false},
		{ledger.Totals{Samples: 1000, HandOvers: 1001}, true},
		{ledger.Totals{Samples: 100, HandOvers: 199}, false},
		{ledger.Totals{Samples: 100, HandOvers: 200}, true},
	} {
		var f finerTicks
		f.add(c.totals, nil)
		if f.needed() != c.needed {
			t.Errorf("%+v: %t", c.totals, f.needed())
		}
	}
}

func TestFinerTicksForRequests(t *testing.T) {
	long := profile.Durations{Matched: 1000, TotalNS: 1000 * 1_000_000}
	for _, c := range []struct {
		latencies []profile.Durations
		needed    bool
	}{
		{[]profile.Durations{long}, false},
		{[]profile.Durations{long, {Matched: 1000, TotalNS: 1000 * 999_999}}, true},
		{[]profile.Durations{{Matched: 199, TotalNS: 199 * 1000}}, false},
	} {
		f := finerTicks{period: time.Millisecond}
		f.add(ledger.Totals{}, c.latencies)
		if f.needed() != c.needed {
			t.Errorf("%+v: %t", c.latencies, f.needed())
		}
	}
}
