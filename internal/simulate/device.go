package simulate

import "whatif/internal/recording"

// Device is another machine: by class of time, its speed divided by that of the machine that was recorded. 0 stands for
// 1: as fast.
//
// The classes: CPU is all time on a core that does not wait for memory, also that of the kernel, and that of
// strangers that keep threads from their cores. Memory is the rest of a core's time: Waits has, by stack, which part
// of its time it is. Without Waits all time on a core is CPU. Disk and Net are waits that something outside ends: a
// disk; a network, or a process outside of the target. Wake is how long an idle core takes to run a thread. Time by
// the clock stays as it is: sleeps, timeouts, and the scheduler's slices. What threads of the target wait for from
// each other, over a socket too, follows from the rest.
type Device struct {
	CPU, Memory, Disk, Net, Wake float64
	Waits                        []float64
}

// factors are by how much longer times of each class are on a device.
type factors struct {
	cpu, memory, disk, net, wake float64
	least                        float64 // of all of them and 1
}

func (d Device) factors() factors {
	f := factors{cpu: Slowdown(d.CPU), memory: Slowdown(d.Memory), disk: Slowdown(d.Disk), net: Slowdown(d.Net),
		wake: Slowdown(d.Wake)}
	if d.Waits == nil {
		f.memory = f.cpu
	}
	f.least = min(1, f.cpu, f.memory, f.disk, f.net, f.wake)
	return f
}

// Longer is by how much longer time at a stack is on a device.
func (d Device) Longer(stack int) float64 {
	f := d.factors()
	if stack >= len(d.Waits) {
		return f.cpu
	}
	return f.cpu + d.Waits[stack]*(f.memory-f.cpu)
}

// wait changes the gains of stacks: time that waits for memory is longer, or shorter, on the device than other time
// on a core is.
func (f *factors) wait(gain, waits []float64) {
	for i := range min(len(gain), len(waits)) {
		gain[i] = 1 - (1-gain[i])*(1+waits[i]*(f.memory/f.cpu-1))
	}
}

// Slowdown is by how much longer time of a class is if a device has this ratio.
func Slowdown(ratio float64) float64 {
	if ratio == 0 {
		return 1
	}
	return 1 / ratio
}

// stretch makes segments as long as they are on the device.
func (f *factors) stretch(lengths []float64) {
	if f.cpu == 1 {
		return
	}
	for i := range lengths {
		lengths[i] *= f.cpu
	}
}

// of returns by how much longer a wait is on the device that something outside ends. A wait that a timer ends is one by
// the clock, whatever the thread waited for: a timeout.
func (f *factors) of(w *wait) float64 {
	if w.cause == recording.ByTimer {
		return 1
	}
	switch w.class {
	case recording.Disk:
		return f.disk
	case recording.Net:
		return f.net
	}
	return 1
}

// mostSteps is after how many steps a run of a window ends in any case. A thread that goes by the clock begins again
// and again while a thread on a very slow device does what was recorded of it; the rate is then known already. A step
// is one event: several belong to each action, and threads begin again at most mostTimes times if they are faster.
func (w *window) mostSteps() int {
	const eventsOfAction, least = 8, 1_000_000
	n := 0
	for i := range w.entities {
		n += len(w.entities[i].actions)
	}
	return max(least, eventsOfAction*n*mostLonger)
}

// mostLonger is how many times as long as recorded a window is simulated at least before a run may end early.
const mostLonger = 20
