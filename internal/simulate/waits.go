package simulate

import (
	"math"
	"slices"

	"whatif/internal/recording"
)

// ending is what ends a wait.
type ending uint8

const (
	never    ending = iota // it had not ended when the window did
	byWake                 // the wake-up by another entity
	after                  // something outside, a time after its begin
	atMoment               // something outside with a period of its own, at the recorded time
	answered               // somebody outside, a time after an answer
	held                   // at the recorded time, but only if Change.Held asks for that
)

// wait is one recorded wait. Times are ns since the window's begin.
type wait struct {
	owner   int32 // the entity
	thread  int32
	window  int32
	place   int32
	object  int32
	waker   int32 // the thread; No: outside
	by      int32 // the waker's entity; byWake only
	wakeAt  int32 // the waker's place
	ends    ending
	class   recording.Class
	cause   recording.Cause
	began   int64
	end     int64
	latency int64   // how long an idle core took to run the owner; No: the core was not idle
	ran     int64   // when its owner ran again; No: it did not
	ahead   int64   // how much the last waker of the owner here had run since then, when this wait began; No: none
	made    int64   // how much the waker had run in the window when it ended the wait
	gate    int32   // its wake-up does not happen before this wait has begun; No: it may
	more    int32   // how many wake-ups it needs besides the one that ended it
	join    bool    // it was for the end of threads that its owner has made
	asks    int32   // answered: the visit after which it ends,
	delay   float64 // and how long after it
	pool    int32   // the queue whose wake-ups end any wait; No: it has its own
	handed  bool    // a goroutine's: the thread of the one that ended it ran this one at once
	server  int32   // that it asks for an answer; No
}

// length returns how long the wait was.
func (w *wait) length() float64 {
	return float64(w.end - w.began)
}

// source is where waits for something outside happen: one thread at one place.
type source struct {
	thread, place int32
}

// fewPeriods is how many periods a thread must be seen in, so that the slope in periodic means something.
const fewPeriods = 8

// cycle is the time from the end of one wait to the begin and to the end of the next one.
type cycle struct{ busy, all float64 }

// periodic reports whether the moments at which waits end are independent of what the thread does between them. It is
// the slope of (end to end) against (end to the next begin): 1 if the length of the wait is given, 0 if the moment of
// its end is. Least squares without outliers; the slope must be two standard errors from one half. Waits between which
// there were more requests that ended none are longer apart for that reason: only those are compared between which
// there were equally many.
func (m *Machine) periodic(list []arrival) (yes, unsure bool) {
	groups := map[int][]cycle{}
	var skips []int
	for k := 1; k < len(list); k++ {
		a, b := &m.waits[list[k-1].wait], &m.waits[list[k].wait]
		if a.window == b.window && !a.inVain(b) {
			skipped := list[k].skipped
			if groups[skipped] == nil {
				skips = append(skips, skipped)
			}
			groups[skipped] = append(groups[skipped], cycle{float64(b.began - a.end), float64(b.end - a.end)})
		}
	}
	n, free, sum := 0.0, -1.0, 0.0
	var sxx, sxy, syy float64
	for _, skipped := range skips {
		x, y := usual(groups[skipped])
		if len(x) < fewPeriods {
			continue // too few to tell outliers
		}
		mx, my := mean(x), mean(y)
		for i := range x {
			sxx += (x[i] - mx) * (x[i] - mx)
			sxy += (x[i] - mx) * (y[i] - my)
			syy += (y[i] - my) * (y[i] - my)
		}
		n, sum = n+float64(len(x)), sum+my*float64(len(x))
		free += float64(len(x)) - 1
	}
	if n < fewPeriods {
		return false, false
	}
	my := sum / n
	if math.Sqrt(sxx/n) < 1e-6*my {
		return false, false // the thread does the same each time: what ends its waits cannot be told, and is the same
	}
	slope := sxy / sxx
	err := math.Sqrt(math.Max(0, syy-slope*sxy) / free / sxx)
	// Very irregular ends (a queue of requests) make a slope with a large error: no period, and no doubt either.
	irregular := math.Sqrt(syy/n) > my/2
	return slope+2*err < 0.5, !irregular && math.Abs(slope-0.5) <= 2*err
}

// usual leaves out cycles that are outliers in either time: beyond the outer fences of Tukey (1977), three times the
// distance between the quartiles away from these. If the whole machine stands still once, both times of that cycle
// are long, and in a sum of squares it alone would outweigh thousands of others.
func usual(list []cycle) (busy, all []float64) {
	fences := func(of func(cycle) float64) (low, high float64) {
		var x []float64
		for _, c := range list {
			x = append(x, of(c))
		}
		low, high = quantile(x, 0.25, 0), quantile(x, 0.75, 0)
		if low == high {
			return math.Inf(-1), math.Inf(1) // mostly the same: what differs is all there is to learn from
		}
		return low - 3*(high-low), high + 3*(high-low)
	}
	lowBusy, highBusy := fences(func(c cycle) float64 { return c.busy })
	low, high := fences(func(c cycle) float64 { return c.all })
	for _, c := range list {
		if c.busy >= lowBusy && c.busy <= highBusy && c.all >= low && c.all <= high {
			busy, all = append(busy, c.busy), append(all, c.all)
		}
	}
	return busy, all
}

// soonAgain is within how many ns of running a thread goes back to sleep that was woken for nothing, such as one that
// reads from a Unix socket when the other side takes what it has sent: a few microseconds, all of them in one system
// call.
const soonAgain = 20e3

// inVain reports whether the owner was woken for nothing, and went on waiting as the next one at the same place. When
// that ends has nothing to do with when it began, whatever ends it.
func (w *wait) inVain(next *wait) bool {
	return w.ran >= 0 && next.began-max(w.end, w.ran) < soonAgain
}

// mean returns the mean of a list that is not empty.
func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// midmean returns the mean of the middle half of a list, and sorts it; NaN if it is empty. Where half of the values are
// of one kind, and half of another, it is between them; a median is one of them.
func midmean(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	slices.Sort(x)
	return mean(x[len(x)/4 : max(1, len(x)-len(x)/4)])
}

// quantile returns a quantile of a list, and sorts it; otherwise if it is empty.
func quantile(x []float64, q, otherwise float64) float64 {
	if len(x) == 0 {
		return otherwise
	}
	slices.Sort(x)
	return x[int(q*float64(len(x)-1)+0.5)]
}
