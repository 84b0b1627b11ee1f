package synthetic

import (
	"math"
	"slices"
	"testing"

	"whatif/internal/recording"
)

// quick is hardware with costs that are small beside steps of milliseconds.
func quick(cores int) Hardware {
	return Hardware{
		Cores: cores, Slice: 3_000_000, Preempt: 1_000_000, Credit: 1_500_000, Rotate: 8_000_000,
		Latency: 3000, Switching: 1000, Period: 1_000_000,
	}
}

func fixed(ms float64) Distribution { return Distribution{Mean: int64(ms * 1e6)} }

func testProgram(cores, kinds int, build func(*Machine)) *Program {
	return &Program{
		Seed: 1, Hardware: quick(cores), Kinds: kinds, Windows: []Span{{50e6, 1050e6}}, Build: build,
	}
}

// gain is the true gain of a change at a point.
func gain(p *Program, c Change, point int) float64 {
	truth := p.Truth(c)
	was, is := truth.Same.Windows[0].Visits[point], truth.Changed.Windows[0].Visits[point]
	n := min(len(was), len(is))
	return 100 * (1 - float64(is[n-1].Time)/float64(was[n-1].Time))
}

// levels are the gains for a kind that takes 25, 50, 75 and 100% less.
func levels(p *Program, kind int) [4]float64 {
	var all [4]float64
	for i := range all {
		c := Change{Kinds: make([]float64, p.Kinds)}
		c.Kinds[kind] = 0.25 * float64(i+1)
		all[i] = gain(p, c, 0)
	}
	return all
}

func expect(t *testing.T, what string, got [4]float64, want ...float64) {
	t.Helper()
	for i := range want {
		if math.Abs(got[i]-want[i]) > 0.7 {
			t.Errorf("%s: %.1f, expected %.1f", what, got, want)
			return
		}
	}
}

func expectOne(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 0.7 {
		t.Errorf("%s: %.1f, expected %.1f", what, got, want)
	}
}

func TestTruthBarrier(t *testing.T) {
	for _, visitor := range []int{0, 1} {
		p := testProgram(2, 2, func(m *Machine) {
			point, b := m.Point("round", false), m.Barrier(2)
			for i, ms := range []float64{3, 2} {
				m.Thread("part", How{}, func(t *Task) {
					for {
						t.Compute(i, fixed(ms))
						if i == visitor {
							t.Visit(point)
						}
						t.Meet(b)
					}
				})
			}
		})
		expect(t, "the longer side", levels(p, 0), 25, 33.3, 33.3, 33.3)
		expect(t, "the shorter side", levels(p, 1), 0, 0, 0, 0)
		expectOne(t, "both", gain(p, Change{Kinds: []float64{0.5, 0.25}}, 0), 50)
	}
}

// TestTruthIndependent also shows that a changed program draws the recorded one's durations: otherwise the gain of
// random durations would scatter.
func TestTruthIndependent(t *testing.T) {
	p := testProgram(2, 4, func(m *Machine) {
		point := m.Point("done", false)
		m.Thread("a", How{}, func(t *Task) {
			for {
				t.Compute(0, Distribution{1_000_000, Exponential})
				t.Compute(1, Distribution{1_000_000, TwoPeaks})
				t.Visit(point)
			}
		})
		m.Thread("b", How{}, func(t *Task) {
			for {
				t.Compute(2, fixed(1))
				t.Compute(3, fixed(0.1))
			}
		})
	})
	expectOne(t, "both kinds", gain(p, Change{Kinds: []float64{0.5, 0.5}}, 0), 50)
	one, other := levels(p, 0), levels(p, 1)
	for i := range one {
		expectOne(t, "the sum of both kinds", one[i]+other[i], 25*float64(i+1))
	}
	expect(t, "the other thread", levels(p, 2), 0, 0, 0, 0)
}

func TestTruthPipeline(t *testing.T) {
	for _, pipes := range []bool{false, true} {
		p := testProgram(3, 3, func(m *Machine) {
			point := m.Point("item", false)
			queues := []channel{m.channel(3, pipes, false, true), m.channel(3, pipes, false, true)}
			for i, ms := range []float64{1, 2, 1.5} {
				m.Thread(named("stage", i), How{}, func(t *Task) {
					for item := uint64(0); ; item++ {
						if i > 0 {
							item = t.get(queues[i-1])
						}
						t.Compute(i, fixed(ms))
						if i < 2 {
							t.put(queues[i], item)
							continue
						}
						t.Visit(point)
					}
				})
			}
		})
		expect(t, "the bottleneck", levels(p, 1), 25, 25, 25, 25)
		expect(t, "the first stage", levels(p, 0), 0, 0, 0, 0)
		expectOne(t, "two stages", gain(p, Change{Kinds: []float64{0, 0.5, 0.5}}, 0), 50)
	}
}

// TestTruthLock has two threads that always want the lock: what the code outside takes is hidden behind the other's
// code inside, as long as it is shorter.
func TestTruthLock(t *testing.T) {
	for _, fair := range []bool{false, true} {
		p := testProgram(2, 2, func(m *Machine) {
			point, x := m.Point("update", false), m.Mutex(fair)
			for i := range 2 {
				m.Thread(named("client", i), How{}, func(t *Task) {
					for {
						t.Compute(0, fixed(1))
						t.Lock(x)
						t.Compute(1, fixed(2))
						t.Unlock(x)
						t.Visit(point)
					}
				})
			}
		})
		expect(t, "inside", levels(p, 1), 25, 50, 62.5, 75)
		if fair {
			expect(t, "outside", levels(p, 0), 0, 0, 0, 0)
		}
	}
}

func TestTruthForkJoin(t *testing.T) {
	p := testProgram(2, 3, func(m *Machine) {
		point := m.Point("loop", false)
		m.Thread("main", How{}, func(t *Task) {
			for {
				t.Compute(0, fixed(2))
				child := t.Fork("part", How{}, func(t *Task) { t.Compute(1, fixed(4)) })
				t.Compute(2, fixed(2))
				t.Join(child)
				t.Visit(point)
			}
		})
	})
	expect(t, "the serial part", levels(p, 0), 8.3, 16.6, 25, 33.3)
	expect(t, "the longer part", levels(p, 1), 16.6, 33.3, 33.3, 33.3)
	expect(t, "the shorter part", levels(p, 2), 0, 0, 0, 0)
}

func TestTruthWaits(t *testing.T) {
	d := fixed(3)
	steps := map[string]func(*Machine) func(*Task){
		"sleeps": func(*Machine) func(*Task) { return func(t *Task) { t.Sleep(d) } },
		"disks": func(m *Machine) func(*Task) {
			disk := m.Device(1)
			return func(t *Task) { t.Read(disk, d) }
		},
		"nets": func(m *Machine) func(*Task) {
			peer := m.Peer(true)
			return func(t *Task) { t.Ask(peer, d) }
		},
	}
	changes := map[string]Change{"sleeps": {Sleeps: 0.5}, "disks": {Disks: 0.5}, "nets": {Nets: 0.5}}
	for what, step := range steps {
		p := testProgram(1, 1, func(m *Machine) {
			point, wait := m.Point("turn", false), step(m)
			m.Thread("turns", How{}, func(t *Task) {
				for {
					t.Compute(0, fixed(1))
					wait(t)
					t.Visit(point)
				}
			})
		})
		for other, c := range changes {
			want := 0.0
			if other == what {
				want = 37.5
			}
			expectOne(t, what+" with less of "+other, gain(p, c, 0), want)
		}
		expect(t, what+" and code", levels(p, 0), 6.25, 12.5, 18.75, 25)
	}
}

func TestTruthCores(t *testing.T) {
	p := testProgram(2, 1, func(m *Machine) {
		point := m.Point("unit", false)
		for i := range 4 {
			m.Thread(named("crowd", i), How{}, func(t *Task) {
				for {
					t.Compute(0, fixed(0.5))
					t.Visit(point)
				}
			})
		}
	})
	expectOne(t, "one core", gain(p, Change{Cores: 1}, 0), -100)
	expectOne(t, "three cores", gain(p, Change{Cores: 3}, 0), 33.3)
	expectOne(t, "four cores", gain(p, Change{Cores: 4}, 0), 50)
	expectOne(t, "more cores than threads", gain(p, Change{Cores: 8}, 0), 50)
}

// TestTruthNice: a thread's share of a core goes with its weight.
func TestTruthNice(t *testing.T) {
	p := testProgram(1, 1, func(m *Machine) {
		for i, nice := range []int8{0, 5} {
			point := m.Point(named("unit", i), false)
			m.Thread(named("nice", i), How{Nice: nice}, func(t *Task) {
				for {
					t.Compute(0, fixed(0.1))
					t.Visit(point)
				}
			})
		}
	})
	visits := p.Truth(Change{}).Same.Windows[0].Visits
	if got, want := float64(len(visits[0]))/float64(len(visits[1])), math.Pow(1.25, 5); math.Abs(got/want-1) > 0.05 {
		t.Errorf("the visits' ratio is %.2f, expected %.2f", got, want)
	}
}

// TestTruthOpenLoop: what comes with the clock does not come sooner, but is answered sooner.
func TestTruthOpenLoop(t *testing.T) {
	p := testProgram(1, 1, func(m *Machine) {
		point, q := m.Point("answer", true), m.Queue(100, false, false)
		m.Thread("clock", How{}, func(t *Task) {
			for job := uint64(1); ; job++ {
				t.SleepUntil(int64(job) * 4_000_000)
				t.Request(point, recording.Begin, job)
				t.Put(q, job)
			}
		})
		m.Thread("worker", How{}, func(t *Task) {
			for {
				job := t.Take(q)
				t.Compute(0, fixed(2))
				t.Request(point, recording.End, job)
			}
		})
	})
	truth := p.Truth(Change{Kinds: []float64{0.5}})
	c := Compare(truth.Same, recordedTimes(p, truth.Changed), truth)[0]
	if math.Abs(c.Truth) > 0.7 || !c.HasLatency || math.Abs(c.TruthLatency-50) > 2 {
		t.Errorf("%+v", c)
	}
}

// TestTruthGroupCommit: with one writer each commit is a write of its own; with many, a write takes all that came
// during the last one.
func TestTruthGroupCommit(t *testing.T) {
	for _, writers := range []int{1, 6} {
		p := testProgram(8, 1, func(m *Machine) {
			point, group := m.Point("commit", false), m.Commits(m.Device(1), false)
			for i := range writers {
				m.Thread(named("writer", i), How{}, func(t *Task) {
					for {
						t.Compute(0, fixed(1))
						t.Commit(group, fixed(3))
						t.Visit(point)
					}
				})
			}
		})
		visits := len(p.Truth(Change{}).Same.Windows[0].Visits[0])
		if writers == 1 {
			expect(t, "one writer", levels(p, 0), 6.25, 12.5, 18.75, 25)
			if visits < 248 || visits > 250 {
				t.Errorf("%d commits, expected 250 less their costs", visits)
			}
			continue
		}
		// Two groups take turns: each writes for 3 ms, and computes and waits during the other's write.
		if visits < 900 || visits > 1010 {
			t.Errorf("%d commits of six writers, expected 1000 less their costs", visits)
		}
	}
}

// TestTruthRequests checks requests that go through pipes: one client, so all parts add up.
func TestTruthRequests(t *testing.T) {
	p := testProgram(2, 2, func(m *Machine) {
		point, there, back := m.Point("request", true), m.Pipe(4, true), m.Pipe(4, true)
		m.Thread("client", How{Process: 1}, func(t *Task) {
			for n := uint64(0); ; n++ {
				t.Request(point, recording.Begin, n)
				t.Send(there, n)
				t.Receive(back)
				t.Request(point, recording.End, n)
				t.Compute(0, fixed(1))
			}
		})
		m.Thread("server", How{}, func(t *Task) {
			for {
				n := t.Receive(there)
				t.Compute(1, fixed(3))
				t.Send(back, n)
			}
		})
	})
	expect(t, "the server", levels(p, 1), 18.75, 37.5, 56.25, 75)
	expect(t, "the client", levels(p, 0), 6.25, 12.5, 18.75, 25)
	truth := p.Truth(Change{Kinds: []float64{0, 0.5}})
	if c := Compare(truth.Same, recordedTimes(p, truth.Changed), truth)[0]; math.Abs(c.TruthLatency-50) > 1 {
		t.Errorf("%+v", c)
	}
}

// TestAccounts checks that cores and waits are added up.
func TestAccounts(t *testing.T) {
	p := testProgram(2, 1, func(m *Machine) {
		point := m.Point("turn", false)
		for i := range 3 {
			m.Thread(named("turns", i), How{}, func(t *Task) {
				for {
					t.Compute(0, fixed(1))
					t.Sleep(fixed(1))
					t.Visit(point)
				}
			})
		}
	})
	w := p.Truth(Change{}).Same.Windows[0]
	var waited int64
	for _, ns := range w.Waited {
		waited += ns
	}
	// Three threads run or wait all the time. Waits that are not over at the end do not count.
	if total := w.Busy + waited; math.Abs(float64(total)-3e9) > 4e6 {
		t.Errorf("busy for %d ns, waits of %v", w.Busy, w.Waited)
	}
	if w.Waited[recording.Sleep] == 0 || w.Waited[recording.CPU] == 0 || w.Waited[recording.Lock] != 0 {
		t.Errorf("waits of %v", w.Waited)
	}
}

// TestTruthsOfAll checks, for programs of all families, that a changed program comes to its end, and does not gain more
// than the change takes away. It may lose: other threads that wait less take cores from it.
func TestTruthsOfAll(t *testing.T) {
	eachFamily(t, seeds(), func(t *testing.T, p *Program) {
		n := 2
		if testing.Short() {
			n = 1
		}
		for _, c := range p.Changes(n) {
			truth := p.Truth(c)
			most := slices.Max(append([]float64{c.Sleeps, c.Disks, c.Nets}, c.Kinds...))
			for i, w := range truth.Same.Windows {
				for point, was := range w.Visits {
					is := truth.Changed.Windows[i].Visits[point]
					if len(is) < len(was) {
						t.Errorf("%v: %d visits of %d", c, len(is), len(was))
						continue
					}
					if n := len(was); n > 100 && c.Cores == 0 {
						gain := 1 - float64(is[n-1].Time)/float64(was[n-1].Time)
						if gain > most+0.1 {
							t.Errorf("%v: a gain of %.2f", c, gain)
						}
					}
				}
			}
		}
	})
}

// TestMutexExcludes: one thread at a time has a mutex, also where several come just as it is released.
func TestMutexExcludes(t *testing.T) {
	for _, fair := range []bool{false, true} {
		both, turns := 0, 0
		p := testProgram(4, 2, func(m *Machine) {
			x, inside := m.Mutex(fair), 0
			for i := range 4 {
				m.Thread(named("client", i), How{}, func(t *Task) {
					for {
						t.Compute(0, Distribution{Mean: 6000, Shape: Exponential})
						t.Lock(x)
						if inside++; inside > 1 {
							both++
						}
						t.Compute(1, Distribution{Mean: 2000, Shape: Exponential})
						inside--
						turns++
						t.Unlock(x)
					}
				})
			}
		})
		p.Windows = []Span{{1e6, 60e6}}
		p.Record()
		if both > 0 || turns < 1000 {
			t.Errorf("fair: %t: two had it in %d of %d turns", fair, both, turns)
		}
	}
}
