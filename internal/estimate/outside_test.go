package estimate

import (
	"testing"

	"whatif/internal/recording"
)

func TestOutside(t *testing.T) {
	wake := func(class recording.Class, cause recording.Cause) recording.Event {
		return recording.Event{Kind: recording.Wake, Class: class, Cause: cause}
	}
	ready := func(class recording.Class, cause recording.Cause) recording.Event { // of a goroutine
		return recording.Event{Kind: recording.Ready, Class: class, Cause: cause}
	}
	r := &recording.Recording{Windows: []recording.Window{
		{Events: []recording.Event{wake(recording.Net, recording.ByStranger), wake(recording.Net, recording.ByThread),
			{Kind: recording.Sample}}},
		{Events: []recording.Event{wake(recording.Net, recording.ByDevice), wake(recording.Disk, recording.ByDevice)}},
		{Events: []recording.Event{ready(recording.Net, recording.ByDevice), ready(recording.Lock, recording.ByThread)}},
	}}
	if got := outside(r); got != 50 {
		t.Errorf("%v of 100, want 50", got)
	}
	if got := outside(&recording.Recording{}); got != 0 {
		t.Errorf("%v of 100 in an empty recording", got)
	}
}
