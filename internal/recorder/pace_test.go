package recorder

import (
	"math"
	"testing"
	"time"
)

// Recording is as rare as its cost and its memory ask for, on average.
func TestPace(t *testing.T) {
	const second = uint64(time.Second)
	for _, c := range []struct {
		name   string
		length time.Duration
		cost   float64 // ns in a second
		events uint64  // in a second
		share  float64
	}{
		{"cheap", 0, 0.01e9, 1000, 1},
		{"dear", 0, 0.06e9, 1000, 0.25},
		{"too many for the memory", 10 * time.Second, 0.001e9, 200_000, 0.35},
		{"too many, but nobody knows for how long", 0, 0.001e9, 200_000, 1},
	} {
		p := newPace(&Options{Memory: DefaultMemory, Length: c.length})
		if first := p.next(); !first.warmUp || first.length != warmUp {
			t.Fatalf("%s: begins with %+v", c.name, first)
		}
		for range 8 {
			p.learn(second, counts{written: c.events, cost: c.cost})
		}
		var recorded, all time.Duration
		for range 5000 {
			n := p.next()
			recorded, all = recorded+n.length, all+n.length+n.gap
		}
		if got := recorded.Seconds() / all.Seconds(); math.Abs(got-c.share) > 0.03 {
			t.Errorf("%s: records %.3f of the time, want %.3f", c.name, got, c.share)
		}
		p.halve()
		before := p.share
		p.learn(second, counts{written: c.events, cost: c.cost})
		if math.Abs(p.share-before) > 0.01 {
			t.Errorf("%s: halved to %.3f, then %.3f", c.name, before, p.share)
		}
	}
}
