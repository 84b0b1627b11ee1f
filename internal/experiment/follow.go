package experiment

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"whatif/internal/ledger"
)

// followWatch watches what following goroutines takes. Each time that one waits, or is made, takes it up to three probes, and a program that hands over millions of times
// in a second would be slowed by more than any answer is worth: then they are left to their threads, for good.
type followWatch struct {
	ledger *ledger.Ledger
	log    *slog.Logger
	period time.Duration
	stop   chan struct{}
	over   sync.WaitGroup

	ended atomic.Pointer[string] // why, when they were left; nil: they are followed
}

// share is what following has taken of what was run, within about a second.
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

func watchFollowing(l *ledger.Ledger, cfg *Config) *followWatch {
	w := &followWatch{ledger: l, log: cfg.Log, period: cfg.Period, stop: make(chan struct{})}
	w.over.Go(w.watch)
	return w
}

func (w *followWatch) close() {
	close(w.stop)
	w.over.Wait()
}

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
		if samples > 0 { // before the first nobody knows what runs
			target.pass(time.Duration(visits.Target-last.Target)*cost, time.Duration(samples-lastSamples)*w.period)
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

// unfollowed says why an experiment is to be set aside during which following goroutines turned out to take too much.
func (s *session) unfollowed() (setAside string) {
	w := s.sites.watch()
	if w == nil || s.saidUnfollowed {
		return ""
	}
	why := w.ended.Load()
	if why == nil {
		return ""
	}
	s.saidUnfollowed = true
	s.warn("goroutines", "goroutines wait for each other, or are made, too often to be followed, which took %s: what their threads wait for counts instead, and gains may be off by it", *why)
	return "slowed by following goroutines"
}
