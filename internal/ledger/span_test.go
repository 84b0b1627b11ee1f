package ledger

import (
	"strings"
	"testing"
)

func TestInBetween(t *testing.T) {
	for name, readings := range map[string][][4]int64{ // begun, ended, strangers, in between
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
