package recorder

import (
	"math/rand/v2"
	"time"
	"unsafe"

	"whatif/internal/recording"
)

// pace decides when it is recorded: all the time, or where events come too often in windows chosen at random.
type pace struct {
	warm       bool
	share      float64 // of the time that is recorded
	length     time.Duration
	mostEvents int // of all windows together
	left       time.Duration
	known      bool // how long it is recorded

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
	// assumed is how long it is recorded if that is not known: as long as a user waits for a first answer. Where it is
	// longer, windows are dropped again (Recorder.thin).
	assumed = 30 * time.Second
)

func newPace(o *Options) *pace {
	p := &pace{share: 1, length: longest, left: assumed}
	p.mostEvents = o.Memory / eventsPart / int(unsafe.Sizeof(recording.Event{}))
	if o.Length > 0 {
		p.left, p.known = o.Length, true
	}
	return p
}

func (p *pace) next() next {
	if !p.warm {
		return next{warmUp: true, length: warmUp}
	}
	n := next{length: p.length}
	if p.share < 1 {
		// On average as long as the share asks for.
		n.gap = time.Duration(float64(p.length) * (1 - p.share) / p.share * 2 * rand.Float64())
	}
	return n
}

// learn hears how long a window took, and what was recorded in it.
func (p *pace) learn(ns uint64, c counts) {
	if ns == 0 {
		return
	}
	p.perSecond = float64(c.written) / (float64(ns) / 1e9)
	p.cost = c.cost / float64(ns)
	if p.warm {
		return
	}
	p.warm = true
	if p.cost > dearest {
		p.share = dearest / p.cost
	}
	if all := p.perSecond * p.left.Seconds(); all*p.share > float64(p.mostEvents) {
		p.share = float64(p.mostEvents) / all
	}
	if p.share < 1 {
		p.length = shortest
	}
}

// halve records half as much from now on.
func (p *pace) halve() { p.share, p.length = p.share/2, shortest }
