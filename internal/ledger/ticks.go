package ledger

import (
	"cmp"
	"runtime"
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

// MeasureTicks finds out how much time a tick takes from the thread that it interrupts. On a virtual machine most of
// that is the host's work, which the kernel side cannot see. So MeasureTicks keeps a core busy for a while, and looks
// at the gaps where ticks are due. It is called after StartClock.
func (c *clock) MeasureTicks() {
	const measured = 30 * time.Millisecond
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := Now()
	gaps := BusyGaps(measured)
	if cost := costOfTick(gaps, begin, Now(), c.page.control.Period, c.page.control.Seed); cost > 0 {
		store(&c.page.control.TickCost, cost)
	}
}

// tickEarly and tickLate are how long before and after its moment a tick may seem to begin. It can be early as two
// clocks are read one after the other. A gap that begins later has another cause.
const tickEarly, tickLate = 10 * time.Microsecond, 50 * time.Microsecond

// costOfTick is the mean of the gaps in which ticks are due. The median of all gaps would say nothing, as about as many
// are no ticks, and last a few microseconds. The median of the ticks would be wrong, too: they differ, and each is a
// loss. The longest tenth is left out, because by chance the host took the core at such a tick.
func costOfTick(gaps []Gap, begin, end, period, seed uint64) uint64 {
	var costs []uint64
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
	slices.Sort(costs)
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
