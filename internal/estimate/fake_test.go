package estimate

import (
	"math"
	"math/rand/v2"

	"whatif/internal/recording"
	"whatif/internal/simulate"
)

// program is an invented program with one point: each visit takes some time in unit 0 and some in other code, one after
// the other; its request takes some time in unit 0 and some elsewhere, too. What a change brings is known.
type program struct {
	rest, unit     []float64 // ns of each visit
	restOf, unitOf []float64 // ns of each request
	shift          float64   // what the machine does wrong without a change: a part of the time
	windows        int
	spare          float64 // ns of each visit in which another bottleneck is busy; 0: none
	latencies      bool
	flooded        bool
	flushes        bool // twice the gain, at most
	waking, taken  float64
	calls          func()
}

// memory is how much of a visit's deviation from the mean the next one has.
const memory = 0.7

// newProgram draws n visits. Times are skewed, and neighbours are alike.
func newProgram(random *rand.Rand, n int) *program {
	p := &program{windows: 1, latencies: true}
	series := func(mean, scatter float64) []float64 {
		all, x := make([]float64, n), random.NormFloat64()
		for i := range all {
			x = memory*x + math.Sqrt(1-memory*memory)*random.NormFloat64()
			all[i] = mean * math.Exp(scatter*x-scatter*scatter/2)
		}
		return all
	}
	p.rest, p.unit = series(2e6, 0.4), series(1e6, 0.6)
	p.restOf, p.unitOf = series(3e6, 0.5), series(2e6, 0.7)
	return p
}

// gain is what a speed-up of unit 0 brings on average: the mean times are those that newProgram draws with.
func (p *program) gain(by float64) float64 { return by / 3 }

func (p *program) Understood(simulate.Outcome) bool { return true }

func (p *program) Flooded() bool { return p.flooded }

func (p *program) Flushes(c simulate.Change) bool { return p.flushes && len(c.Faster) > 0 }

func (p *program) Waking() float64 { return p.waking }

func (p *program) Taken() float64 { return p.taken }

func (p *program) Run(c simulate.Change) simulate.Outcome {
	if p.calls != nil {
		p.calls()
	}
	by, wrong := 0.0, (1+p.shift)*simulate.Slowdown(c.Device.CPU)
	for _, f := range c.Faster {
		if f.Unit.Stacks[0] && !c.Held {
			by += f.By
		}
		if f.Unit.Stacks[0] && c.Flushes {
			by += f.By
		}
	}
	return p.outcome(by, wrong)
}

func (p *program) outcome(by, wrong float64) simulate.Outcome {
	o := simulate.Outcome{Windows: make([]simulate.WindowOutcome, p.windows)}
	n := len(p.rest) / p.windows
	for w := range o.Windows {
		now, was := 0.0, 0.0
		var visits []simulate.Visit
		for i := w * n; i < (w+1)*n; i++ {
			now += wrong * max(p.spare, p.rest[i]+(1-by)*p.unit[i])
			was += max(p.spare, p.rest[i]+p.unit[i])
			v := simulate.Visit{Time: int64(now), Recorded: int64(was), Latency: recording.No}
			if p.latencies {
				v.Latency = int64(wrong * (p.restOf[i] + (1-by)*p.unitOf[i]))
			}
			visits = append(visits, v)
		}
		o.Windows[w] = simulate.WindowOutcome{Length: int64(now), Visits: [][]simulate.Visit{visits}}
	}
	return o
}

// record is the recording of the program: two stacks with samples as the times are.
func (p *program) record() *recording.Recording {
	r := &recording.Recording{
		Cores: 2, Period: 1e6,
		Threads: []recording.Thread{{ID: 1, Process: 1, Program: "/opt/server"}},
		Points:  []recording.Point{{Name: "request", Latency: p.latencies}},
		Frames: []recording.Frame{
			{Function: "work", File: "/src/a.c", Line: 1, Binary: "/opt/server", InScope: true},
			{Function: "work", File: "/src/a.c", Line: 2, Binary: "/opt/server", InScope: true},
		},
		Stacks: []recording.Stack{{0}, {1}},
	}
	same := p.outcome(0, 1)
	begin, i := int64(0), 0
	for w := range same.Windows {
		out := &same.Windows[w]
		window := recording.Window{Begin: begin, End: begin + out.Length}
		add := func(e recording.Event) {
			e.Place, e.Object = recording.No, recording.No
			window.Events = append(window.Events, e)
		}
		add(recording.Event{Kind: recording.State, Time: begin, Condition: recording.Running})
		last := int64(0)
		for _, v := range out.Visits[0] {
			stack := int32(1)
			if i%3 == 0 { // a third of the time is in the unit
				stack = 0
			}
			add(recording.Event{Kind: recording.Sample, Time: begin + (last+v.Time)/2, Stack: stack})
			if p.latencies {
				key := uint64(i + 1)
				add(recording.Event{Kind: recording.Visit, Time: begin + v.Time - v.Latency, Role: recording.Begin, Key: key})
				add(recording.Event{Kind: recording.Visit, Time: begin + v.Time, Role: recording.End, Key: key})
			} else {
				add(recording.Event{Kind: recording.Visit, Time: begin + v.Time})
			}
			last = v.Time
			i++
		}
		r.Windows = append(r.Windows, window)
		begin += out.Length
	}
	r.Length = begin
	return r
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }
