package synthetic

// Asking is a program of two threads that meet: one computes for 3 ms, one computes for 0.2 ms and waits for 2 ms for
// the network. It is recorded for so many nanoseconds.
func Asking(length int64) *Program {
	p := RandomOf("barrier", 1)
	p.Kinds, p.Windows = 2, []Span{{Begin: 50e6, End: 50e6 + length}}
	p.Hardware.Cores, p.Hardware.Period = 2, 250e3
	p.Build = func(m *Machine) {
		point, b, peer := m.Point("round", false), m.Barrier(2), m.Peer(false)
		m.Thread("computes", How{Pinned: []int16{0}}, func(t *Task) {
			for {
				t.Compute(0, Distribution{Mean: 3e6})
				t.Meet(b)
				t.Visit(point)
			}
		})
		m.Thread("asks", How{Pinned: []int16{1}}, func(t *Task) {
			for {
				t.Compute(1, Distribution{Mean: 2e5})
				t.Ask(peer, Distribution{Mean: 2e6})
				t.Meet(b)
			}
		})
	}
	return p
}
