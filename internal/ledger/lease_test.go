package ledger

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/cilium/ebpf"

	"whatif/bpf"
	"whatif/internal/testing/realkernel"
)

// earning opens a ledger whose target is a sleeping process, and starts its clocks. grown is by how much G grows in a
// time: in an experiment, for as long as the kernel side works.
func earning(t *testing.T) (l *Ledger, grown func(time.Duration) time.Duration) {
	t.Helper()
	l = opened(t)
	cmd, _ := sleeping(t)
	if err := l.Adopt(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if _, err := l.StartClock(onlineCPUs(t)); err != nil {
		t.Fatal(err)
	}
	return l, func(over time.Duration) time.Duration {
		before := load(&l.page.control.Global)
		time.Sleep(over)
		return time.Duration(load(&l.page.control.Global) - before)
	}
}

// An experiment whose lease runs out ends by itself, however long it was to be, and the clocks become slow. The next
// Renew reports it, and all goes on.
func TestLease(t *testing.T) {
	realkernel.Need(t)
	l, grown := earning(t)
	// A placebo: G grows by itself.
	placebo := Experiment{Placebo: true, Selection: Alone(1, 0.5), Length: time.Hour}
	l.Begin(placebo)
	for range 8 {
		if i, err := l.Renew(); err != nil || i.away != 0 {
			t.Fatalf("renewed in time: %+v, %v", i, err)
		}
		if g := grown(RenewEvery); g < RenewEvery/4 {
			t.Fatalf("G grew by %v in %v of a placebo of a half", g, RenewEvery)
		}
	}
	time.Sleep(lease)
	ticks := func() (n uint64) { // in half a second
		last := load(&l.page.cores[0].Ticked)
		for end := time.Now().Add(time.Second / 2); time.Now().Before(end); time.Sleep(100 * time.Microsecond) {
			if now := load(&l.page.cores[0].Ticked); now != last {
				n, last = n+1, now
			}
		}
		return n
	}
	before := load(&l.page.control.Global)
	if n := ticks(); n > 7 {
		t.Errorf("%d ticks in half a second after the lease", n)
	}
	if after := load(&l.page.control.Global); after != before {
		t.Errorf("G grew by %d ns after the lease", after-before)
	}
	i, err := l.Renew()
	if err != nil || i.away < lease || !i.InExperiment {
		t.Errorf("renewed too late: %+v, %v", i, err)
	}
	if r := l.End(0); r.Real > 9*RenewEvery+lease {
		t.Errorf("the experiment took %v, and was renewed for %v", r.Real, 8*RenewEvery)
	}
	if n := ticks(); n < 50 {
		t.Errorf("%d ticks in half a second after that", n)
	}
	l.Begin(placebo)
	if g := grown(RenewEvery); g < RenewEvery/4 {
		t.Errorf("G grew by %v in %v of the next placebo", g, RenewEvery)
	}
	if r := l.End(0); r.Real < RenewEvery {
		t.Errorf("the next experiment took %v", r.Real)
	}
}

// A core whose timer is lost gets another one, and no other core does.
func TestLostClock(t *testing.T) {
	realkernel.Need(t)
	l, _ := earning(t)
	cores := load(&l.page.control.Cores)
	time.Sleep(20 * time.Millisecond)
	if i, err := l.Renew(); err != nil || len(i.Lost) > 0 {
		t.Fatalf("nothing is lost: %+v, %v", i, err)
	}
	lost := l.cores[len(l.cores)-1]
	// Writing the map's entry frees the timer, and changes nothing else.
	if err := l.timers.Update(uint32(lost), bpf.LedgerTimer{Counted: 1}, ebpf.UpdateAny); err != nil {
		t.Fatal(err)
	}
	time.Sleep(150 * time.Millisecond)
	i, err := l.Renew()
	if err != nil || !slices.Equal(i.Lost, []int{lost}) {
		t.Fatalf("CPU %d has lost its clock: %+v, %v", lost, i, err)
	}
	before := load(&l.page.cores[lost].Ticked)
	time.Sleep(20 * time.Millisecond)
	if load(&l.page.cores[lost].Ticked) == before {
		t.Error("its clock has not been started again")
	}
	if now := load(&l.page.control.Cores); now != cores {
		t.Errorf("%d cores tick, and %d did before", now, cores)
	}
}

// A kernel that counts how deep preemption is off, as this one, is found to do so. On a kernel that does not, a core is
// stopped in user space all the same, and never in the kernel.
func TestStopsInUserSpaceOnly(t *testing.T) {
	realkernel.Need(t)
	for _, uncounted := range []bool{false, true} {
		l, err := Open(Options{Period: time.Millisecond, Cap: 4 * time.Millisecond, uncounted: uncounted})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if counts, err := l.countsPreemption(); err != nil || !counts && !uncounted {
			t.Skip("this kernel does not count: ", err)
		}
		if sees := l.page.control.SeesMode != 0; sees != uncounted {
			t.Fatalf("uncounted %v: sees %v", uncounted, sees)
		}
		if err := l.Join([]Process{{PID: os.Getpid()}}); err != nil {
			t.Fatal(err)
		}
		if _, err := l.StartClock(onlineCPUs(t)); err != nil {
			t.Fatal(err)
		}
		part := func(work func()) (stops, deferred int64) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			l.Begin(Experiment{Placebo: true, Selection: Alone(1, 0.5), Length: 500 * time.Millisecond})
			before := l.Totals(0)
			for end := time.Now().Add(400 * time.Millisecond); time.Now().Before(end); {
				work()
			}
			d := l.End(0).Totals.Minus(before)
			return d.Stops, d.StopsDeferred
		}
		stops, deferred := part(func() {
			for i := range 1_000_000 {
				sink += i
			}
		})
		if stops < 50 || deferred > stops/5 {
			t.Errorf("uncounted %v: in user space %d stops, %d deferred", uncounted, stops, deferred)
		}
		zeros, err := os.Open("/dev/zero")
		if err != nil {
			t.Fatal(err)
		}
		defer zeros.Close()
		buffer := make([]byte, 1<<20)
		stops, deferred = part(func() {
			zeros.Read(buffer)
		})
		t.Logf("uncounted %v: in a long system call %d stops, %d deferred", uncounted, stops, deferred)
		if uncounted && deferred < 50 {
			t.Errorf("in the kernel %d stops, %d deferred", stops, deferred)
		}
	}
}

// No stop takes more than 20 ms, however long the period is and however large the debt.
func TestLongestStop(t *testing.T) {
	realkernel.Need(t)
	const period = 100 * time.Millisecond
	l, err := Open(Options{Period: period, Cap: 4 * period})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Join([]Process{{PID: os.Getpid()}}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.StartClock(onlineCPUs(t)); err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var stops []time.Duration
	for range 2 {
		l.Begin(Experiment{Placebo: true, Selection: Alone(1, 0.5), Length: 800 * time.Millisecond})
		for begin, last := time.Now(), time.Now(); last.Sub(begin) < 800*time.Millisecond; {
			now := time.Now()
			if gap := now.Sub(last); gap > 10*time.Millisecond {
				stops = append(stops, gap)
			}
			last = now
		}
		l.End(0)
	}
	slices.Sort(stops)
	if len(stops) < 5 {
		t.Fatalf("stops of more than 10 ms: %v: this says nothing", stops)
	}
	// Now and then the host may take the core for longer.
	if usual := stops[len(stops)/2]; usual > 22*time.Millisecond {
		t.Errorf("stops take %v in the median: %v", usual, stops)
	}
}

var sink int

// Of two sessions that stop cores, the second is refused as long as the first is open. A session that stops none is
// never refused.
func TestSessions(t *testing.T) {
	realkernel.Need(t)
	open := func(stops bool) (*Ledger, error) {
		return Open(Options{Period: time.Millisecond, Cap: time.Millisecond, Stops: stops})
	}
	first, err := open(true)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	second, err := open(true)
	var another *AnotherSession
	if !errors.As(err, &another) {
		t.Fatalf("a second session: %v, %v", second, err)
	}
	if another.PID != os.Getpid() {
		t.Errorf("it is said to be process %d, and this is %d", another.PID, os.Getpid())
	}
	third, err := open(false)
	if err != nil {
		t.Fatalf("a session that stops nothing: %v", err)
	}
	third.Close()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err = open(true)
	if err != nil {
		t.Fatalf("when the first has ended: %v", err)
	}
	second.Close()
}

// onlineCPUs are the CPUs to start clocks on.
func onlineCPUs(t *testing.T) []int {
	t.Helper()
	c, err := ReadCPUs(os.DirFS("/sys/devices/system"))
	if err != nil {
		t.Fatal(err)
	}
	return c.Online
}
