package ledger

import (
	"cmp"
	"slices"
	"time"

	"whatif/bpf"
)

// sampleParts is how much a sample counts where ticks come once in a period.
const sampleParts = int64(bpf.LedgerSharedNumberNUMBER_SAMPLE_PARTS)

// Refine makes ticks come as often as they can from now on. Each sample then counts for less, so that samples are in
// periods of Options, before as after.
func (c *clock) Refine() {
	store(&c.page.control.Parts, 1)
	store(&c.page.control.Period, load(&c.page.control.AskedPeriod)/uint64(sampleParts))
}

// Ticks is how many ticks come in each period of Options.
func (c *clock) Ticks() int { return int(uint64(sampleParts) / load(&c.page.control.Parts)) }

// MeasureTicks finds out how much time a tick takes from the thread that it interrupts, on each core. On a virtual
// machine most of that is the host's work, which the kernel side cannot see. So MeasureTicks keeps a core busy for a
// while, and looks at the gaps where ticks are due. It is called after StartClock.
func (c *clock) MeasureTicks() {
	const all = 30 * time.Millisecond
	for range c.cores {
		c.measureNext(max(all/time.Duration(len(c.cores)), time.Millisecond))
	}
	c.showTickCosts()
}

// MeasureMoreTicks goes on with that for a moment on one core, the next one each time, if it was not done lately. What
// a tick takes changes with what the host does, and from core to core.
func (c *clock) MeasureMoreTicks() {
	const pause = 200 * time.Millisecond
	if now := time.Now(); now.After(c.lastTime.Add(pause)) {
		c.measureNext(time.Millisecond)
		c.showTickCosts()
		c.lastTime = now
	}
}

// measureNext measures on the next core. Where a real-time thread has that core it takes long, and the Go runtime may
// stand still meanwhile, with all that the trial loop does. So the core's ticks are not measured any more then.
func (c *clock) measureNext(busy time.Duration) {
	longest := 4*busy + 100*time.Millisecond // BusyGaps takes the first part at most
	cores := slices.DeleteFunc(slices.Clone(c.cores), func(cpu int) bool { return slices.Contains(c.taken, cpu) })
	if len(cores) == 0 {
		return
	}
	cpu, began := cores[c.nextCore%len(cores)], time.Now()
	c.nextCore++
	select {
	case costs := <-measureTicks(cpu, busy, c.page.control.Period, c.page.control.Seed):
		c.tickCosts.add(cpu, costs)
	case <-time.After(longest):
	}
	if time.Since(began) >= longest { // this, too, may be seen late
		c.taken = append(c.taken, cpu)
	}
}

// showTickCosts tells the kernel side what was measured.
func (c *clock) showTickCosts() {
	mean := c.tickCosts.mean()
	if mean == 0 {
		return
	}
	store(&c.page.control.TickCost, mean)
	for _, cpu := range c.cores {
		store(&c.page.cores[cpu].TickCost, c.tickCosts.of(cpu, mean))
	}
}

// measureTicks keeps a core busy, and gives what ticks took there. It may end after the ledger is closed.
func measureTicks(cpu int, busy time.Duration, period, seed uint64) <-chan []uint64 {
	done := make(chan []uint64, 1)
	go func() {
		var costs []uint64
		onOwnThread(func() {
			if moveTo(cpu) != nil {
				return // the core has been taken off line, or away from this process
			}
			begin := Now()
			gaps := BusyGaps(busy)
			costs = costsOfTicks(gaps, begin, Now(), period, seed)
		})
		done <- costs
	}()
	return done
}

// tickCosts is what the last measured ticks of each core have taken, in nanoseconds.
type tickCosts map[int][]uint64

// lastTicks is how many ticks of a core count. A single one often takes half as long again as another.
const lastTicks = 100

func (t tickCosts) add(cpu int, costs []uint64) {
	all := append(t[cpu], costs...)
	t[cpu] = all[max(0, len(all)-lastTicks):]
}

// mean is what a tick takes on the mean of the cores; 0: none was measured.
func (t tickCosts) mean() uint64 {
	var sum, cores uint64
	for _, costs := range t {
		if cost := usualCost(costs); cost > 0 {
			sum, cores = sum+cost, cores+1
		}
	}
	return sum / max(cores, 1)
}

// of is what a tick takes on a core. The mean of all cores counts as much as a few of the core's own ticks, which say
// little while there are few.
func (t tickCosts) of(cpu int, mean uint64) uint64 {
	const few = 8
	own := uint64(len(t[cpu]))
	return (own*usualCost(t[cpu]) + few*mean) / (own + few)
}

// tickEarly and tickLate are how long before and after its moment a tick may seem to begin. It can be early as two
// clocks are read one after the other. A gap that begins later has another cause.
const tickEarly, tickLate = 10 * time.Microsecond, 50 * time.Microsecond

// costsOfTicks is how long the gaps last in which ticks are due. About as many are no ticks, and last a few
// microseconds.
func costsOfTicks(gaps []Gap, begin, end, period, seed uint64) (costs []uint64) {
	const mostBehind = 4 // periods that a tick may be behind
	for i := begin/period - mostBehind; ; i++ {
		due := tickDue(i, period, seed)
		if due >= end {
			break
		}
		if due < begin {
			continue
		}
		at, _ := slices.BinarySearchFunc(gaps, due-uint64(tickEarly), func(g Gap, from uint64) int {
			return cmp.Compare(g.From, from)
		})
		longest := uint64(0)
		for ; at < len(gaps) && gaps[at].From < due+uint64(tickLate); at++ {
			longest = max(longest, gaps[at].To-gaps[at].From)
		}
		if longest > 0 {
			costs = append(costs, longest)
		}
	}
	return costs
}

// usualCost is the mean of costs without the longest tenth, because by chance the host took the core at such a tick.
// The median would be wrong: ticks differ, and each is a loss.
func usualCost(costs []uint64) uint64 {
	costs = slices.Sorted(slices.Values(costs))
	costs = costs[:len(costs)-len(costs)/10]
	if len(costs) == 0 {
		return 0
	}
	var sum uint64
	for _, c := range costs {
		sum += c
	}
	return sum / uint64(len(costs))
}

// tickDue is when a tick is due: the same as tick_due of bpf/vtime/tick_times.h.
func tickDue(tick, period, seed uint64) uint64 {
	const sweep = 16 // SWEEP of tick_times.h
	i := tick % (2 * sweep)
	behind := (1 + scatter(^(tick/(2*sweep)), seed)%3) * min(i, 2*sweep-i)
	return tick*period + behind*period/sweep + scatter(tick, seed)%(period/4)
}

func scatter(x, seed uint64) uint64 {
	x = x*0x9e3779b97f4a7c15 + seed
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
