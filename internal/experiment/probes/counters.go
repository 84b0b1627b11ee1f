package probes

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"whatif/internal/hint"
	"whatif/internal/ledger"
	"whatif/internal/point"
	"whatif/internal/point/source"
	"whatif/internal/profile"
	"whatif/internal/spelling"
)

// counters are the progress points in the program's source: which files have some, and which of them are points of the
// run.
type counters struct {
	ledger  *ledger.Ledger
	options Options
	off     bool // none is counted
	all     bool // no point was named: each that is found is one of the run

	// found has its own lock, as the loop of experiments asks for it all the time, and mu may be locked for as long as a
	// file is looked through.
	found struct {
		sync.Mutex
		at []uint64 // when the first place of each point was found, on the ledger's clock
	}

	mu      sync.Mutex
	specs   []point.Spec      // of the run, by number; take has not given those from taken on
	taken   int               // of specs
	places  []int             // by how many places, of the code or of tables, each of specs is visited
	pairs   []profile.Latency // that were found in the source; take has not given those from paired on
	paired  int               // of pairs
	timed   ledger.Points     // ends of latencies that the user named: it matters when these are visited
	keys    map[int]keyed     // of the timed points: what their places have
	files   map[fileID]lookedInto
	met     map[string]bool // names of points that were found, counted or not
	events  map[event]bool  // what happens at these points
	pending bool            // points will come: the program has a table, or may ask for one
	only    bool            // whole executions are measured, so points that come are only told
	told    map[string]bool // warnings

	javaPrefix string          // of the names in tables that count points in Java code; their number follows
	javaRead   map[string]bool // such names that were read
}

// event is what happens at points of a name.
type event struct {
	name string
	kind source.Event
}

// keyed is how it is known which begin an end belongs to.
type keyed uint8

const (
	byThread keyed = 1 << iota
	byKey
)

func newCounters(l *ledger.Ledger, o Options, e ends) *counters {
	c := &counters{
		ledger: l, options: o, off: !o.Source, all: o.Source && len(o.Points) == 0,
		specs: slices.Clone(o.Points), taken: len(o.Points), places: make([]int, len(o.Points)),
		keys: make(map[int]keyed), files: make(map[fileID]lookedInto),
		met: make(map[string]bool), events: make(map[event]bool), told: make(map[string]bool),
		javaPrefix: javaName(), javaRead: make(map[string]bool),
	}
	c.found.at = make([]uint64, len(o.Points))
	for i, s := range c.specs {
		l, _ := e.of(i)
		switch {
		case l == nil:
		case s.Kind == point.Source:
			c.timed |= 1 << i
		case e.argument(i) > 0:
			c.keys[i] = byKey
		default:
			c.keys[i] = byThread
		}
	}
	return c
}

// atStart looks into files that are loaded when the program starts. It refuses points that they cannot have.
func (c *counters) atStart(paths []string) error {
	if c.off {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.filesAtStart(paths); err != nil {
		return err
	}
	c.only = c.all && len(c.specs) == 0 && !c.pending
	if err := c.checkKeys(); err != nil {
		return err
	}
	for _, spec := range c.specs {
		if spec.Kind != point.Source || c.pending || c.met[spec.Event] {
			if err := c.checkEdge(spec); err != nil && !c.pending {
				return err
			}
			continue
		}
		// A library that is loaded later, or another program, may have the point. But a name that differs by a slip from
		// one that is there is taken for a mistake.
		if near := nearest(spec.Event, c.met); near != "" {
			err := fmt.Errorf("resolving progress point %s: %s has none of that name", spec.Text, paths[0])
			return hint.New(err, "did you mean "+near+"?")
		}
	}
	return nil
}

// checkEdge refuses an end of a pair if the points of its name are no pair.
func (c *counters) checkEdge(spec point.Spec) error {
	if spec.Kind != point.Source || !c.met[spec.Event] {
		return nil
	}
	has := func(kind source.Event) bool { return c.events[event{spec.Event, kind}] }
	switch {
	case spec.Edge == point.Whole,
		spec.Edge == point.AtBegin && has(source.Begin),
		spec.Edge == point.AtEnd && has(source.End):
		return nil
	}
	err := fmt.Errorf("resolving progress point %s: %s in the source has no %s", spec.Text, spec.Event, spec.Edge)
	return hint.New(err,
		"a latency needs a pair, WHATIF_BEGIN(\"NAME\") and WHATIF_END(\"NAME\"), or two points: -l NAME=BEGIN..END")
}

// checkKeys refuses latencies with an id at one end, by which begins and ends are matched, and none at the other.
func (c *counters) checkKeys() error {
	for _, l := range endsOf(c.options).all() {
		begin, end := c.keys[l.Begin], c.keys[l.End]
		if begin == 0 || end == 0 || begin&end != 0 {
			continue
		}
		err := fmt.Errorf("measuring from %s to %s: only one of them has a key", c.specs[l.Begin].Text, c.specs[l.End].Text)
		return hint.New(err, "give both an id, WHATIF_BEGIN_ID and WHATIF_END_ID, or %argN to a function; or neither")
	}
	return nil
}

// nearest is the name that differs from this one in case only, or by one or two slips.
func nearest(name string, from map[string]bool) string {
	slips := min(2, len(name)/3)
	for _, other := range slices.Sorted(maps.Keys(from)) {
		if strings.EqualFold(name, other) || spelling.Distance(name, other, slips) <= slips {
			return other
		}
	}
	return ""
}

// points are those that an event of a name visits. The caller has found one more place of them.
func (c *counters) points(name string, kind source.Event) (set ledger.Points) {
	c.met[name] = true
	c.events[event{name, kind}] = true
	for i, s := range c.specs {
		if s.Kind == point.Source && s.Event == name && (s.Edge == point.Whole && kind != source.Begin ||
			s.Edge == point.AtBegin && kind == source.Begin || s.Edge == point.AtEnd && kind == source.End) {
			set |= 1 << i
		}
	}
	if set == 0 && c.all && !c.only {
		set = c.add(name, kind)
	}
	for i := range c.places {
		if set>>i&1 != 0 {
			c.places[i]++
			if c.foundAt(i) == 0 {
				c.setFound(i)
			}
		}
	}
	return set
}

// add makes a point of the run of what was found, and a latency of a pair.
func (c *counters) add(name string, kind source.Event) ledger.Points {
	spec := point.Spec{Name: name, Text: name, Kind: point.Source, Event: name}
	if kind == source.Begin {
		spec.Name, spec.Text, spec.Edge = name+"/begin", name+"%begin", point.AtBegin
		if c.begins() == ledger.MaxSpans {
			c.warn("the program has more pairs in its source than the %d whose latency can be measured at a time: "+
				"that of %s is not; choose with -l NAME", ledger.MaxSpans, name)
			return 0
		}
	}
	if len(c.specs) >= ledger.MaxPoints {
		c.warn("the program has more progress points in its source than the %d that can be counted at a time: "+
			"%s is not; choose with -p NAME", ledger.MaxPoints, name)
		return 0
	}
	n := len(c.specs)
	c.specs = append(c.specs, spec)
	c.places = append(c.places, 0)
	c.found.Lock()
	c.found.at = append(c.found.at, 0)
	c.found.Unlock()
	if other := c.other(spec); other >= 0 && kind != source.Progress {
		l := profile.Latency{Name: name, Spec: name, Begin: n, End: other, Found: true}
		if kind == source.End {
			l.Begin, l.End = other, n
		}
		c.pairs = append(c.pairs, l)
	}
	return 1 << n
}

// begins is at how many of the points something begins.
func (c *counters) begins() (n int) {
	for _, s := range c.specs {
		if s.Edge == point.AtBegin {
			n++
		}
	}
	return n
}

// other is the point at the other end of a pair that was found, or negative.
func (c *counters) other(spec point.Spec) int {
	return slices.IndexFunc(c.specs, func(s point.Spec) bool {
		sameEdge := (s.Edge == point.AtBegin) == (spec.Edge == point.AtBegin)
		return s.Kind == point.Source && s.Event == spec.Event && !sameEdge
	})
}

// named tells the kernel side which points the names are that a program has given since.
func (c *counters) named() error {
	if c.off {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	names, err := c.ledger.NewNames()
	errs := []error{err}
	for _, n := range names {
		var points ledger.Points
		kind := source.Event(n.Event)
		text := source.Clean(n.Text)
		if strings.HasPrefix(text, c.javaPrefix) {
			points = c.javaPoint(text)
		} else if text != "" && kind >= source.Progress && kind <= source.End {
			points = c.points(text, kind)
		}
		errs = append(errs, c.ledger.SetName(n, points))
	}
	return errors.Join(errs...)
}

// javaPoint is the point in Java code that has a name in a table. The caller holds mu.
func (c *counters) javaPoint(name string) ledger.Points {
	c.javaRead[name] = true
	i, err := strconv.Atoi(strings.TrimPrefix(name, c.javaPrefix))
	if err != nil || i < 0 || i >= len(c.options.Points) {
		return 0
	}
	return 1 << i
}

// hasRead tells whether the kernel side has read a counter for Java code, by its name.
func (c *counters) hasRead(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.javaRead[name]
}

// inJava takes in that Java code has a point, at some places more.
func (c *counters) inJava(i, places int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.places[i] += places
	if c.foundAt(i) == 0 {
		c.setFound(i)
	}
}

// warnOf tells a text once.
func (c *counters) warnOf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.warn(format, args...)
}

// warn tells a text once. The caller holds mu.
func (c *counters) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !c.told[text] {
		c.told[text] = true
		c.options.Log.Warn(text)
	}
}

// take gives the points that were found since it was called last, and the latencies.
func (c *counters) take() (points []point.Spec, pairs []profile.Latency) {
	c.mu.Lock()
	defer c.mu.Unlock()
	points, pairs = slices.Clone(c.specs[c.taken:]), slices.Clone(c.pairs[c.paired:])
	c.taken, c.paired = len(c.specs), len(c.pairs)
	return points, pairs
}

// foundAt is when point i was first found in the source, on the ledger's clock; 0: it was not.
func (c *counters) foundAt(i int) uint64 {
	c.found.Lock()
	defer c.found.Unlock()
	return c.found.at[i]
}

func (c *counters) setFound(i int) {
	c.found.Lock()
	defer c.found.Unlock()
	c.found.at[i] = ledger.Now()
}

// counts is at how many places each point was found.
func (c *counters) counts() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.places)
}

// expected tells whether points will come that are not known yet.
func (c *counters) expected() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all && c.pending && !c.only
}

// unknown are the points by name alone that nothing has in its source so far. There are none where the program gives
// names while it runs.
func (c *counters) unknown() (specs []point.Spec) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.specs {
		byName := s.Kind == point.Source && s.Edge == point.Whole && !strings.HasPrefix(s.Text, string(point.Source)+":")
		if byName && !c.pending && !c.met[s.Event] {
			specs = append(specs, s)
		}
	}
	return specs
}

// missing is the error for points by name that nothing had.
func (c *counters) missing() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, s := range c.specs {
		if s.Kind == point.Source && !c.met[s.Event] {
			errs = append(errs, fmt.Errorf("resolving progress point %s: nothing that ran had it in its source", s.Text))
		} else if err := c.checkEdge(s); err != nil {
			errs = append(errs, err)
		}
	}
	what := "the source names points with WHATIF_PROGRESS(\"NAME\") and the like"
	if len(c.met) > 0 {
		what = "points in the source: " + strings.Join(slices.Sorted(maps.Keys(c.met)), ", ")
	}
	return hint.New(errors.Join(errs...), what)
}
