package ledger

import (
	"cmp"
	"runtime"
	"slices"
	"time"
)

// MeasureTicks finds out what a tick of the clock, which must have been started,
// takes from the thread that it hits: on a virtual machine most of that is the
// host's work, which the kernel side cannot see. It keeps a core busy for a while,
// and looks at the gaps where ticks are due.
func (l *Ledger) MeasureTicks() {
	const (
		measured = 30 * time.Millisecond
		shortest = time.Microsecond // a reading of the clock is far shorter
	)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var gaps []gap
	begin, start := Now(), time.Now()
	for last := time.Duration(0); last < measured; {
		now := time.Since(start)
		if now-last > shortest {
			gaps = append(gaps, gap{begin + uint64(last), begin + uint64(now)})
		}
		last = now
	}
	period, seed := l.page.control.Period, l.page.control.Seed
	if cost := costOfTick(gaps, begin, begin+uint64(measured), period, seed); cost > 0 {
		store(&l.page.control.TickCost, cost)
	}
}

// A gap is a time in which a thread did not run, from when to when.
type gap struct{ from, to uint64 }

// How long before and after its moment a tick may seem to begin: clocks are read one after the other, and
// longer after it something else took the core.
const early, late = 10 * time.Microsecond, 50 * time.Microsecond

// costOfTick is the mean of the gaps in which ticks are. There are about as many others, of a few
// microseconds, so it is no use to take the usual gap of all; and as ticks differ, and each of them is a loss,
// nor the usual one of those. The longest tenth is left out: that the core was taken away at a tick is chance.
func costOfTick(gaps []gap, begin, end, period, seed uint64) uint64 {
	var costs []uint64
	const behind = 4 // periods that a tick may be behind
	for i := begin/period - behind; ; i++ {
		due := tickDue(i, period, seed)
		if due >= end {
			break
		}
		if due < begin {
			continue
		}
		at, _ := slices.BinarySearchFunc(gaps, due-uint64(early), func(g gap, from uint64) int { return cmp.Compare(g.from, from) })
		longest := uint64(0)
		for ; at < len(gaps) && gaps[at].from < due+uint64(late); at++ {
			longest = max(longest, gaps[at].to-gaps[at].from)
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

// tickDue is when a tick is due, as tick_due in bpf/vtime/tick_times.h.
func tickDue(tick, period, seed uint64) uint64 {
	const sweep = 16 // SWEEP there
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
