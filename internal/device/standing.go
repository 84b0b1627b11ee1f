package device

import "fmt"

// Standing is by how much each class of time is made faster here, all the time, so that experiments made here are about
// the device: what is slowest there, relative to here, stays as it is, and the rest is faster beside it. Amounts are
// parts of the time, from 0 to 1.
type Standing struct {
	CPU, Disk, Net float64
	Clock          float64 // what takes as long on all machines: sleeps, timeouts
	// Scale is how long virtual time takes on the device: time there is virtual time times Scale.
	Scale float64
}

// MostSlowdown is how many times slower a program may become by a standing speed-up.
const MostSlowdown = 20

// Standing gives the standing speed-up for the device. Where the classes differ by too much there is none, and why is
// the reason: a thread in the fastest class would make the others wait for nearly all of the time. All time on a core
// is of one class here.
func (f *Factors) Standing() (s Standing, why string) {
	ratio := func(c Class) float64 {
		if factor, ok := f.Of(c); ok {
			return factor.Ratio
		}
		return 1 // it stays as it is here
	}
	if memory, ok := f.Of(Memory); ok && unlike*memory.Ratio < ratio(CPU) || ok && memory.Ratio > unlike*ratio(CPU) {
		return s, fmt.Sprintf("experiments cannot tell time that waits for memory (%.2f of its speed here) from other time "+
			"on a core (%.2f)", memory.Ratio, ratio(CPU))
	}
	cpu, disk, net, clock := ratio(CPU), ratio(Disk), ratio(Net), 1.0
	least, most := min(cpu, disk, net, clock), max(cpu, disk, net, clock)
	if slower := most / least; slower > MostSlowdown {
		return s, fmt.Sprintf("experiments would slow the program up to %.0f times, %d are the limit", slower, MostSlowdown)
	}
	by := func(ratio float64) float64 { return 1 - least/ratio }
	return Standing{CPU: by(cpu), Disk: by(disk), Net: by(net), Clock: by(clock), Scale: 1 / least}, ""
}

// None tells whether nothing is faster relative to anything else.
func (s Standing) None() bool { return s.CPU == 0 && s.Disk == 0 && s.Net == 0 && s.Clock == 0 }
