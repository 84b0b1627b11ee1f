package ledger

import (
	"testing"
	"time"

	"whatif/internal/testing/realkernel"
)

func TestPackedSteps(t *testing.T) {
	m := Member{Functions: 2, Steps: [LongestPath]int{1, 2, 2, 3, 4, 5, 6}}
	if got, want := m.packed(&m.Steps), uint32(0x77777771); got != want {
		t.Errorf("%#x, want %#x", got, want)
	}
}

// The kernel accepts the programs with all settings.
func TestOpenWithStacks(t *testing.T) {
	realkernel.Need(t)
	for _, s := range []*Stacks{nil, {}, {Enough: 2}, {Enough: 1, BlamedOnly: true}} {
		l, err := Open(Options{Period: time.Millisecond, Cap: time.Millisecond, Stacks: s})
		if err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
		if s != nil {
			if n, err := l.AddChain(Chain{Own: 1, Members: []Member{{Unit: 2, Functions: 1}}}); n != 1 || err != nil {
				t.Errorf("%+v: chain %d, %v", s, n, err)
			}
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}
