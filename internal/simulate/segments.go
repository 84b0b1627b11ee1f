package simulate

import (
	"math"

	"whatif/internal/recording"
)

// segment is what an entity runs between two of its actions, on however many stretches of cores.
type segment struct {
	thread     int32
	begin, end edge
	length     float64 // ns
	kind       int32   // its number among the kinds; No: it is of no length
	sampled    int32   // its number among the segments that have samples; No: it has none

	// ns that strangers kept the thread from its core, before it began to run and while it ran. In a simulation it
	// has the core meanwhile: for a part that is as large as the part of its work that is left, as cores are shared
	// fairly.
	before, meanwhile float64

	// ns that recording took of the thread's time. They are no part of length: without whatif the program does not have
	// them. What was recorded has (Machine.Check).
	cost float64
}

// edge is where a segment begins or ends.
type edge struct {
	kind  edgeKind
	place int32 // of a visit: the point; of a lock: the object; where a thread was made: see born
}

// edgeKind is what happens at the edge of a segment.
type edgeKind uint8

const (
	edgeStart edgeKind = iota // the thread or the window begins; or the window ends
	edgeWait
	edgeWake
	edgeVisit
	edgeFork
	edgeEnd
	edgeAcquire // of a lock, as inferred
	edgeRelease
	edgeBorn // the thread begins, and another one has made it
)

// born is where a thread begins that was made by another one: at a place, as the n-th that this one has made in a row.
// Two threads of a kind live for less than the time between two samples, and do the same again and again: what one is
// made for is told by its turn.
func born(place, n int32) edge {
	const most = 64 // in a row that are told apart
	return edge{edgeBorn, most*(place+1) + min(n, most-1)}
}

// sample is that one thread ran at one stack.
type sample struct {
	segment, stack int32
	at             float64 // ns that the thread had run in the segment
}

// kinds estimates which share of a segment is in a unit. Most segments are shorter than the time between two samples.
// So the share is pooled, on four levels: the segment; its kind (the thread, where the segment begins, where it
// ends); its site (the same for all threads, whatever their stack pointers); and the recording.
//
// The share of each level is that of its own samples, drawn to the share of the next level by so many samples as say
// as little about the difference between the two: the ratio of the variance within and the variance between
// (empirical Bayes; the variances by the method of moments, as in a one-way analysis of variance). Where all segments
// of a kind are alike, this is the mean of the kind; where each is either in the unit or not, it is the segment's own
// samples. Assumption: samples fall at times that have nothing to do with what a thread does.
type kinds struct {
	site     []int32   // by kind
	kind     []int32   // by sampled segment
	segments []float64 // the number of samples, by sampled segment
	kinds    []float64 // by kind
	sites    []float64 // by site
	all      float64
	stack    []int32 // by sample: its stack, and
	sampled  []int32 // the number of its segment
}

// kindKey is what the segments of a kind have in common, siteKey those of a site.
type kindKey struct {
	thread     int32
	begin, end edge
}
type siteKey struct {
	begin, end site
}

// site is an edge without what differs between threads.
type site struct {
	kind    edgeKind
	place   int32 // of a visit: the point. Otherwise: the stack
	address uint64
}

// finish sorts the segments of all windows into kinds, and counts samples.
func (k *kinds) finish(segments []segment, samples []sample, places []recording.Place) {
	for i := range segments {
		segments[i].kind, segments[i].sampled = recording.No, recording.No
	}
	for _, s := range samples {
		seg := &segments[s.segment]
		if seg.sampled < 0 {
			seg.sampled = int32(len(k.segments))
			k.segments = append(k.segments, 0)
			k.kind = append(k.kind, 0)
		}
		k.segments[seg.sampled]++
		k.stack = append(k.stack, s.stack)
		k.sampled = append(k.sampled, seg.sampled)
	}
	k.sort(segments, places)
}

// sort gives each segment its kind and each kind its site.
func (k *kinds) sort(segments []segment, places []recording.Place) {
	kindNo, siteNo := map[kindKey]int32{}, map[siteKey]int32{}
	for i := range segments {
		s := &segments[i]
		if s.thread < 0 || s.length == 0 && s.sampled < 0 {
			continue
		}
		key := kindKey{s.thread, s.begin, s.end}
		n, ok := kindNo[key]
		if !ok {
			n = int32(len(k.site))
			kindNo[key] = n
			at := siteKey{siteOf(s.begin, places), siteOf(s.end, places)}
			no, ok := siteNo[at]
			if !ok {
				no = int32(len(k.sites))
				siteNo[at] = no
				k.sites = append(k.sites, 0)
			}
			k.site = append(k.site, no)
			k.kinds = append(k.kinds, 0)
		}
		s.kind = n
		if s.sampled >= 0 {
			k.kind[s.sampled] = n
			count := k.segments[s.sampled]
			k.kinds[n] += count
			k.sites[k.site[n]] += count
			k.all += count
		}
	}
}

// siteOf returns an edge without what differs between threads.
func siteOf(e edge, places []recording.Place) site {
	if e.place < 0 || e.kind == edgeVisit || e.kind >= edgeAcquire {
		return site{kind: e.kind, place: e.place}
	}
	p := &places[e.place]
	if p.Stack < 0 && p.Address == 0 { // nothing is known but its number
		return site{kind: e.kind, place: -2 - e.place}
	}
	return site{kind: e.kind, place: p.Stack, address: p.Address}
}

// sums are the sum and the sum of squares of what samples gain.
type sums struct {
	sum, square float64
}

// shares is the working memory of one estimate.
type shares struct {
	segments, kinds, sites []sums
	within                 []moments // by kind: among its segments. By site, behind: among its kinds
	kindMean, siteMean     []float64
}

// moments are the sum of squares within the groups of one level, and its degrees of freedom.
type moments struct {
	square, freedom float64
}

// lengths writes how long each segment takes if the gain of each stack is as given: 1 - gain times as long.
func (k *kinds) lengths(segments []segment, gain []float64, s *shares, out []float64) []float64 {
	out = grow(out, len(segments))
	if gain == nil {
		for i := range segments {
			out[i] = segments[i].takes(0)
		}
		return out
	}
	k.means(gain, s)
	defer shrinkStolen(segments, out)
	kindWeight := s.within[:len(k.kinds)]
	for i := range segments {
		seg := &segments[i]
		switch {
		case seg.kind < 0:
			out[i] = seg.takes(0)
		case seg.sampled < 0:
			out[i] = seg.takes(s.kindMean[seg.kind])
		default:
			own, n := s.segments[seg.sampled].sum, k.segments[seg.sampled]
			share := towards(own, n, s.kindMean[seg.kind], kindWeight[seg.kind].square)
			out[i] = seg.takes(share)
		}
	}
	return out
}

// takes returns for how long a segment has a core when a share of it is gone. Strangers come between the more often the
// longer it runs.
func (s *segment) takes(gone float64) float64 {
	return s.before + (s.length+s.meanwhile)*math.Max(0, 1-gone)
}

// shrinkStolen leaves of the waits for strangers before segments as much as is left of what each thread runs.
func shrinkStolen(segments []segment, out []float64) {
	type work struct{ was, is float64 }
	all := map[int32]*work{}
	for i := range segments {
		if s := &segments[i]; s.before > 0 && all[s.thread] == nil {
			all[s.thread] = &work{}
		}
	}
	if len(all) == 0 {
		return
	}
	for i := range segments {
		if w := all[segments[i].thread]; w != nil {
			w.was += segments[i].length + segments[i].meanwhile
			w.is += out[i] - segments[i].before
		}
	}
	for i := range segments {
		if s := &segments[i]; s.before > 0 && all[s.thread].was > 0 {
			out[i] -= s.before * (1 - all[s.thread].is/all[s.thread].was)
		}
	}
}

// means estimates the mean gain of each kind. In place of the moments of each kind, it leaves the weight that the
// kind's mean has in its segments.
func (k *kinds) means(gain []float64, s *shares) {
	s.segments, s.kinds = grow(s.segments, len(k.segments)), grow(s.kinds, len(k.kinds))
	s.sites = grow(s.sites, len(k.sites))
	s.within = grow(s.within, len(k.kinds)+len(k.sites))
	s.kindMean, s.siteMean = grow(s.kindMean, len(k.kinds)), grow(s.siteMean, len(k.sites))
	for i, stack := range k.stack {
		x := gain[stack]
		s.segments[k.sampled[i]].add(x, x*x)
	}
	var all sums
	var between moments
	for i, own := range s.segments {
		kind := k.kind[i]
		s.kinds[kind].add(own.sum, own.square)
		s.within[kind].add(own, k.segments[i])
	}
	ofSites := s.within[len(k.kinds):]
	for i, own := range s.kinds {
		s.sites[k.site[i]].add(own.sum, own.square)
		ofSites[k.site[i]].add(own, k.kinds[i])
	}
	for i, own := range s.sites {
		all.add(own.sum, own.square)
		between.add(own, k.sites[i])
	}
	mean := all.sum / math.Max(1, k.all)
	weight := between.weight(all, k.all)
	for i, own := range s.sites {
		s.siteMean[i] = towards(own.sum, k.sites[i], mean, weight)
	}
	for i, own := range s.kinds {
		site := k.site[i]
		s.kindMean[i] = towards(own.sum, k.kinds[i], s.siteMean[site], ofSites[site].weight(s.sites[site], k.sites[site]))
		s.within[i].square = s.within[i].weight(own, k.kinds[i])
	}
}

func (s *sums) add(sum, square float64) {
	s.sum += sum
	s.square += square
}

// add takes in one group: n samples.
func (m *moments) add(s sums, n float64) {
	if n > 1 {
		m.square += math.Max(0, s.square-s.sum*s.sum/n)
		m.freedom += n - 1
	}
}

// weight returns how many samples the mean of all n is worth for each group: the variance within groups over that
// between them. With few degrees of freedom the variance within is drawn to the total one, by one sample: groups are
// alike unless their samples say otherwise.
func (m *moments) weight(all sums, n float64) float64 {
	if n < 2 {
		return math.Inf(1)
	}
	total := math.Max(0, all.square-all.sum*all.sum/n) / (n - 1)
	within := (m.square + total) / (m.freedom + 1)
	if total <= 0 || within >= total {
		return math.Inf(1)
	}
	return within / (total - within)
}

// towards returns the mean of n samples, drawn to a wider mean that is worth weight samples.
func towards(sum, n, wider, weight float64) float64 {
	if math.IsInf(weight, 1) || n == 0 {
		return wider
	}
	return (sum + weight*wider) / (n + weight)
}

// grow returns a list of n zeros, in the memory of an old one if that suffices.
func grow[T any](list []T, n int) []T {
	if cap(list) < n {
		return make([]T, n)
	}
	list = list[:n]
	clear(list)
	return list
}
