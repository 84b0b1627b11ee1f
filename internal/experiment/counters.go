package experiment

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"whatif/internal/hint"
	"whatif/internal/kerneltypes"
	"whatif/internal/ledger"
	"whatif/internal/point"
	"whatif/internal/point/source"
	"whatif/internal/profile"
	"whatif/internal/spelling"
	"whatif/internal/symbol/object"
	"whatif/internal/target"
)

// counters are the progress points in the program's source: which files have some,
// and which of them are points of the run.
type counters struct {
	ledger *ledger.Ledger
	cfg    *Config
	// all: every point that is found is one of the run, because none was named.
	all bool
	off bool // none is counted

	// When the first of the places of each point was found, on the ledger's clock. Not under mu, which may be held for as
	// long as a file is looked through: the loop of experiments asks for it all the time.
	found struct {
		sync.Mutex
		at []uint64
	}

	mu      sync.Mutex
	specs   []point.Spec // of the run, by number; those from taken on are new
	taken   int
	places  []int             // of the code or of tables, that visit each of specs
	pairs   []profile.Latency // that were found in the source; those from paired on are new
	paired  int
	timed   ledger.Points // those whose visits' moments matter: ends of latencies that were asked for
	keys    map[int]keyed // of those: what their places have
	files   map[fileID]lookedInto
	met     map[string]bool // names of points that were found, counted or not
	events  map[event]bool  // and what happens there
	pending bool            // the program has a table, or may ask for one: points will come
	only    bool            // executions are measured: points that come are just told
	told    map[string]bool // warnings
}

// fileID is a file as stat has it. The next that is given its number has another time.
type fileID struct {
	dev, inode uint64
	changed    unix.Timespec
}

// lookedInto is what is known of a file.
type lookedInto struct {
	is     ledger.File // zero: no ELF file
	counts ledger.CounterFile
}

// event is what happens at points of a name.
type event struct {
	name string
	kind source.Event
}

// keyed is which ways of telling what belongs together an end has.
type keyed uint8

const (
	byThread keyed = 1 << iota
	byKey
)

// countsSource tells whether points in the source matter for a session.
func countsSource(cfg *Config) bool {
	if cfg.List || cfg.noSource {
		return false
	}
	return len(cfg.Points) == 0 || slices.ContainsFunc(cfg.Points, func(s point.Spec) bool { return s.Kind == point.Source })
}

// checkSource sees to it that none are looked for where the kernel cannot count them.
func checkSource(cfg *Config) error {
	if !countsSource(cfg) {
		return nil
	}
	types, err := kerneltypes.Get()
	if err != nil || types.ListsMappings() {
		return err
	}
	if len(cfg.Points) > 0 {
		return hint.New(errors.New("counting points in the program's source: this kernel does not tell what a process has mapped"),
			"use Linux 6.7 or newer, or count something else: -p func:NAME, -p syscall:NAME and others")
	}
	cfg.noSource = true
	return nil
}

func newCounters(l *ledger.Ledger, cfg *Config) *counters {
	c := &counters{
		ledger: l, cfg: cfg, all: len(cfg.Points) == 0 && !cfg.List, off: !countsSource(cfg), specs: slices.Clone(cfg.Points), taken: len(cfg.Points),
		places: make([]int, len(cfg.Points)), keys: make(map[int]keyed), files: make(map[fileID]lookedInto),
		met: make(map[string]bool), events: make(map[event]bool), told: make(map[string]bool),
	}
	c.found.at = make([]uint64, len(cfg.Points))
	for i, s := range c.specs {
		l, _ := cfg.latencyOf(i)
		switch {
		case l == nil:
		case s.Kind == point.Source:
			c.timed |= 1 << i
		case cfg.argument(i) > 0:
			c.keys[i] = byKey
		default:
			c.keys[i] = byThread
		}
	}
	return c
}

// atStart looks into the program and the libraries that it will load.
func (c *counters) atStart(paths []string) error {
	if c.off {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, path := range paths {
		var st unix.Stat_t
		if err := unix.Stat(path, &st); err != nil {
			continue // whoever opens it says so
		}
		// Where the kernel has another number for the file system it will ask.
		if err := c.file(path, ledger.FileKey(ledger.File{Dev: kernelDev(st.Dev), Inode: st.Ino}, st.Ctim.Nano()), ledger.File{}); err != nil {
			return err
		}
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
		// A library that is loaded later, or another program, may have it; but not
		// where it is one slip away from one that is there.
		if near := nearest(spec.Event, c.met); near != "" {
			return hint.New(fmt.Errorf("resolving progress point %s: %s has none of that name", spec.Text, paths[0]), "did you mean "+near+"?")
		}
	}
	return nil
}

// checkEdge refuses an end of a pair whose name is not that of a pair.
func (c *counters) checkEdge(spec point.Spec) error {
	has := func(kind source.Event) bool { return c.events[event{spec.Event, kind}] }
	if spec.Kind != point.Source || !c.met[spec.Event] || spec.Edge == point.AtBegin && has(source.Begin) || spec.Edge == point.AtEnd && has(source.End) || spec.Edge == point.Whole {
		return nil
	}
	err := fmt.Errorf("resolving progress point %s: %s in the source has no %s", spec.Text, spec.Event, spec.Edge)
	return hint.New(err, "a latency needs a pair, WHATIF_BEGIN(\"NAME\") and WHATIF_END(\"NAME\"), or two points: -l NAME=BEGIN..END")
}

// checkKeys refuses latencies of which one end tells what belongs together by an id, and
// the other does not.
func (c *counters) checkKeys() error {
	for _, l := range latencies(c.cfg) {
		begin, end := c.keys[l.Begin], c.keys[l.End]
		if begin == 0 || end == 0 || begin&end != 0 {
			continue
		}
		err := fmt.Errorf("measuring from %s to %s: only one of them has a key", c.specs[l.Begin].Text, c.specs[l.End].Text)
		return hint.New(err, "give both an id, WHATIF_BEGIN_ID and WHATIF_END_ID, or %argN to a function; or neither")
	}
	return nil
}

// kernelDev is a device number as the kernel has it inside.
func kernelDev(dev uint64) uint32 { return unix.Major(dev)<<20 | unix.Minor(dev) }

// nearest is the name that differs in case or in one or two slips.
func nearest(name string, from map[string]bool) string {
	slips := min(2, len(name)/3)
	for _, other := range slices.Sorted(maps.Keys(from)) {
		if strings.EqualFold(name, other) || spelling.Distance(name, other, slips) <= slips {
			return other
		}
	}
	return ""
}

// file tells the kernel side, which knows it by a key, where a file counts. It has to be the one that is
// meant, if that is not zero.
func (c *counters) file(path string, key ledger.Place, meant ledger.File) error {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return fmt.Errorf("looking at %s: %w", path, err)
	}
	id := fileID{st.Dev, st.Ino, st.Ctim}
	found, known := c.files[id]
	if !known {
		var err error
		found, err = c.look(path, meant)
		if errors.Is(err, ledger.ErrCountersFull) {
			c.warn("progress points of %s are not counted: %v", path, err)
		} else if err != nil {
			return err
		}
		c.files[id] = found
	}
	if err := meantFile(found.is, meant); err != nil {
		return err
	}
	return c.ledger.SetFile(key, found.counts)
}

// meantFile refuses a file that is another one than was meant: see sameFile. What is no ELF file is not told apart.
func meantFile(is, meant ledger.File) error {
	if none := (ledger.File{}); is != meant && is != none && meant != none {
		return errOtherFile
	}
	return nil
}

// look finds what a file counts.
func (c *counters) look(path string, meant ledger.File) (found lookedInto, err error) {
	f, err := object.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return found, err // its process is gone
	}
	if err != nil {
		c.cfg.Log.Debug("looking for progress points in the source", "path", path, "error", err)
		return found, nil
	}
	defer f.Close()
	if found.is, err = c.ledger.Identify(f.Image); err != nil {
		return found, err
	}
	if err := meantFile(found.is, meant); err != nil {
		return found, err
	}
	found.counts, err = c.read(path, f, found.is)
	return found, err
}

// read finds what a file counts, which is open.
func (c *counters) read(path string, f *object.File, is ledger.File) (none ledger.CounterFile, err error) {
	found := source.Read(f)
	for _, text := range found.Warnings {
		c.warn("%s", text)
	}
	var all []ledger.Counter
	var timed []timedSite
	room := ledger.MaxCounters
	for _, at := range found.Tables {
		c.pending = true
		if room >= ledger.TableCounters {
			room -= ledger.TableCounters
			timed = append(timed, timedSite{number: len(all), table: true})
			all = append(all, ledger.Counter{Address: at})
		}
	}
	lost := 0
	for _, k := range found.Counters {
		points := c.points(k.Name, k.Event)
		if points == 0 {
			continue
		}
		if room == 0 {
			lost++
			continue
		}
		room--
		if points&c.timed != 0 {
			timed = append(timed, timedSite{number: len(all), Counter: k})
			c.hasKey(points, k.Keyed)
		}
		all = append(all, ledger.Counter{Address: k.Address, Site: k.Site, Points: points, Shards: k.Shards})
	}
	if lost > 0 {
		c.warn("%s has %d places too many that visit progress points in its source: they are not counted; %d can be", path, lost, ledger.MaxCounters)
	}
	if c.only && !found.None() {
		c.suggest(path, found.Counters)
	}
	added, err := c.ledger.AddCounters(all)
	if err != nil {
		return none, err
	}
	if err := c.time(f, is, added, timed); err != nil {
		c.warn("when progress points of %s are visited is not known, only how often: %v", path, err)
	}
	return ledger.CounterFile{From: found.Code.From, To: found.Code.To, Ahead: found.Code.Ahead, Counters: added}, nil
}

// points is those that an event of a name visits.
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

// add makes a point of what was found, and a latency of a pair.
func (c *counters) add(name string, kind source.Event) ledger.Points {
	spec := point.Spec{Name: name, Text: name, Kind: point.Source, Event: name}
	if kind == source.Begin {
		spec.Name, spec.Text, spec.Edge = name+"/begin", name+"%begin", point.AtBegin
		if c.begins() == MaxLatencies {
			c.warn("the program has more pairs in its source than the %d whose latency can be measured at a time: that of %s is not; choose with -l NAME", MaxLatencies, name)
			return 0
		}
	}
	if len(c.specs) >= ledger.MaxPoints {
		c.warn("the program has more progress points in its source than the %d that can be counted at a time: %s is not; choose with -p NAME", ledger.MaxPoints, name)
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

// begins is how many of the points are where something begins.
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
		return s.Kind == point.Source && s.Event == spec.Event && (s.Edge == point.AtBegin) != (spec.Edge == point.AtBegin)
	})
}

// mapped answers for a file that a process has mapped.
func (c *counters) mapped(e ledger.Event) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	path, err := target.MappedFile(e.Process, e.Address)
	if err != nil {
		// The process is gone: the next that maps the file asks again.
		return errors.Join(err, c.ledger.ForgetFile(e.Place))
	}
	before := len(c.met)
	if err = c.file(path, e.Place, e.File()); errors.Is(err, os.ErrNotExist) || errors.Is(err, errOtherFile) {
		return errors.Join(err, c.ledger.ForgetFile(e.Place))
	}
	if _, gone := target.Executable(e.Process); gone != nil && len(c.met) > before {
		c.warn("a process with %s was gone before the progress points in its source were found: its visits are not counted", path)
	}
	return err
}

// named answers for names that a program has given to points.
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
		if text := source.Clean(n.Text); text != "" && kind >= source.Progress && kind <= source.End {
			points = c.points(text, kind)
		}
		errs = append(errs, c.ledger.SetName(n, points))
	}
	return errors.Join(errs...)
}

// suggest tells of points that were found when it was too late to measure by them.
func (c *counters) suggest(path string, found []source.Counter) {
	var names []string
	for _, k := range found {
		if !slices.Contains(names, k.Name) {
			names = append(names, k.Name)
		}
	}
	const enough = 5
	if len(names) > enough {
		names = append(names[:enough], "...")
	}
	c.warn("%s has progress points in its source, which were not known when it was started: name those to count with -p NAME (%s)", path, strings.Join(names, ", "))
}

// warn is called with mu held. The text is told once.
func (c *counters) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !c.told[text] {
		c.told[text] = true
		c.cfg.Log.Warn(text)
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

// foundAt is when point i was first found in the source; 0: not yet.
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

// hasCoz tells whether a program, or a library that it loads, was compiled with
// COZ's macros.
func hasCoz(paths []string) bool {
	for _, path := range paths {
		f, err := object.Open(path)
		if err != nil {
			continue
		}
		asks := source.AsksForCoz(f)
		f.Close()
		if asks {
			return true
		}
	}
	return false
}
