package experiment

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"whatif/internal/code/symbol"
	"whatif/internal/ledger"
	"whatif/internal/profile"
)

// Listing is what was sampled, and what of it may be sped up.
type Listing struct {
	Units   []ListedUnit // most samples first
	Samples int64        // of the target, those of no unit included
}

// ListedUnit is the code that was running, not the code that called it.
type ListedUnit struct {
	Unit    profile.Unit
	Samples int64
	Outside string // why it is not in scope; empty: it is
}

// listing lets the program run, and only counts.
func (l *trialLoop) listing(ctx context.Context, p subject) (subject, error) {
	if err := p.Release(); err != nil {
		return p, err
	}
	l.pause(ctx, p, wholeRun)
	l.watch.debugInfo.check()
	return p, nil
}

// listed is the unit of the innermost frame, in scope or not. Code that was inlined into the user's counts for that
// code: the reason says so.
func (t *unitTable) listed(m module, frames []symbol.Frame) uint32 {
	at, why := 0, t.scope.WhyOutside(m.origin, frames[0])
	if i := t.scope.First(m.origin, frames); i >= 0 && why == "" {
		at = i
		t.noteMissing(m)
	} else if i > 0 {
		if blamed, ok := t.unitFrom(frames[i], t.kind, m.name); ok {
			why += ", counts for " + blamed.Name
		}
	}
	u, ok := t.unitFrom(frames[at], t.kind, m.name)
	if !ok {
		u = profile.Unit{Kind: "binary", Name: filepath.Base(m.name), Binary: m.name}
		why = cmp.Or(why, "nothing names it")
	}
	return t.number(u, false, why)
}

// listing reads what was counted so far; nil when not listing.
func (t *unitTable) listing(totals ledger.Totals) *Listing {
	if !t.list {
		return nil
	}
	l := &Listing{Samples: totals.Samples}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, n := range totals.Units {
		if n > 0 {
			l.Units = append(l.Units, ListedUnit{t.units[i], n, t.outside[i]})
		}
	}
	slices.SortStableFunc(l.Units, func(a, b ListedUnit) int { return cmp.Compare(b.Samples, a.Samples) })
	return l
}
