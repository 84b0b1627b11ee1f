package manycores

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

const (
	jitter  = 1000  // ns, a timer on a machine of its own; virtual machines have more
	look    = 40    // reading the clock and two numbers
	longest = 40000 // TOGETHER_NS in bpf/pay/tick.h
	period  = 1e6
	ticks   = 8
)

func machine(cores int, transfer float64) Machine {
	return Machine{Cores: cores, Transfer: transfer, Jitter: jitter, Look: look, Longest: longest, Earning: cores / 2}
}

// Two cores wait for the later of two timers only. Without jitter, n cores that write one line wait for n transfers.
func TestByHand(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	two := machine(2, 0)
	two.Earning, two.Look = 0, 1
	// The later of two exponential times is 1.5 means on average, the earlier 0.5: one of the two waits for a mean.
	if got := two.Tick(1000, random).Waited; math.Abs(got-jitter/2) > 60 {
		t.Errorf("two cores wait for %.0f ns, want %d", got, jitter/2)
	}
	// All hundred writes come before the first look, and looks are transfers, too: a core is done 1 to 100 transfers after
	// the last write.
	same := Machine{Cores: 100, Transfer: 50, Look: 1e6, Longest: 1e9}
	if got := same.Tick(1, random).Waited; math.Abs(got-50*(100+50.5)) > 1 {
		t.Errorf("a hundred cores wait for %.0f ns", got)
	}
	// Who waits for a tenth of the mean jitter leaves before all have come, but for the last ones.
	impatient := Machine{Cores: 100, Jitter: 10000, Look: 10, Longest: 1000}
	if got := impatient.Tick(100, random).Missed; got < 0.9 || got == 1 {
		t.Errorf("%.0f%% of the cores leave early", 100*got)
	}
}

// The table of the document is what the model gives, and the claims about it hold.
func TestTable(t *testing.T) {
	text, err := os.ReadFile("../../../docs/design/0039-many-cores.md")
	if err != nil {
		t.Fatal(err)
	}
	cost := func(x Tick) string {
		return fmt.Sprintf("%.1f µs, %.1f%%, %.0f%%", x.Waited/1000, 100*x.Waited/period, 100*x.Missed)
	}
	for _, cores := range []int{2, 16, 64, 128, 256} {
		row := fmt.Sprintf("| %d |", cores)
		for _, transfer := range []float64{50, 150} {
			m := machine(cores, transfer)
			row += " " + cost(m.Tick(ticks, rand.New(rand.NewPCG(uint64(cores), 0)))) + " |"
		}
		if !strings.Contains(string(text), row+"\n") {
			t.Errorf("docs/design/0039-many-cores.md does not have this row:\n%s", row)
		}
	}
}
