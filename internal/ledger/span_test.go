package ledger

import (
	"strings"
	"testing"

	"whatif/bpf"
)

func TestInBetween(t *testing.T) {
	for name, readings := range map[string][][4]int64{ // begun, ended, ended without a begin, in between
		"in threads":                                {{3, 2, 0, 1}, {9, 9, 0, 0}, {12, 10, 0, 2}},
		"the same, two had begun before":            {{109, 110, 2, 1}, {120, 122, 2, 0}},
		"with a key, five had begun before":         {{10, 9, 5, 6}, {20, 22, 5, 3}},
		"from thread to thread":                     {{5, 2, 2, 3}, {9, 9, 9, 0}, {100, 96, 96, 4}},
		"the same, three at least had begun before": {{4, 5, 5, 0}, {9, 12, 12, 0}, {20, 22, 22, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			var s span
			s.keyed = strings.HasPrefix(name, "with a key")
			for _, r := range readings {
				if got := s.inBetween(r[0], r[1], r[2]); got != r[3] {
					t.Errorf("%d begun, %d ended, %d of them without a begin: %d in between, want %d", r[0], r[1], r[2], got, r[3])
				}
			}
		})
	}
}

// The visits before an experiment tell how many requests are in between when it begins, even if some have come since.
func TestCountInSystem(t *testing.T) {
	p := &page{
		bins:    new([2][bpf.LedgerLimitMAX_POINTS][bpf.LedgerLimitMAX_BINS]uint32),
		visits:  new([bpf.LedgerLimitMAX_POINTS]uint64),
		unbegun: new([bpf.LedgerLimitMAX_SPANS]uint64),
	}
	v := &visitCounts{
		kernelSide: &kernelSide{page: p}, sources: &sources{}, spans: []span{{begin: 2, end: 3, keyed: true}},
	}
	p.visits[2], p.visits[3] = 10, 9
	p.bins[0][2][0] = 100 // another experiment's
	p.bins[1][2][0], p.bins[1][2][7], p.bins[1][3][7] = 1, 2, 4
	v.countInSystem(1)
	if got := v.spans[0].inSystem; got != (10-3)-(9-4) {
		t.Errorf("%d in between, want 2", got)
	}
}
