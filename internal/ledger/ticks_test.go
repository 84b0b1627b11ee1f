package ledger

import (
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"whatif/internal/testing/realkernel"
)

// TestTickTimes compiles the kernel side's vtime/tick_times.h for user space. testdata/tick_times.c checks what must
// hold of it. This package has to know the same times.
func TestTickTimes(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no gcc: make test installs it")
	}
	program := realkernel.Compile(t, "../../bpf/testdata/tick_times.c", "-O2", "-lm")
	for _, period := range []uint64{1_000_000, 10_000_000, 333_333, 200_000} {
		for seed := range uint64(2) {
			t.Run(fmt.Sprintf("period %d, seed %d", period, seed), func(t *testing.T) {
				t.Parallel()
				out, err := exec.Command(program, fmt.Sprint(period), fmt.Sprint(seed)).CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				lines := strings.Split(strings.TrimSpace(string(out)), "\n")
				if len(lines) < 2*16 {
					t.Fatalf("only %d ticks", len(lines))
				}
				for _, line := range lines {
					var tick, due uint64
					if _, err := fmt.Sscan(line, &tick, &due); err != nil || tickDue(tick, period, seed) != due {
						t.Fatalf("%q, but here it is %d (%v)", line, tickDue(tick, period, seed), err)
					}
				}
			})
		}
	}
}

// Ticks of 15 to 35 µs, 2 µs early to 37 µs late, among twice as many other gaps of 2 µs.
func TestCostOfTick(t *testing.T) {
	const period, seed, begin, end = 1_000_000, 7, 5_000_000_000, 5_030_000_000
	var gaps []Gap
	want, ticks := uint64(0), uint64(0)
	for i := uint64(begin / period); i < end/period; i++ {
		due := tickDue(i, period, seed)
		gaps = append(gaps, Gap{due - 300_000, due - 298_000}, Gap{due - 100_000, due - 98_000})
		from, took := due-2000+i%14*3000, 15_000+i%5*5000
		if i == begin/period+9 {
			took = 900_000 // the core was taken away
		}
		gaps = append(gaps, Gap{from, from + took})
		if i > begin/period && took < 35_000 {
			want, ticks = want+took, ticks+1
		}
	}
	got := usualCost(costsOfTicks(gaps, begin, end, period, seed))
	// The longest tenth is left out. Most ticks of 35 µs stay.
	if got < want/ticks || got > 25_000 {
		t.Errorf("%d, want %d to 25000", got, want/ticks)
	}
	if got := usualCost(costsOfTicks(nil, begin, end, period, seed)); got != 0 {
		t.Errorf("without gaps: %d", got)
	}
}

// A core's ticks count for it, and less so while few of them were measured.
func TestTickCosts(t *testing.T) {
	costs := make(tickCosts)
	if mean := costs.mean(); mean != 0 || costs.of(0, mean) != 0 {
		t.Errorf("nothing measured: %d, %d", mean, costs.of(0, mean))
	}
	ticks := func(n int, cost uint64) []uint64 { return slices.Repeat([]uint64{cost}, n) }
	costs.add(0, ticks(lastTicks, 70_000)) // too long ago
	costs.add(0, ticks(lastTicks, 40_000))
	costs.add(1, ticks(8, 60_000))
	costs.add(2, nil)
	for cpu, want := range []uint64{0: 40_740, 1: 55_000, 2: 50_000, 3: 50_000} {
		if got := costs.of(cpu, costs.mean()); got != want {
			t.Errorf("core %d: %d, want %d", cpu, got, want)
		}
	}
}

// ticking opens a ledger that may stop cores, and starts these cores' clocks.
func ticking(t *testing.T, cpus []int) *Ledger {
	t.Helper()
	l, err := Open(Options{Stops: true, Period: time.Millisecond, Cap: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if _, err := l.StartClock(cpus); err != nil {
		t.Fatal(err)
	}
	return l
}

// A real-time thread that has a core for itself does not hold up the experiments.
func TestTickCostBesideRealTime(t *testing.T) {
	realkernel.NeedQuiet(t)
	cpus := onlineCPUs(t)
	if len(cpus) < 2 {
		t.Skip("one core: nothing would run beside the real-time thread")
	}
	l := ticking(t, cpus)
	taken := cpus[len(cpus)-1]
	busy := exec.Command("taskset", "-c", fmt.Sprint(taken), "chrt", "-f", "1", "sh", "-c", "echo; while :; do :; done")
	begun, err := busy.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := busy.Start(); err != nil {
		t.Fatal(err)
	}
	defer busy.Wait()
	defer busy.Process.Kill()
	if _, err := begun.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	for range 2 * len(cpus) {
		began := time.Now()
		l.measureNext(time.Millisecond)
		if took := time.Since(began); took > 200*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	}
}

// Another thread's time on the core is not taken for a tick's cost: the program would be stopped most of the time.
func TestTickCostBesideOthers(t *testing.T) {
	realkernel.NeedQuiet(t)
	l := ticking(t, onlineCPUs(t))
	l.MeasureTicks()
	alone := load(&l.page.control.TickCost)
	if alone == 0 {
		t.Fatal("no tick was met")
	}
	for range 3 * runtime.NumCPU() {
		busy := exec.Command("sh", "-c", "while :; do :; done")
		if err := busy.Start(); err != nil {
			t.Fatal(err)
		}
		defer busy.Wait()
		defer busy.Process.Kill()
	}
	var beside []uint64
	for range 12 {
		store(&l.page.control.TickCost, 0)
		clear(l.tickCosts)
		l.MeasureTicks()
		beside = append(beside, load(&l.page.control.TickCost))
	}
	slices.Sort(beside)
	if beside[len(beside)/2] < alone/10 || beside[len(beside)-1] > 10*alone {
		t.Errorf("a tick takes %d ns beside others, %d ns alone", beside, alone)
	}
}
