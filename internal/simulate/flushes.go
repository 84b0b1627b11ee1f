package simulate

import (
	"slices"
	"strings"
)

// A thread that unmaps or protects memory makes the kernel interrupt all other cores on which threads of its process
// run: these cores must forget the mapping (a TLB flush). The kernel waits for them within the call. So the other
// threads take longer, and would take less with fewer such calls. A recording does not have how long an interrupt
// takes; it is no longer than the call that waits for it. So the other threads gain something between nothing and that.

// flushing are the system calls that interrupt other cores.
var flushing = []string{"munmap", "mremap", "mprotect", "pkey_mprotect", "madvise", "membarrier"}

// leastFlushing is the part of the time for which a process must be in such calls so that it counts.
const leastFlushing = 0.01

// flush is how many samples met one thread at one stack in such calls.
type flush struct {
	thread, stack int32
	samples       float64
}

// findFlushes finds the calls that interrupt other threads.
func (m *Machine) findFlushes() {
	is := make([]bool, len(m.rec.Stacks))
	for i, s := range m.rec.Stacks {
		is[i] = slices.ContainsFunc(s, func(f int32) bool {
			return f >= 0 && int(f) < len(m.rec.Frames) && slices.Contains(flushing, systemCall(m.rec.Frames[f].Function))
		})
	}
	type key struct{ thread, stack int32 }
	at := map[key]int{}
	for _, s := range m.samples {
		if !is[s.stack] {
			continue
		}
		k := key{m.segments[s.segment].thread, s.stack}
		if _, known := at[k]; !known {
			at[k] = len(m.flushes)
			m.flushes = append(m.flushes, flush{thread: k.thread, stack: k.stack})
		}
		m.flushes[at[k]].samples++
	}
}

// systemCall is the name of a system call, of the names that its function has in libraries, languages and the kernel.
func systemCall(function string) string {
	name := function[strings.LastIndexByte(function, '.')+1:]
	for _, prefix := range []string{"__GI_", "__x64_sys_", "__arm64_sys_", "__libc_", "__"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return rest
		}
	}
	return name
}

// shorter is by which part all that each thread runs is shorter, at most, if the gain of each stack is as given: other
// threads of its process make its core flush less often.
func (m *Machine) shorter(gain []float64) map[int32]float64 {
	length := 0.0
	for i := range m.windows {
		length += m.windows[i].length
	}
	each := float64(m.rec.Period) / max(1, length)
	all, own := map[int32]float64{}, map[int32]float64{} // by process, by thread
	for _, f := range m.flushes {
		part := each * f.samples * gain[f.stack]
		all[m.rec.Threads[f.thread].Process] += part
		own[f.thread] += part
	}
	by := map[int32]float64{}
	for t := range m.rec.Threads {
		if part := all[m.rec.Threads[t].Process] - own[int32(t)]; part != 0 {
			by[int32(t)] = min(1, part)
		}
	}
	return by
}

// Flushes reports whether a change makes calls faster that interrupt other threads, so that these threads may become
// faster, too. In a run with Change.Flushes they gain as much as they can.
func (m *Machine) Flushes(c Change) bool {
	if len(m.flushes) == 0 {
		return false
	}
	gain := gains(make([]float64, len(m.rec.Stacks)), c.Faster)
	for _, part := range m.shorter(gain) {
		if part >= leastFlushing || part <= -leastFlushing {
			return true
		}
	}
	return false
}

// gains adds to the gain of each stack that of units that are faster.
func gains(gain []float64, faster []Faster) []float64 {
	for _, f := range faster {
		for i, in := range f.Unit.Stacks {
			if in && i < len(gain) {
				gain[i] = 1 - (1-gain[i])*(1-f.By)
			}
		}
	}
	return gain
}

// shorten makes the runs of threads shorter that are interrupted less often.
func (m *Machine) shorten(gain, lengths []float64) {
	by := m.shorter(gain)
	if len(by) == 0 {
		return
	}
	for i := range lengths {
		if t := m.segments[i].thread; t >= 0 {
			lengths[i] *= 1 - by[t]
		}
	}
}
