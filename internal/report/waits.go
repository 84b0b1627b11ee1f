package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"whatif/internal/analyze"
)

// worthWaiting is the least wait, in percent of the time, that is mentioned.
const worthWaiting = 1

// A wait is the time that threads waited in a unit, for one class.
type wait struct {
	class   string
	percent float64
}

// Waits lists what threads wait for in a unit, the largest first; "" if they hardly wait.
func Waits(t *analyze.Target) string { return waitsText(waits(t)) }

// waits lists a unit's classes of waits that are worth mentioning, the largest first.
func waits(t *analyze.Target) []wait {
	var all []wait
	for _, class := range slices.Sorted(maps.Keys(t.Waiting)) {
		if x := t.Waiting[class]; finite(x) && x >= worthWaiting {
			all = append(all, wait{clean(class), x})
		}
	}
	slices.SortStableFunc(all, func(a, b wait) int { return cmp.Compare(b.percent, a.percent) })
	return all
}

// String is the shortest form.
func (w wait) String() string { return fmt.Sprintf("%s %s%%", w.class, number(w.percent, 0)) }

// waitsCell is the largest wait of a unit, with a + if there are more: waitsText has those.
func waitsCell(all []wait) string {
	switch len(all) {
	case 0:
		return ""
	case 1:
		return all[0].String()
	}
	return all[0].String() + "+"
}

func waitsText(all []wait) string {
	text := make([]string, len(all))
	for i, w := range all {
		text[i] = w.String()
	}
	return strings.Join(text, ", ")
}

// waitsLegend explains the column, and lists what had no room in it.
func waitsLegend(p *printer, rows []row, shown bool) {
	if !slices.ContainsFunc(rows, func(rw row) bool { return len(rw.waits) > 0 }) {
		return
	}
	legend := "what threads wait for in it, in percent of the time, added up over the threads"
	if slices.ContainsFunc(rows, func(rw row) bool {
		return slices.ContainsFunc(rw.waits, func(w wait) bool { return w.class == "lock" })
	}) {
		legend += "; lock: for another thread of the program"
	}
	p.hanging("  waits   ", legend)
	for _, rw := range rows {
		if len(rw.waits) > 1 || len(rw.waits) == 1 && !shown {
			p.hanging(fmt.Sprintf("#%d waits: ", rw.rank), waitsText(rw.waits))
		}
	}
}
