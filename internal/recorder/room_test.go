package recorder

import "testing"

// On machines of any size a ring holds what comes between two looks of user space, a window is long enough for the
// rounds of a program, and rings and a window keep to a quarter of the memory. docs/design/0039-many-cores.md has the
// table.
func TestRoom(t *testing.T) {
	const (
		busiest = 50_000                   // events a second of one core
		usual   = 10_000                   // of every core, on a machine where all of them are busy
		header  = 8                        // of a record in a ring
		between = 0.010                    // seconds: see look
		needed  = 0.2                      // seconds: see shortest
		mostTab = 256 * keptFree * 2 * 100 // bytes of both tables, an entry of a hundred
	)
	for _, cores := range []int{1, 2, 8, 64, 128, 256} {
		memory := memoryFor(cores)
		r := roomFor(memory, cores)
		if least := int(busiest*between) * (recordSize + header); int(r.ring) < least {
			t.Errorf("%d cores: a ring has %d bytes, and %d may come between two looks", cores, r.ring, least)
		}
		if events := usual * cores; float64(r.window) < needed*float64(events) {
			t.Errorf("%d cores: a window of %d records ends after %.0f ms", cores, r.window,
				1000*float64(r.window)/float64(events))
		}
		if all := cores*int(r.ring) + r.window*recordSize; all > memory/4 {
			t.Errorf("%d cores: rings and a window have %d of %d bytes", cores, all, memory)
		}
		if tables := int(r.known) * 2 * 100; tables > mostTab {
			t.Errorf("%d cores: both tables have %d bytes", cores, tables)
		}
		t.Logf("%3d cores: %3d MiB: rings of %4d KiB, a window of %6d records", cores, memory>>20, r.ring>>10, r.window)
	}
}
