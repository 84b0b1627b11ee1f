package recorder

import (
	"math/rand/v2"
	"time"
	"unsafe"

	"whatif/internal/recording"
)

// pace decides when it is recorded: all the time, or where events come too often in windows chosen at random.
type pace struct {
	windows    int     // recorded so far
	halved     float64 // see halve: 1, 2, 4 …
	share      float64 // of the time that is recorded
	length     time.Duration
	mostEvents int           // of all windows together
	left       time.Duration // for which it is recorded; 0: that is not known

	perSecond float64 // events, of all cores
	cost      float64 // share of the busiest core's time that recording takes
}

// next is what is done next: a window of some length, and then nothing for a while.
type next struct {
	warmUp bool
	length time.Duration
	gap    time.Duration
}

const (
	// warmUp is recorded first, and thrown away: events are counted, and the first stacks lead to code of which no
	// tables are known yet.
	warmUp = 150 * time.Millisecond
	// dearest is what recording may cost on average, as a share of a core's time.
	dearest = 0.015
	// A window has to be long enough for the rounds of a program.
	shortest = 200 * time.Millisecond
	longest  = 2 * time.Second
)

// Least is how long it has to be recorded for one window of the usual length.
const Least = warmUp + shortest

func newPace(o *Options) *pace {
	p := &pace{share: 1, halved: 1, length: longest, left: o.Length}
	p.mostEvents = o.Memory / eventsPart / int(unsafe.Sizeof(recording.Event{}))
	return p
}

func (p *pace) next() next {
	if p.windows == 0 {
		return next{warmUp: true, length: warmUp}
	}
	n := next{length: p.length}
	if p.share < 1 {
		// On average as long as the share asks for.
		n.gap = time.Duration(float64(p.length) * (1 - p.share) / p.share * 2 * rand.Float64())
	}
	return n
}

// learn hears how long a window took, and what was recorded in it. The first one says less than later ones: stacks that
// are met for the first time are followed, and their code is not known yet.
func (p *pace) learn(ns uint64, c counts) {
	if ns == 0 {
		return
	}
	p.perSecond = float64(c.written) / (float64(ns) / 1e9)
	if cost := c.cost / float64(ns); p.windows > 1 {
		p.cost += (cost - p.cost) / 2
	} else {
		p.cost = cost
	}
	p.windows++
	p.share = 1
	if p.cost > dearest {
		p.share = dearest / p.cost
	}
	// If it is not known how long it takes, windows are dropped again later (Recorder.thin).
	if all := p.perSecond * p.left.Seconds(); all*p.share > float64(p.mostEvents) {
		p.share = float64(p.mostEvents) / all
	}
	p.share /= p.halved
	p.length = longest
	if p.share < 1 {
		p.length = shortest
	}
}

// forget forgets what recording has cost: something that cost most of it is not recorded any more.
func (p *pace) forget() { p.cost, p.share, p.length, p.windows = 0, 1/p.halved, longest, 1 }

// halve records half as much from now on.
func (p *pace) halve() { p.share, p.length, p.halved = p.share/2, shortest, p.halved*2 }
