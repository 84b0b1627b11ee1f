package ledger

import (
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/cilium/ebpf"

	"whatif/internal/target"
	"whatif/internal/testing/realkernel"
)

// Probes of each kind can be set in both ways, and cost something.
func TestMeasureProbes(t *testing.T) {
	realkernel.Need(t)
	l, err := Open(Options{Period: time.Millisecond, Cap: 4 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, single := range []bool{false, true} {
		l.singly = single
		clear(l.measured[:])
		var all []Probe
		for c := range probedFunctions {
			all = append(all, Probe{Cost: c})
		}
		if err := l.MeasureProbes(all, target.OwnCode); err != nil {
			t.Fatalf("single %v: %v", single, err)
		}
		costs := map[string]time.Duration{}
		for name, c := range map[string]Cost{
			"emulated": Emulated, "stepped": Stepped, "long nop": LongNop, "return": Return,
			"return, stepped": ReturnStepped,
		} {
			costs[name] = l.ProbeCost(c)
			if costs[name] < 100*time.Nanosecond || costs[name] > time.Millisecond {
				t.Errorf("single %v: %s costs %v", single, name, costs[name])
			}
		}
		t.Logf("single %v: %v", single, costs)
		if !single && l.singly {
			t.Log("this kernel has no links for several probes")
		}
	}
	// Measuring is no visit of a point.
	for p := range MaxPoints {
		if l.Visits(p) != 0 || l.Spent(p) != 0 {
			t.Errorf("point %d was visited", p)
		}
	}
}

// Only the costs of the given probes are measured, each once.
func TestMeasureUsedProbes(t *testing.T) {
	realkernel.Need(t)
	l, err := Open(Options{Period: time.Millisecond, Cap: 4 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	located := 0
	locate := func(pc uint64) (string, uint64, error) {
		located++
		return target.OwnCode(pc)
	}
	// The cost of counting is a part of the probe's, as the visits of the measuring thread are not counted.
	l.visitCost = time.Second
	for range 2 {
		if err := l.MeasureProbes([]Probe{{Cost: Emulated}, {Cost: Emulated, Offset: 1}}, locate); err != nil {
			t.Fatal(err)
		}
	}
	if located != 1 || l.ProbeCost(Emulated) < time.Second {
		t.Errorf("measured %d times, %v", located, l.ProbeCost(Emulated))
	}
	for c := range probedFunctions {
		if c != Emulated && l.ProbeCost(c) != 0 {
			t.Errorf("cost %d was measured: %v", c, l.ProbeCost(c))
		}
	}
}

// Programs that are not needed are not loaded.
func TestLoadsWhatIsNeeded(t *testing.T) {
	realkernel.Need(t)
	for samplesOnly, want := range map[bool][]string{
		false: slices.Concat(memberPrograms, schedulerPrograms), true: memberPrograms,
	} {
		l, err := Open(Options{
			Period: time.Millisecond, Cap: 4 * time.Millisecond, SamplesOnly: samplesOnly, NobodyPays: samplesOnly,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if _, err := l.StartClock([]int{0}); err != nil {
			t.Fatal(err)
		}
		if !samplesOnly {
			want = slices.Concat(want, l.programs.attachable(irqWorkPrograms), []string{"see_preempt_count"})
		}
		want = slices.Sorted(slices.Values(append(slices.Clone(want), "start_clock")))
		if loaded := slices.Sorted(maps.Keys(l.programs.loaded)); !slices.Equal(loaded, want) {
			t.Errorf("samples only: %v: loaded\n%v\nwant\n%v", samplesOnly, loaded, want)
		}
	}
}

// Goroutines that need a program at the same time get the same one.
func TestLoadsOnce(t *testing.T) {
	realkernel.Need(t)
	l := opened(t)
	const users = 4
	got := make(chan *ebpf.Program, users)
	for range users {
		go func() {
			program, err := l.programs.get("measure_visits")
			if err != nil {
				t.Error(err)
			}
			got <- program
		}()
	}
	for range users {
		if program := <-got; program != l.programs.loaded["measure_visits"] || program.FD() < 0 {
			t.Error("a goroutine has a program of its own, or a closed one")
		}
	}
}

func TestCookie(t *testing.T) {
	if c := cookie(Probe{Cost: ReturnStepped, Of: 3}); c&0xffffffff != 3 || c>>32 != uint64(ReturnStepped) {
		t.Errorf("%#x", c)
	}
}

// TestTooManyProbes sets more probes than one file may have.
func TestTooManyProbes(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := slices.Repeat([]Probe{{File: f}}, maxProbes+1)
	if links, err := (&probes{}).set("probe", all); len(links) > 0 || err == nil {
		t.Errorf("%d links, %v", len(links), err)
	}
}
