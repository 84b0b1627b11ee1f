package synthetic

import (
	"math/rand/v2"
	"slices"

	"whatif/internal/recording"
)

// DropSwitchIn gives a copy of a recording without some of the events by which a thread gets a core, and says how many
// are missing. Kernels lose such events now and then: a thread is then met running that was never switched in. Share is
// the share that is missing.
func DropSwitchIn(r *recording.Recording, share float64, seed uint64) (*recording.Recording, int) {
	random := rand.New(rand.NewPCG(seed, 3))
	copied := *r
	copied.Windows = slices.Clone(r.Windows)
	dropped := 0
	for i := range copied.Windows {
		w := &copied.Windows[i]
		w.Events = slices.DeleteFunc(slices.Clone(w.Events), func(e recording.Event) bool {
			if e.Kind != recording.Switch || e.Other < 0 || random.Float64() >= share {
				return false
			}
			dropped++
			return true
		})
	}
	return &copied, dropped
}

// Strip gives a copy of a recording without names of functions outside the program: what is left of libraries of which
// nobody has the symbols.
func Strip(r *recording.Recording) *recording.Recording {
	copied := *r
	copied.Frames = slices.Clone(r.Frames)
	for i := range copied.Frames {
		if f := &copied.Frames[i]; !f.Kernel && f.File == "" {
			f.Function = ""
		}
	}
	return &copied
}
