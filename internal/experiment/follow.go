package experiment

import "whatif/internal/experiment/probes"

// following watches whether goroutines that wait for each other are still followed.
type following struct {
	probes *probes.Probes
	rec    *recorder
	said   bool // that they are not any more
}

// ended tells whether following turned out to take too much time since the experiment before, so that the last one was
// slowed by it.
func (f *following) ended() reason {
	if f.said {
		return usable
	}
	why := f.probes.FollowingEnded()
	if why == "" {
		return usable
	}
	f.said = true
	f.rec.warn("goroutines", "goroutines wait for each other, or are made, so often that following them took %s: "+
		"only threads are followed now, and gains at large speed-ups come out too small, by up to a third", why)
	return slowedByFollowing
}
