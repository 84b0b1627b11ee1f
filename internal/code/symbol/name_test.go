package symbol

import (
	"strings"
	"testing"
	"time"
)

// FuzzNames checks that arbitrary symbols are demangled in bounded time, to names of bounded length.
func FuzzNames(f *testing.F) {
	for _, seed := range []string{
		"", "main", "main.(*T).f[...]", "f.constprop.0.isra.1",
		"_ZN3foo3barIiSt6vectorIiSaIiEEEEvT_T0_", "_ZN4core3ptr13drop_in_place17h0123456789abcdefE",
		"_RNvCs1234_7mycrate3foo", "_RINvNtC3std3mem8align_ofdE", "$s4main3fooyyF",
		"_Z" + strings.Repeat("S_", 200), "_Z1f" + strings.Repeat("P", 5000),
		"_R" + strings.Repeat("B_", 300), "_ZN" + strings.Repeat("1aI", 300), strings.Repeat(".a", 3000),
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, symbol string, isGo bool) {
		const soon = time.Second
		begun := time.Now()
		n := namesOf(symbol, isGo)
		if took := time.Since(begun); took > soon {
			t.Errorf("%q takes %v", symbol, took)
		}
		const longest = 1 << maxDemangled
		for _, name := range []string{n.full, n.short, n.bare} {
			if len(name) > len(symbol)+longest {
				t.Errorf("%q has a name of %d bytes", symbol, len(name))
			}
		}
	})
}
