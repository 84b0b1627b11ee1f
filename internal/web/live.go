package web

import (
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// Live makes pages of a run that goes on. It makes one on request, and seldom enough to leave the
// machine to the run.
type Live struct {
	mu      sync.Mutex
	label   string
	data    *profile.Data
	ended   bool
	last    *analyze.Estimates // of the whole run
	fresh   bool               // data were not shown yet
	version int

	making sync.Mutex
	page   *Page
	next   time.Time
}

// NewLive shows an empty run until the first Update.
func NewLive(label string, args []string) *Live {
	run := profile.Run{Version: profile.Version, Args: args, Started: time.Now(), CPUs: runtime.NumCPU()}
	return &Live{label: label, data: &profile.Data{Run: run}, fresh: true}
}

// Update takes over the data so far. Experiments do not change once they are there, so a copy costs
// little.
func (l *Live) Update(d *profile.Data, ended bool) {
	snapshot := *d
	snapshot.Run.Points = slices.Clone(d.Run.Points)
	// The session goes on writing to its maps while a page is made from these copies.
	snapshot.Units, snapshot.Sources, snapshot.Binaries = maps.Clone(d.Units), maps.Clone(d.Sources),
		maps.Clone(d.Binaries)
	snapshot.Experiments = slices.Clip(d.Experiments)
	snapshot.Warnings = slices.Clip(d.Warnings)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.data, l.ended, l.fresh = &snapshot, ended, true
}

// End shows the whole run, with what its recording says; nil for nothing.
func (l *Live) End(d *profile.Data, e *analyze.Estimates) {
	l.mu.Lock()
	l.last = e
	l.mu.Unlock()
	l.Update(d, true)
}

// Page is the page of the present state, or of one shortly before.
func (l *Live) Page() *Page {
	// The analysis takes a part of the time that is hardly noticeable.
	const share = 20
	l.making.Lock()
	defer l.making.Unlock()
	l.mu.Lock()
	data, ended, estimates := l.data, l.ended, l.last
	due := l.fresh && (ended || !time.Now().Before(l.next))
	if due || l.page == nil {
		l.fresh = false
		l.version++
	}
	version := l.version
	l.mu.Unlock()
	if l.page != nil && !due {
		return l.page
	}
	began := time.Now()
	l.page = New(Profile{Label: l.label, Runs: []*profile.Data{data}, Estimates: estimates}, nil, version, !ended)
	l.next = time.Now().Add(share * time.Since(began))
	return l.page
}
