package simulate

import (
	"fmt"
	"math"
	"strings"

	"whatif/internal/recording"
)

// Bound is how far the simulated machine may be off, with nothing changed, so that what it says of changes is worth
// telling: an error of a tenth is as large as most of the effects that users look for.
const Bound = 0.1

// BoundOfWaits is the same for how long threads wait, and cores are busy, as part of all their time: what programs do
// with these times shows in the time per visit. Of 252 generated programs, the estimates of those that are between both
// bounds here were 0.6 points off on average.
const BoundOfWaits = 0.2

// Deviation is how far a simulated run in which nothing is changed is from the recording.
type Deviation struct {
	Points  []float64                  // by point: time per visit, simulated over recorded, less 1. NaN: too few visits
	Latency []float64                  // by point: the same of the mean latency
	Busy    float64                    // the same of the share of time in which cores were busy
	Waited  [recording.Classes]float64 // simulated less recorded time, of all the time that threads ran or waited
	Stalls  int                        // times that all threads waited for each other, and one was let go
	Stuck   bool                       // this was so often, or nothing helped
	Doubts  []string                   // what the recording does not tell
	Unknown []string                   // what it does not tell although everything depends on it
	names   []string                   // of the points
}

// Check runs the recording with nothing changed, and compares.
func (m *Machine) Check() Deviation {
	d := m.deviation()
	for i := range m.rec.Windows {
		if len(m.windows[i].entities) == 0 {
			d.Doubts = append(d.Doubts, fmt.Sprintf("window %d has no thread", i))
		}
	}
	return d
}

// deviation runs the recording with nothing changed, and compares.
func (m *Machine) deviation() Deviation {
	r := m.runs.Get().(*run)
	defer m.runs.Put(r)
	r.prepare(m, Change{Costs: true})
	now := Outcome{Windows: make([]WindowOutcome, len(m.windows))}
	d := Deviation{Doubts: append([]string(nil), m.doubts...), Unknown: m.unknown}
	for i := range m.windows {
		r.play(&m.windows[i], &now.Windows[i])
	}
	d.Stalls, d.Stuck = r.stalls, !m.Understood(now)
	for p := range m.rec.Points {
		d.names = append(d.names, m.rec.Points[p].Name)
		d.Points = append(d.Points, pace(&now, p)-1)
		d.Latency = append(d.Latency, latency(&now, p)/latency(&m.was, p)-1)
	}
	was, is := m.was.total(), now.total()
	all := float64(was.Busy)
	for _, w := range was.Waited {
		all += float64(w)
	}
	// The simulated window may be over sooner: per ns of it.
	scale := float64(was.Length) / math.Max(1, float64(is.Length))
	d.Busy = float64(is.Busy)*scale/math.Max(1, float64(was.Busy)) - 1
	for c := range d.Waited {
		d.Waited[c] = (float64(is.Waited[c])*scale - float64(was.Waited[c])) / math.Max(1, all)
	}
	return d
}

// LeastVisits is how many visits or requests a recording must have of a point, so that they tell anything.
const LeastVisits = 12

// pace returns how much time passed from the first to the last visit of a point, simulated over recorded. NaN: unknown.
func pace(o *Outcome, p int) float64 {
	simulated, recorded, n := int64(0), int64(0), 0
	for i := range o.Windows {
		n += len(o.Windows[i].Visits[p])
		if v := o.Windows[i].Visits[p]; len(v) > 1 {
			simulated += v[len(v)-1].Time - v[0].Time
			recorded += v[len(v)-1].Recorded - v[0].Recorded
		}
	}
	if recorded <= 0 || n < LeastVisits {
		return math.NaN()
	}
	return float64(simulated) / float64(recorded)
}

// latency returns the mean latency of a point. NaN: unknown.
func latency(o *Outcome, p int) float64 {
	sum, n := 0.0, 0.0
	for i := range o.Windows {
		for _, v := range o.Windows[i].Visits[p] {
			if v.Latency >= 0 {
				sum += float64(v.Latency)
				n++
			}
		}
	}
	if n < LeastVisits {
		return math.NaN()
	}
	return sum / n
}

// total adds up the windows of an outcome.
func (o *Outcome) total() WindowOutcome {
	var sum WindowOutcome
	for i := range o.Windows {
		w := &o.Windows[i]
		sum.Length += w.Length
		sum.Busy += w.Busy
		for c := range w.Waited {
			sum.Waited[c] += w.Waited[c]
		}
	}
	return sum
}

// Worst returns what is furthest off, and by how much: 0.1 is ten percent.
func (d Deviation) Worst() (what string, by float64) {
	what, by = d.worstPoint()
	if wait, x := d.worstWait(); math.Abs(x) > math.Abs(by) {
		return wait, x
	}
	return what, by
}

// worstPoint returns what is furthest off of what is measured at points.
func (d Deviation) worstPoint() (what string, by float64) {
	take := func(name string, x float64) {
		if math.Abs(x) > math.Abs(by) { // false for NaN
			what, by = name, x
		}
	}
	for p, x := range d.Points {
		take("time per visit of "+d.names[p], x)
	}
	for p, x := range d.Latency {
		take("latency of "+d.names[p], x)
	}
	return what, by
}

// worstWait is the same of times on cores and of waits.
func (d Deviation) worstWait() (what string, by float64) {
	what, by = "time on cores", d.Busy
	for c, x := range d.Waited {
		if math.Abs(x) > math.Abs(by) {
			what, by = "waiting for "+classNames[c], x
		}
	}
	return what, by
}

// classNames says what threads wait for.
var classNames = [recording.Classes]string{"something else", "a disk", "a network", "a clock", "other threads",
	"a child process", "a core"}

// Trusted reports whether the simulated machine does what was recorded, within Bound; otherwise with the reason.
func (d Deviation) Trusted() (ok bool, reason string) {
	if len(d.Unknown) > 0 {
		return false, strings.Join(d.Unknown, "; ")
	}
	what, by := d.worstPoint()
	wait, x := d.worstWait()
	if math.Abs(x) > BoundOfWaits && math.Abs(by) <= Bound {
		what, by = wait, x
	}
	if math.Abs(by) > Bound {
		return false, fmt.Sprintf("simulating the recording with nothing changed is %.0f%% off (%s): "+
			"predictions would be, too", 100*by, what)
	}
	if d.Stuck {
		return false, fmt.Sprintf("all simulated threads waited for each other, %d times: "+
			"what they wait for was not understood", max(1, d.Stalls))
	}
	return true, ""
}
