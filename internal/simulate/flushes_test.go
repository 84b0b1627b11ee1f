package simulate

import "testing"

// TestFlushes: one thread gives memory back, for which the kernel interrupts the other one.
func TestFlushes(t *testing.T) {
	for _, function := range []string{"__GI_munmap", "runtime.madvise", "__x64_sys_mprotect", "compute"} {
		for _, process := range []int32{100, 200} {
			tape := atBarrier(0)
			tape.Period = 250e3
			tape.Frames[0].Function, tape.Frames[1].Function = function, "pthread_barrier_wait"
			tape.Threads[1].Process = process
			m := tape.machine(t, 299.9)
			c := Change{Faster: []Faster{{Unit: tape.unit(0), By: 0.5}}}
			if got, want := m.Flushes(c), function != "compute" && process == 100; got != want {
				t.Errorf("%s, in process %d: interrupts others %t, want %t", function, process, got, want)
			} else if !want {
				continue
			}
			if m.Flushes(Change{Faster: []Faster{{Unit: tape.unit(1), By: 0.5}}}) {
				t.Error("code that interrupts nobody is taken to do so")
			}
			alone := gain(m, c, 0)
			c.Flushes = true
			if most := gain(m, c, 0); alone < 33 || alone > 34 || most < 49 || most > 51 {
				t.Errorf("%s: gain %.1f to %.1f%%, want 33.3 to 50", function, alone, most)
			}
		}
	}
}
