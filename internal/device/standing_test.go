package device

import (
	"math"
	"strings"
	"testing"
)

// All classes but the slowest are faster, and what takes as long everywhere is a class, too.
func TestStanding(t *testing.T) {
	for _, c := range []struct {
		ratios                       map[Class]float64
		cpu, disk, net, clock, scale float64
	}{
		{map[Class]float64{}, 0, 0, 0, 0, 1},
		{map[Class]float64{CPU: 0.4}, 0, 0.6, 0.6, 0.6, 2.5},
		{map[Class]float64{CPU: 2}, 0.5, 0, 0, 0, 1}, // sleeps are the slowest
		{map[Class]float64{CPU: 0.5, Net: 0.25}, 0.5, 0.75, 0, 0.75, 4},
	} {
		s, why := standingOf(c.ratios)
		for _, pair := range [][2]float64{{s.CPU, c.cpu}, {s.Disk, c.disk}, {s.Net, c.net}, {s.Clock, c.clock},
			{s.Scale, c.scale}} {
			if why != "" || math.Abs(pair[0]-pair[1]) > 1e-9 {
				t.Errorf("%v: %+v %s, want %+v", c.ratios, s, why, c)
			}
		}
		if s.None() != (len(c.ratios) == 0) {
			t.Errorf("%v: none is %v", c.ratios, s.None())
		}
	}
	if _, why := standingOf(map[Class]float64{CPU: 0.5, Memory: 0.3}); !strings.Contains(why, "cannot tell time") {
		t.Errorf("slower memory gives %q", why)
	}
	if s, why := standingOf(map[Class]float64{CPU: 0.5, Memory: 0.45}); why != "" || s.Disk != 0.5 {
		t.Errorf("memory that is about as slow gives %+v %q", s, why)
	}
	if _, why := standingOf(map[Class]float64{Net: 0.04}); !strings.Contains(why, "25 times, 20 are") {
		t.Errorf("a network of 0.04 gives %q", why)
	}
}

func standingOf(ratios map[Class]float64) (Standing, string) {
	f := Factors{}
	for class, ratio := range ratios {
		f.Classes = append(f.Classes, Factor{Class: class, Ratio: ratio})
	}
	return f.Standing()
}
