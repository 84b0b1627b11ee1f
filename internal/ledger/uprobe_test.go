package ledger

import (
	"testing"
	"time"

	"whatif/internal/realkernel"
	"whatif/internal/target"
)

// Probes can be set in both ways, for each of their kinds, and cost something.
func TestMeasureProbes(t *testing.T) {
	realkernel.Need(t)
	l, err := Open(Options{Period: time.Millisecond, Cap: 4 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, single := range []bool{false, true} {
		l.single = single
		if err := l.MeasureProbes(target.OwnCode); err != nil {
			t.Fatalf("single %v: %v", single, err)
		}
		costs := map[string]time.Duration{}
		for name, c := range map[string]Cost{"emulated": Emulated, "stepped": Stepped, "long nop": LongNop, "return": Return, "return, stepped": ReturnStepped} {
			costs[name] = l.ProbeCost(c)
			if costs[name] < 100*time.Nanosecond || costs[name] > time.Millisecond {
				t.Errorf("single %v: %s costs %v", single, name, costs[name])
			}
		}
		t.Logf("single %v: %v", single, costs)
		if !single && l.single {
			t.Log("this kernel has no links for several probes")
		}
	}
	// What is measured is no visit of anything.
	for p := range MaxPoints {
		if l.Visits(p) != 0 || l.Spent(p) != 0 {
			t.Errorf("point %d was visited", p)
		}
	}
}

func TestCookie(t *testing.T) {
	if c := cookie(3, Probe{Cost: ReturnStepped}); c&0xffffffff != 3 || c>>32 != uint64(ReturnStepped) {
		t.Errorf("%#x", c)
	}
}
