package simulate

import "whatif/internal/recording"

// A wake-up may have to wait, too: at a barrier for the thread that it wakes, at a queue for room. In the recording
// each wake-up met a thread that waited already. So nothing in it says how long the waker would have waited had it
// come first; a gate does: a wait that must have begun.

// gateBarrier lets nobody leave a barrier before all have come.
func (m *Machine) gateBarrier(list []int32) {
	for _, n := range list {
		m.waits[n].gate = n
	}
}

// gateQueue lets a giver be ahead of each taker by as much as was seen.
func (m *Machine) gateQueue(list []int32) {
	takers := map[int32][]int32{}
	var order []int32
	for _, n := range list {
		t := m.waits[n].thread
		if takers[t] == nil {
			order = append(order, t)
		}
		takers[t] = append(takers[t], n)
	}
	for _, t := range order {
		own := takers[t]
		lead := m.lead(own)
		for i := lead; i < len(own); i++ {
			w, before := &m.waits[own[i]], own[i-lead]
			if m.waits[before].window == w.window {
				w.gate = before
			}
		}
	}
}

// gatePool lets any taker of a queue take what is given, and a giver be ahead of all of them by as much as was seen.
func (m *Machine) gatePool(list []int32) {
	for _, n := range list {
		m.waits[n].pool = int32(m.pools)
	}
	m.room = append(m.room, m.lead(list))
	m.pools++
}

// lead returns how many wake-ups a giver can be ahead of its takers: one more than the largest number that was seen.
// Gives that met no waiting taker are not in the recording. But a taker that works for long meets a giver that has
// worked for as long without having been stopped; this time, in units of what the giver needs for each, is its lead.
// The unit is a quick one, the lower quartile: a lead that is too small stops threads that nothing stopped.
func (m *Machine) lead(list []int32) int {
	var gaps, ahead []float64
	for i, n := range list {
		w := &m.waits[n]
		if i > 0 {
			before := &m.waits[list[i-1]]
			if before.window == w.window && before.waker == w.waker && w.made > before.made {
				gaps = append(gaps, float64(w.made-before.made))
			}
		}
		if w.ahead != recording.No {
			ahead = append(ahead, float64(w.ahead))
		}
	}
	gap := quantile(gaps, 0.25, 0)
	if gap <= 0 {
		return len(list)
	}
	return 1 + min(len(list), int(quantile(ahead, 1, 0)/gap))
}
