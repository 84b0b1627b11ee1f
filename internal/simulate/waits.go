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
	latency int64 // how long an idle core took to run the owner; No: the core was not idle
	ran     int64 // when its owner ran again; No: it did not
	ahead   int64 // how much the last waker of the owner here had run since then, when this wait began; No: none
	made    int64 // how much the waker had run in the window when it ended the wait
	gate    int32 // its wake-up does not happen before this wait has begun; No: it may
	more    int32 // how many wake-ups it needs besides the one that ended it
	pool    int32 // the queue whose wake-ups end any wait; No: it has its own
}

// length returns how long the wait was.
func (w *wait) length() float64 {
	return float64(w.end - w.began)
}

// source is where waits for something outside happen: one thread at one place.
type source struct {
	thread, place int32
}

// findPeriods finds waits whose end does not depend on their begin: those for a clock or a sender with a period of its
// own.
func (m *Machine) findPeriods() {
	lists := map[source][]int32{}
	var order []source
	for i := range m.waits {
		w := &m.waits[i]
		if w.ends != after {
			continue
		}
		s := source{w.thread, w.place}
		if lists[s] == nil {
			order = append(order, s)
		}
		lists[s] = append(lists[s], int32(i))
	}
	for _, s := range order {
		periodic, unsure := m.periodic(lists[s])
		if unsure {
			m.doubts = append(m.doubts, "thread "+m.rec.Threads[s.thread].Name+
				" waits for something outside: whether that has a period of its own cannot be told")
		}
		for _, i := range lists[s] {
			if periodic {
				m.waits[i].ends = atMoment
			}
		}
	}
}

// fewPeriods is how many periods a thread must be seen in, so that the slope in periodic means something.
const fewPeriods = 8

// periodic reports whether the moments at which waits end are independent of what the thread does between them. It is
// the slope of (end to end) against (end to the next begin): 1 if the length of the wait is given, 0 if the moment of
// its end is. Least squares; the slope must be two standard errors from one half.
func (m *Machine) periodic(list []int32) (yes, unsure bool) {
	var x, y []float64
	for k := 1; k < len(list); k++ {
		a, b := &m.waits[list[k-1]], &m.waits[list[k]]
		if a.window == b.window && !a.inVain(b) {
			x = append(x, float64(b.began-a.end))
			y = append(y, float64(b.end-a.end))
		}
	}
	n := float64(len(x))
	if len(x) < fewPeriods {
		return false, false
	}
	mx, my := mean(x), mean(y)
	var sxx, sxy, syy float64
	for i := range x {
		sxx += (x[i] - mx) * (x[i] - mx)
		sxy += (x[i] - mx) * (y[i] - my)
		syy += (y[i] - my) * (y[i] - my)
	}
	if math.Sqrt(sxx/n) < 1e-6*my {
		return false, false // the thread does the same each time: what ends its waits cannot be told, and is the same
	}
	slope := sxy / sxx
	err := math.Sqrt(math.Max(0, syy-slope*sxy) / (n - 2) / sxx)
	// Very irregular ends (a queue of requests) make a slope with a large error: no period, and no doubt either.
	irregular := math.Sqrt(syy/n) > my/2
	return slope+2*err < 0.5, !irregular && math.Abs(slope-0.5) <= 2*err
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

// quantile returns a quantile of a list, and sorts it; otherwise if it is empty.
func quantile(x []float64, q, otherwise float64) float64 {
	if len(x) == 0 {
		return otherwise
	}
	slices.Sort(x)
	return x[int(q*float64(len(x)-1)+0.5)]
}
