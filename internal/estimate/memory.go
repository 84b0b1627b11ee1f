package estimate

import (
	"math"
	"slices"

	"whatif/internal/analyze"
	"whatif/internal/analyze/student"
	"whatif/internal/recording"
)

// memoryWaits is which part of the time at each stack waits for memory.
type memoryWaits struct {
	known bool
	share [3][]float64 // by stack: at least, most likely, at most
}

// The numbers of memoryWaits.share.
const (
	atLeast = iota
	mostLikely
	atMost
)

// site is the code of one function, as its samples show it.
type site struct {
	samples float64                         // with a known instruction
	behind  float64                         // of them behind an access of memory
	nearby  float64                         // the share of instructions behind one, added up over samples
	read    [len(recording.ReadAfter)][]int // by how many ns reading lines took longer than at once again
}

// measureMemory finds out what the samples of a recording say.
func measureMemory(r *recording.Recording) (m memoryWaits) {
	sites := map[recording.Frame]*site{}
	of := make([]*site, len(r.Stacks))
	for i, s := range r.Stacks {
		f := innermost(r, s)
		if f == nil {
			continue
		}
		key := recording.Frame{Function: f.Function, Binary: f.Binary, File: f.File}
		if sites[key] == nil {
			sites[key] = &site{}
		}
		of[i] = sites[key]
	}
	var whole site
	all := 0.0
	for i := range r.Windows {
		for j := range r.Windows[i].Events {
			e := &r.Windows[i].Events[j]
			if e.Kind != recording.Sample || e.Stack < 0 || int(e.Stack) >= len(of) || of[e.Stack] == nil {
				continue
			}
			f := innermost(r, r.Stacks[e.Stack])
			all++
			whole.take(f, e)
			of[e.Stack].take(f, e)
		}
	}
	m.known = all > 0 && whole.samples >= leastKnown*all
	c := newCaches(r, &whole)
	for i := range m.share {
		m.share[i] = make([]float64, len(r.Stacks))
	}
	for i, s := range of {
		m.share[atLeast][i], m.share[mostLikely][i], m.share[atMost][i] = c.judge(s)
	}
	return m
}

// innermost is the frame that a sample met; nil: there is none.
func innermost(r *recording.Recording, s recording.Stack) *recording.Frame {
	if len(s) == 0 || s[0] < 0 || int(s[0]) >= len(r.Frames) {
		return nil
	}
	return &r.Frames[s[0]]
}

// leastKnown is the part of the samples of which the instruction must be known, so that anything is said: with less,
// most of the time is in code that whatif cannot read, such as that of a runtime that compiles.
const leastKnown = 0.5

func (s *site) take(f *recording.Frame, e *recording.Event) {
	if f.Access != recording.UnknownAccess {
		s.samples++
		s.nearby += float64(f.Nearby-1) / 100
		if f.Access == recording.BehindAccess {
			s.behind++
		}
	}
	all, again := e.Reading()
	for i, ns := range all {
		if ns > 0 && again > 0 {
			s.read[i] = append(s.read[i], ns-again)
		}
	}
}

// caches are what readings are compared with.
type caches struct {
	// refill is the part of the time for which the core may wait, for each ns that lines of the sample before take
	// longer; 0: not known.
	refill float64
	whole  float64 // the part of the whole recording; NaN: not known
}

// Reading lines from the second cache instead of the first one takes some ns longer for each: 10 cycles at 2 to 5 GHz.
const secondCache = 4 * linesRead

// linesRead is how many lines a reading reads: see bpf/record/lines.h.
const linesRead = 8

// leastReadings is how many readings are needed.
const leastReadings = 20

func newCaches(r *recording.Recording, whole *site) caches {
	const line = 64
	c := caches{whole: math.NaN()}
	if r.Cache > 0 && r.Period > 0 {
		c.refill = float64(r.Cache) / line / linesRead / float64(r.Period)
		c.whole = c.refilled(whole)
	}
	return c
}

// refilled is the part of the time in which a core waits at most, if it waits for each line that the program replaces
// in the core's own caches; NaN: not known.
//
// If a line is replaced in some time with the chance p, reading it takes p times the latency of what is beyond the
// caches longer, on average. The program has then replaced p times all lines of the caches, and has waited for each of
// them at most that latency: as much longer as reading the lines of the whole cache would take. Caches replace what
// was not read for long, so p is less for young lines: that of the age at which it says most counts. What else runs,
// on the core's other thread or on the host of a virtual machine, replaces lines, too, but not always: the quickest
// tenth of the readings counts.
func (c *caches) refilled(s *site) float64 {
	part := math.NaN()
	for i, after := range recording.ReadAfter {
		if took := quick(s.read[i]); !math.IsNaN(took) && c.refill > 0 {
			now := dearer[i] * math.Max(0, took-secondCache) * c.refill / float64(after)
			if !(now <= part) {
				part = now
			}
		}
	}
	return part
}

// quick is the tenth of some readings.
func quick(list []int) float64 {
	if len(list) < leastReadings {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(list))
	return float64(sorted[len(sorted)/10])
}

// dearer is how many times as long as readings say a program may wait, by the age of the lines. They take it that all
// lines of the caches are replaced alike, and that an access takes as long as theirs. Lines of the sample before are
// read more slowly only if the program replaces very many lines, or, as they are on several pages, translations of
// addresses: if it goes about in memory. Then an access needs a translation, too, and waits 4 to 8 times as long.
// Older lines are also replaced by what the core has fetched in advance, for which it hardly waits.
var dearer = [len(recording.ReadAfter)]float64{8, 3, 3}

// judge gives the part of the time at a site that waits for memory: at least, most likely, at most.
//
// A core that waits for an access is met behind it. So of the time in which it does not wait, the part behind
// accesses is that of the instructions there, and the rest of what is met there is waiting (landed). It may wait for
// its own caches, which is no waiting for memory. So what it waits for memory is bounded by how much of its caches it
// replaces (refilled).
func (c *caches) judge(s *site) (low, share, high float64) {
	if s == nil || s.samples == 0 {
		return 0, 0, 1
	}
	behind, nearby := s.behind/s.samples, s.nearby/s.samples
	free := math.Max(1-nearby, 0.01)
	landed := math.Max(0, behind-nearby) / free
	error := student.Normal(analyze.Alpha) * math.Sqrt(math.Max(behind*(1-behind), 1/s.samples)/s.samples) / free

	share = math.Pow(landed, uneven)
	high = math.Min(1, share+error+notMet)
	refilled := c.refilled(s)
	if math.IsNaN(refilled) {
		refilled = c.whole
	}
	if math.IsNaN(refilled) { // nothing bounds it
		return 0, share / 2, high
	}
	share = math.Min(share, refilled)
	high = math.Min(high, refilled+notMet)
	low = math.Max(0, (1-own)*math.Min(share, refilled/4)-error-notMet)
	return low, share, high
}

// What samples leave open, learned from kernels with data that were really made smaller (accuracy/memory).
const (
	// Instructions behind accesses are met more often than others also if the core's own caches have the data: of a loop
	// that seems to wait for a third of its time it is mostly that.
	uneven = 1.5
	own    = 0.3 // the part of the waiting that is for the core's own caches
	notMet = 0.1 // waiting that is met elsewhere: behind the branch that needs the data, for instance
)

// of is the part of the time at some stacks, of which nil are all, that waits for memory, in percent.
func (m *memoryWaits) of(stacks []bool, samples []int64) (e analyze.Estimate) {
	if !m.known {
		return e
	}
	var n float64
	var sums [3]float64
	for i := range samples {
		if stacks != nil && !stacks[i] {
			continue
		}
		n += float64(samples[i])
		for k := range sums {
			sums[k] += float64(samples[i]) * m.share[k][i]
		}
	}
	if n == 0 {
		return e
	}
	return analyze.Estimate{Value: 100 * sums[mostLikely] / n, Low: 100 * sums[atLeast] / n, High: 100 * sums[atMost] / n,
		Known: true, Bounded: true}
}
