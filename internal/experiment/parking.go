package experiment

import (
	"sync"
	"sync/atomic"
	"time"

	"whatif/internal/ledger"
)

// parking watches how often goroutines that are followed wait. Each time takes them three probes, and a program that hands over millions of times in a second
// would be slowed by more than any answer is worth: then they are left to their threads, for good.
type parking struct {
	ledger *ledger.Ledger
	period time.Duration
	stop   chan struct{}
	over   sync.WaitGroup

	tooOften atomic.Int64 // times in a second of running, when they were left; 0: they are followed
	err      error        // of leaving them
}

const (
	mostFollowing  = 0.1 // of what the program runs, within a second
	leastFollowing = 40 * time.Millisecond
	looksAtParking = 20 // in a second
)

func watchParking(l *ledger.Ledger, period time.Duration) *parking {
	p := &parking{ledger: l, period: period, stop: make(chan struct{})}
	p.over.Go(p.watch)
	return p
}

func (p *parking) close() {
	close(p.stop)
	p.over.Wait()
}

func (p *parking) watch() {
	clock := time.NewTicker(time.Second / looksAtParking)
	defer clock.Stop()
	var parks, samples int64 // within about a second
	for lastParks, lastSamples := int64(0), int64(0); ; {
		select {
		case <-p.stop:
			return
		case <-clock.C:
		}
		nowParks, nowSamples := p.ledger.Parks(), p.ledger.Totals(0).Samples
		parks += nowParks - lastParks - parks/looksAtParking
		samples += nowSamples - lastSamples - samples/looksAtParking
		lastParks, lastSamples = nowParks, nowSamples
		took, ran := time.Duration(parks)*p.ledger.FollowingCost(), time.Duration(samples)*p.period
		if took < leastFollowing || took.Seconds() < mostFollowing*ran.Seconds() {
			continue
		}
		p.err = p.ledger.LeaveGoroutines()
		p.tooOften.Store(int64(float64(parks) / max(ran, took).Seconds()))
		return
	}
}

// unfollowed says why an experiment is to be set aside during which goroutines turned out to wait too often to be followed.
func (s *session) unfollowed() (setAside string) {
	p := s.sites.parks()
	if p == nil || s.parkedTooOften || p.tooOften.Load() == 0 {
		return ""
	}
	s.parkedTooOften = true
	s.warn("goroutines", "goroutines wait for each other %d times in a second of running, too often to be followed: what their threads wait for counts in place of that, and gains may be off by it", p.tooOften.Load())
	if p.err != nil {
		s.cfg.Log.Warn("ending to follow goroutines: " + p.err.Error())
	}
	return "slowed by following goroutines"
}
