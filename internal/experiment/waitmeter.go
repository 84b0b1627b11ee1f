package experiment

import (
	"slices"
	"time"

	"whatif/internal/ledger"
	"whatif/internal/profile"
)

// waitMeter adds to the records of experiments for how long units waited.
type waitMeter struct {
	ledger  *ledger.Ledger
	units   *unitTable
	waiting []ledger.WaitClass // that count as time of a unit of code
	then    unitWaits          // as of the last experiment's end, or the next one's begin
	last    map[uint32]int64   // for how long at least one thread waited in each unit, in the last experiment
}

// unitWaits is what is known of the units' waiting at one moment; index 0 is unit 1.
type unitWaits struct {
	at   uint64
	over []ledger.Waits // waits that have ended
	now  []bool         // a thread waits
}

// follows tells whether waiting matters in this session.
func (w *waitMeter) follows() bool { return len(w.waiting) > 0 || w.units.hasWaits() }

// rebase makes the next experiment's waiting begin now.
func (w *waitMeter) rebase() {
	if w.follows() {
		w.then = w.now()
	}
}

// now reads the units' waiting.
func (w *waitMeter) now() unitWaits {
	u := unitWaits{at: ledger.Now()}
	for i := range w.units.count() {
		over, now := w.ledger.UnitWaits(uint32(i + 1))
		u.over, u.now = append(u.over, over), append(u.now, now)
	}
	return u
}

// read adds to an experiment what was waited during it; all is what the target waited.
func (w *waitMeter) read(e *profile.Experiment, all ledger.Waits) {
	if !w.follows() {
		return
	}
	e.WaitedNS = byClass(all)
	was := w.then
	w.then, w.last = w.now(), make(map[uint32]int64)
	for i, over := range w.then.over {
		id, begun := uint32(i+1), false
		if i < len(was.over) {
			for c := range over {
				over[c] -= was.over[i][c]
			}
			begun = was.now[i]
		}
		class := w.units.waitOf(id)
		if class != nil {
			over = ledger.Waits{}
			over[*class] = all[*class]
		}
		if m := byClass(over); m != nil {
			if e.UnitWaitedNS == nil {
				e.UnitWaitedNS = make(map[uint32]map[string]int64)
			}
			e.UnitWaitedNS[id] = m
		}
		waited := w.counted(class, over, begun && w.then.now[i], time.Duration(w.then.at-was.at))
		if waited > 0 {
			w.last[id] = waited
		}
	}
	if len(w.last) > 0 {
		e.UnitWaits = w.last
	}
}

// counted estimates for how long, within a length of time, at least one thread waited in a unit for what counts:
// several that wait at once earn once. over is what has ended meanwhile. If nothing has, and a thread waits there at
// both ends, this is one wait that lasts. If the unit is a class of waiting, class is that; for code it is nil.
func (w *waitMeter) counted(class *ledger.WaitClass, over ledger.Waits, bothEnds bool, length time.Duration) int64 {
	var sum time.Duration
	for c, d := range over {
		counts := class == nil && slices.Contains(w.waiting, ledger.WaitClass(c))
		if counts || class != nil && ledger.WaitClass(c) == *class {
			sum += d
		}
	}
	if bothEnds && sum == 0 {
		return int64(length)
	}
	return int64(min(sum, length))
}

func byClass(w ledger.Waits) map[string]int64 {
	var m map[string]int64
	for _, c := range ledger.WaitClasses() {
		if w[c] > 0 {
			if m == nil {
				m = make(map[string]int64)
			}
			m[c.String()] = int64(w[c])
		}
	}
	return m
}
