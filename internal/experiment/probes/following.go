package probes

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"whatif/internal/ledger"
)

// followWatch watches how much time it takes to follow goroutines. Each time that a goroutine waits or is made, up to
// three probes run. A program that hands over millions of times a second would be slowed too much: then following ends
// for good, and only threads are followed.
type followWatch struct {
	ledger *ledger.Ledger
	log    *slog.Logger
	period time.Duration
	stop   chan struct{}
	over   sync.WaitGroup

	ended atomic.Pointer[string] // why following has ended; nil: it goes on
}

// share is how much of the time that was run following has taken, within about a second.
type share struct{ took, ran time.Duration }

const (
	mostFollowing  = 10 // percent of what the program runs, or of a core in processes that are not the target
	leastFollowing = 40 * time.Millisecond
	looksPerSecond = 20
)

func (s *share) pass(took, ran time.Duration) {
	s.took += took - s.took/looksPerSecond
	s.ran += ran - s.ran/looksPerSecond
}

func (s *share) tooMuch() bool {
	return s.took >= leastFollowing && s.percent() >= mostFollowing
}

func (s *share) percent() float64 { return 100 * s.took.Seconds() / max(s.ran, s.took).Seconds() }

func watchFollowing(l *ledger.Ledger, o Options) *followWatch {
	w := &followWatch{ledger: l, log: o.Log, period: o.Period, stop: make(chan struct{})}
	w.over.Go(w.watch)
	return w
}

func (w *followWatch) close() {
	close(w.stop)
	w.over.Wait()
}

// hasEnded tells whether following began and has ended since.
func (w *followWatch) hasEnded() bool { return w != nil && w.ended.Load() != nil }

func (w *followWatch) watch() {
	clock := time.NewTicker(time.Second / looksPerSecond)
	defer clock.Stop()
	var target, others share
	last, lastSamples, lastLook := w.ledger.FollowVisits(), int64(0), time.Now()
	for {
		select {
		case <-w.stop:
			return
		case <-clock.C:
		}
		visits, samples, look := w.ledger.FollowVisits(), w.ledger.Totals(0).Samples, time.Now()
		cost := w.ledger.FollowCost()
		if samples > 0 { // before the first one it is not known what runs
			ran := time.Duration(samples-lastSamples) * w.period
			target.pass(time.Duration(visits.Target-last.Target)*cost, ran)
		}
		others.pass(time.Duration(visits.Others-last.Others)*cost, look.Sub(lastLook))
		last, lastSamples, lastLook = visits, samples, look
		var why string
		switch {
		case target.tooMuch():
			why = fmt.Sprintf("%.0f%% of what the program runs", target.percent())
		case others.tooMuch():
			why = fmt.Sprintf("%.0f%% of a core in other processes of the same binary", others.percent())
		default:
			continue
		}
		w.ended.Store(&why)
		if err := w.ledger.LeaveGoroutines(); err != nil {
			w.log.Warn("ending to follow goroutines: " + err.Error())
		}
		return
	}
}

// followingEnded is why following goroutines has ended; "": it goes on, or none are followed.
func (s *sites) followingEnded() string {
	s.mu.Lock()
	w := s.following
	s.mu.Unlock()
	if !w.hasEnded() {
		return ""
	}
	return *w.ended.Load()
}
