package experiment

import (
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

	tooOften atomic.Int64 // visits of their probes in a second of running, when they were left; 0: they are followed
}

const (
	mostFollowing  = 0.1 // of what the program runs, within about a second
	leastFollowing = 40 * time.Millisecond
	looksPerSecond = 20
)

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
	var visits, samples int64 // within about a second
	lastVisits, lastSamples := w.ledger.FollowVisits(), int64(0)
	for {
		select {
		case <-w.stop:
			return
		case <-clock.C:
		}
		nowVisits := w.ledger.FollowVisits()
		if nowVisits == lastVisits && visits == 0 {
			continue
		}
		nowSamples := w.ledger.Totals(0).Samples
		if nowSamples > 0 { // before the first nobody knows what runs
			visits += nowVisits - lastVisits - visits/looksPerSecond
			samples += nowSamples - lastSamples - samples/looksPerSecond
		}
		lastVisits, lastSamples = nowVisits, nowSamples
		took, ran := time.Duration(visits)*w.ledger.FollowCost(), time.Duration(samples)*w.period
		if took < leastFollowing || took.Seconds() < mostFollowing*ran.Seconds() {
			continue
		}
		w.tooOften.Store(max(1, int64(float64(visits)/max(ran, took).Seconds())))
		if err := w.ledger.LeaveGoroutines(); err != nil {
			w.log.Warn("ending to follow goroutines: " + err.Error())
		}
		return
	}
}

// unfollowed says why an experiment is to be set aside during which following goroutines turned out to take too much.
func (s *session) unfollowed() (setAside string) {
	w := s.sites.watch()
	if w == nil || s.saidUnfollowed || w.tooOften.Load() == 0 {
		return ""
	}
	s.saidUnfollowed = true
	s.warn("goroutines", "goroutines wait for each other, or are made, too often to be followed (%d breakpoints in a second of running): what their threads wait for counts in place of that, and gains may be off by it", w.tooOften.Load())
	return "slowed by following goroutines"
}
