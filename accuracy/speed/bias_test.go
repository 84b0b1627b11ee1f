package main

import (
	"math"
	"testing"
)

func TestDifference(t *testing.T) {
	if got := difference(said{12, 14}, said{10, 10}); got != "+3.0 ± 1.0" {
		t.Error(got)
	}
	if got := (said{1, 2, 3}).squaredError(); math.Abs(got-1./3) > 1e-12 {
		t.Error(got)
	}
}

// Only units with a gain from every run are compared.
func TestKnown(t *testing.T) {
	b := biases{units: map[string][]said{
		"a.c:1": {{1, 2}, {1, 2}, {1, 2}},
		"a.c:2": {{5, 6}, {5, 6}, {5, 6}},
		"a.c:3": {{9, 9}, {9, 9}, {9}},
	}}
	if got := b.known(2); len(got) != 2 || got[0] != "a.c:2" || got[1] != "a.c:1" {
		t.Error(got)
	}
}
