package experiment

import (
	"slices"
	"testing"

	"whatif/internal/profile"
)

// System calls are ranked by how often they were made; those that were not made are left out.
func TestSeenCalls(t *testing.T) {
	data := &profile.Data{
		Run: profile.Run{Points: []profile.Point{{Spec: "syscall:read"}, {Spec: "syscall:write"}, {Spec: "syscall:fsync"}}},
		End: &profile.End{RealNS: 2e9, Visits: []int64{10, 4000, 0}},
	}
	want := []SeenPlace{{Spec: "syscall:write", Rate: 2000}, {Spec: "syscall:read", Rate: 5}}
	if got := visitsIn(data); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := visitsIn(&profile.Data{}); got != nil { // the run was cut short
		t.Errorf("%+v of nothing", got)
	}
}

// All system calls fit into one session.
func TestSeenCallNames(t *testing.T) {
	if len(seenCalls) > MaxPoints {
		t.Errorf("%d system calls, and %d points are possible", len(seenCalls), MaxPoints)
	}
}
