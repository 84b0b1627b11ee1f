package experiment

import (
	"testing"

	"whatif/internal/ledger"
)

// Ticks come more often where threads wait busily, or hand over more than once in a period that they run.
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
		f.add(c.totals)
		if f.needed() != c.needed {
			t.Errorf("%+v: %t", c.totals, f.needed())
		}
	}
}
