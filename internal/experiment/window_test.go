package experiment

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"whatif/internal/profile"
)

const (
	testReal  = 200 * time.Millisecond
	testWidth = 131072 * time.Nanosecond // of 2048 bins, the narrowest power of two
)

// binned counts visits at the moments that next gives, from 0 to the end of virtual
// time.
func binned(end time.Duration, next func() time.Duration) []uint32 {
	bins := make([]uint32, 2048)
	for at := next(); at < end; at = next() {
		bins[at/testWidth]++
	}
	return bins
}

// hardEdges is the rate without weigh: all visits after the settling, over the time after it.
func hardEdges(bins []uint32, end time.Duration) float64 {
	n, start := 0., time.Duration(settle*float64(end))
	first := int(start / testWidth)
	for _, c := range bins[first:] {
		n += float64(c)
	}
	return n / float64(end-time.Duration(first)*testWidth)
}

func rate(v profile.Visits) float64 { return v.Weight / v.WindowNS }

// errorsOf gives the mean and the root mean square of the relative errors of both
// ways, over many experiments on visits made by process.
func errorsOf(trueRate float64, process func(*rand.Rand) func() time.Duration) (mean, soft, hard float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 4000
	for range n {
		bins := binned(testReal, process(rng))
		s := rate(weigh(bins, testWidth, testReal, 0))/trueRate - 1
		h := hardEdges(bins, testReal)/trueRate - 1
		mean += s / n
		soft += s * s / n
		hard += h * h / n
	}
	return mean, math.Sqrt(soft), math.Sqrt(hard)
}

// regular visits every period, from a random moment on.
func regular(period time.Duration) func(*rand.Rand) func() time.Duration {
	return func(rng *rand.Rand) func() time.Duration {
		at := time.Duration(rng.Int64N(int64(period))) - period
		return func() time.Duration { at += period; return at }
	}
}

// The rate of regular visits is right on average, and in each experiment far nearer than with hard edges.
func TestWindowRegular(t *testing.T) {
	for _, period := range []time.Duration{3 * time.Millisecond, 7300 * time.Microsecond, 17 * time.Millisecond,
		30 * time.Millisecond} {
		mean, soft, hard := errorsOf(1/float64(period), regular(period))
		t.Logf("every %v: mean error %+.4f, rms %.4f; with hard edges rms %.4f", period, mean, soft, hard)
		if math.Abs(mean) > 0.003 {
			t.Errorf("every %v: biased by %+.4f", period, mean)
		}
		if soft > hard/2 {
			t.Errorf("every %v: an error of %.4f, with hard edges %.4f", period, soft, hard)
		}
	}
}

// The rate of visits that come in bursts is right on average, too.
func TestWindowBursts(t *testing.T) {
	const gap, size = 9 * time.Millisecond, 5
	mean, soft, hard := errorsOf(float64(size)/float64(gap), func(rng *rand.Rand) func() time.Duration {
		at, left := time.Duration(rng.Int64N(int64(gap)))-gap, size
		return func() time.Duration {
			if left == 0 {
				at, left = at+gap, size
			}
			left--
			return max(at, 0) + time.Duration(size-left)*time.Microsecond
		}
	})
	// The burst before the beginning is put at 0, which is not counted anyway.
	t.Logf("bursts: mean error %+.4f, rms %.4f; with hard edges rms %.4f", mean, soft, hard)
	if math.Abs(mean) > 0.005 || soft > hard {
		t.Errorf("bursts: mean error %+.4f, rms %.4f; with hard edges rms %.4f", mean, soft, hard)
	}
}

// So is the rate of visits at random moments, where no window can do much.
func TestWindowRandom(t *testing.T) {
	const period = 2 * time.Millisecond
	mean, soft, _ := errorsOf(1/float64(period), func(rng *rand.Rand) func() time.Duration {
		at := time.Duration(0)
		return func() time.Duration { at += time.Duration(rng.ExpFloat64() * float64(period)); return at }
	})
	if math.Abs(mean) > 5*soft/math.Sqrt(4000) {
		t.Errorf("random visits: biased by %+.4f ± %.4f", mean, soft/math.Sqrt(4000))
	}
}

// Where cores were stopped virtual time is shorter: visits beyond its end belong to later, and those before it are
// taken over the time that there was.
func TestWindowOfVirtualTime(t *testing.T) {
	const period, delay = 2 * time.Millisecond, 80 * time.Millisecond
	next := regular(period)(rand.New(rand.NewPCG(3, 4)))
	bins := binned(testReal, next) // some were done ahead of virtual time
	v := weigh(bins, testWidth, testReal, delay)
	if got := rate(v) * float64(period); math.Abs(got-1) > 0.01 {
		t.Errorf("a rate of %.3f, want 1", got)
	}
	most := float64(testReal-delay) * (1 - settle)
	if v.WindowNS <= most/2 || v.WindowNS > most {
		t.Errorf("a window of %v in %v", time.Duration(v.WindowNS), time.Duration(most))
	}
	if want := int64(100); v.Count < want-1 || v.Count > want+1 {
		t.Errorf("%d visits, want all %d", v.Count, want)
	}
}

// Visits while the program settles have no weight.
func TestWindowSettles(t *testing.T) {
	bins := make([]uint32, 2048)
	for i := range bins {
		if float64(i+1)*float64(testWidth) < settle*float64(testReal) {
			bins[i] = 1000
		}
	}
	if v := weigh(bins, testWidth, testReal, 0); v.Weight != 0 || v.WindowNS <= 0 || v.Count == 0 {
		t.Errorf("%+v", v)
	}
}

// An experiment without virtual time has no window, and no division by it.
func TestWindowEmpty(t *testing.T) {
	bins := []uint32{3, 4}
	for _, delay := range []time.Duration{testReal, testReal + time.Millisecond} {
		if v := weigh(bins, testWidth, testReal, delay); v != (profile.Visits{Count: 7}) {
			t.Errorf("%+v", v)
		}
	}
}
