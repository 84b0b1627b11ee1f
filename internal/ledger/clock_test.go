package ledger

import (
	"slices"
	"testing"
)

func TestParseCPUs(t *testing.T) {
	for text, want := range map[string][]int{
		"0":         {0},
		"0-3":       {0, 1, 2, 3},
		"0-1,4":     {0, 1, 4},
		"2,5-6,127": {2, 5, 6, 127},
		"7-7":       {7},
	} {
		if got, err := parseCPUs(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "x", "0-", "-3", "0,,2", "0-y", "0 1"} {
		if got, err := parseCPUs(text); err == nil {
			t.Errorf("%q: %v, no error", text, got)
		}
	}
}
