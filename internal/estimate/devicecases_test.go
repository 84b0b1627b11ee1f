package estimate

import (
	"math"
	"testing"

	"whatif/internal/simulate"
	"whatif/internal/testing/synthetic"
)

// A deviceCase is one of VCoz's cases, or another one of the kind, as a synthetic program: what half and all of the
// target is worth on a device is known without noise. accuracy/device has the same cases on the real kernel.
type deviceCase struct {
	name   string
	unit   string // the target
	kind   int    // of its code; -1: reading from the disk
	device simulate.Device
	build  func(*synthetic.Machine)
}

func uniform(us int64) synthetic.Distribution {
	return synthetic.Distribution{Mean: us * 1000, Shape: synthetic.Uniform}
}

// meet lets two threads meet after each round, and the first one visit.
func meet(first, second func(*synthetic.Machine) func(*synthetic.Task)) func(*synthetic.Machine) {
	return func(m *synthetic.Machine) {
		point, b := m.Point("round", false), m.Barrier(2)
		for i, script := range []func(*synthetic.Task){first(m), second(m)} {
			m.Thread([]string{"first", "second"}[i], synthetic.How{}, func(t *synthetic.Task) {
				for {
					script(t)
					t.Meet(b)
					if i == 0 {
						t.Visit(point)
					}
				}
			})
		}
	}
}

func computes(kind int, us int64) func(*synthetic.Machine) func(*synthetic.Task) {
	return func(*synthetic.Machine) func(*synthetic.Task) {
		return func(t *synthetic.Task) { t.Compute(kind, uniform(us)) }
	}
}

func asks(us int64) func(*synthetic.Machine) func(*synthetic.Task) {
	return func(m *synthetic.Machine) func(*synthetic.Task) {
		peer := m.Peer(true)
		return func(t *synthetic.Task) { t.Ask(peer, uniform(us)) }
	}
}

func sleeps(us int64) func(*synthetic.Machine) func(*synthetic.Task) {
	return func(*synthetic.Machine) func(*synthetic.Task) {
		return func(t *synthetic.Task) { t.Sleep(uniform(us)) }
	}
}

func reads(pages int, us int64) func(*synthetic.Machine) func(*synthetic.Task) {
	return func(m *synthetic.Machine) func(*synthetic.Task) {
		disk := m.Device(4)
		return func(t *synthetic.Task) {
			for range pages {
				t.Read(disk, uniform(us))
			}
		}
	}
}

// after does one thing after another.
func after(parts ...func(*synthetic.Machine) func(*synthetic.Task)) func(*synthetic.Machine) func(*synthetic.Task) {
	return func(m *synthetic.Machine) func(*synthetic.Task) {
		var scripts []func(*synthetic.Task)
		for _, p := range parts {
			scripts = append(scripts, p(m))
		}
		return func(t *synthetic.Task) {
			for _, s := range scripts {
				s(t)
			}
		}
	}
}

// threeStages is a pipeline with a stage of each class.
func threeStages(m *synthetic.Machine) {
	point := m.Point("item", false)
	first, second := m.Queue(8, false, false), m.Queue(8, false, false)
	read, ask := reads(8, 90)(m), asks(1000)(m)
	m.Thread("computes", synthetic.How{}, func(t *synthetic.Task) {
		for job := uint64(0); ; job++ {
			t.Compute(0, uniform(1200))
			t.Put(first, job)
		}
	})
	m.Thread("reads", synthetic.How{}, func(t *synthetic.Task) {
		for {
			job := t.Take(first)
			read(t)
			t.Put(second, job)
		}
	})
	m.Thread("asks", synthetic.How{}, func(t *synthetic.Task) {
		for {
			t.Take(second)
			ask(t)
			t.Visit(point)
		}
	})
}

// writers are three threads that write to a disk with a lock.
func writers(m *synthetic.Machine) {
	point, x, disk := m.Point("write", false), m.Mutex(false), m.Device(1)
	for i := range 3 {
		m.Thread([]string{"a", "b", "c"}[i], synthetic.How{}, func(t *synthetic.Task) {
			for {
				t.Compute(0, uniform(1500))
				t.Lock(x)
				t.Write(disk, uniform(400))
				t.Unlock(x)
				t.Visit(point)
			}
		})
	}
}

// crowded is six threads on two cores, which also ask something outside.
func crowded(m *synthetic.Machine) {
	point := m.Point("turn", false)
	for i := range 6 {
		script := after(computes(0, 800), computes(1, 800), asks(2000))(m)
		m.Thread(string(rune('a'+i)), synthetic.How{}, func(t *synthetic.Task) {
			for {
				script(t)
				t.Visit(point)
			}
		})
	}
}

func deviceCases() []deviceCase {
	withNet := meet(computes(0, 3000), after(computes(1, 200), asks(2000)))
	return []deviceCase{
		{"two kinds of computing", "func:parse", 0, simulate.Device{CPU: 0.4}, meet(computes(0, 3000), computes(1, 2000))},
		{"computing slower, the network alike", "func:parse", 0, simulate.Device{CPU: 0.4}, withNet},
		{"both slower", "func:parse", 0, simulate.Device{CPU: 0.43, Net: 0.18}, withNet},
		{"the network slower", "func:parse", 0, simulate.Device{Net: 0.25}, withNet},
		{"disk beside compute", "wait:disk", -1, simulate.Device{Disk: 0.3}, meet(computes(0, 3000), reads(20, 90))},
		{"two networks", "func:parse", 0, simulate.Device{Net: 0.4},
			meet(after(computes(0, 1800), asks(800)), after(computes(1, 100), asks(2000)))},
		{"pipeline of three classes", "wait:disk", -1, simulate.Device{CPU: 0.7, Disk: 0.25}, threeStages},
		{"lock around a disk write", "func:parse", 0, simulate.Device{CPU: 0.4, Disk: 0.8}, writers},
		{"sleep beside compute", "func:parse", 0, simulate.Device{CPU: 0.4}, meet(computes(0, 2000), sleeps(3000))},
		{"more threads than cores", "func:parse", 0, simulate.Device{CPU: 2, Net: 0.3}, crowded},
	}
}

// TestDeviceCases: in each case the gains on the device are within 10 points of the truth, and within 5 on average. The
// answer without the device is far off.
func TestDeviceCases(t *testing.T) {
	all, without, n, held := 0.0, 0.0, 0.0, 0.0
	for seed, c := range deviceCases() {
		p := synthetic.Random(uint64(seed))
		p.Kinds, p.Windows, p.Build = 2, []synthetic.Span{{Begin: 50e6, End: 1550e6}}, c.build
		p.Hardware.Cores, p.Hardware.Period, p.Fixed = 2, 500e3, true
		e, err := Open(p.Record(), Options{Kind: "func", Waiting: DefaultWaiting})
		if err != nil {
			t.Fatal(err)
		}
		there, err := e.On(Device{Ratios: c.device})
		if err != nil {
			t.Fatal(err)
		}
		if there.Doubt() != "" {
			t.Errorf("%s: refused: %s", c.name, there.Doubt())
			continue
		}
		gone := func(r float64) float64 { return 1 - simulate.Slowdown(r) }
		slow := synthetic.Change{Kinds: []float64{0, 0}, Computes: gone(c.device.CPU), Disks: gone(c.device.Disk),
			Nets: gone(c.device.Net)}
		same, sum := p.Truth(slow), 0.0
		var truths, gains, heres []int
		for _, percent := range []float64{25, 50, 75, 99} {
			fast := slow
			fast.Kinds = []float64{0, 0}
			if c.kind >= 0 {
				fast.Kinds[c.kind] = percent / 100
			} else {
				fast.Disks = 1 - (1-slow.Disks)*(1-percent/100)
			}
			truth, ok := trueGain(there, 0, synthetic.Truth{Same: same.Changed, Changed: p.Truth(fast).Changed})
			if !ok {
				t.Fatalf("%s: no truth", c.name)
			}
			gain, here := at(t, there, c.unit, percent), at(t, e, c.unit, percent)
			sum += math.Abs(gain.Value - truth)
			without += math.Abs(here.Value - truth)
			n++
			if gain.Low <= truth && truth <= gain.High {
				held++
			}
			truths, gains = append(truths, int(math.Round(truth))), append(gains, int(math.Round(gain.Value)))
			heres = append(heres, int(math.Round(here.Value)))
		}
		t.Logf("%-36s %+v: truth %v, there %v, error %.1f; here %v", c.name, c.device, truths, gains, sum/4, heres)
		if sum/4 > 10 {
			t.Errorf("%s is off by %.1f points", c.name, sum/4)
		}
		all += sum
	}
	t.Logf("off by %.1f points on average, without the device by %.1f; %.0f of %.0f intervals hold the truth", all/n,
		without/n, held, n)
	if all/n > 5 || without < 2*all {
		t.Error("estimates are far off, or a device changes nothing")
	}
}
