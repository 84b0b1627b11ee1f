package experiment

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"whatif/internal/hint"
	"whatif/internal/ledger"
	"whatif/internal/point"
	"whatif/internal/point/source"
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

	mu      sync.Mutex
	specs   []point.Spec // of the run, by number; those from taken on are new
	taken   int
	met     map[string]bool // names of points that were found, counted or not
	pending bool            // the program has a table, or may ask for one: points will come
	only    bool            // executions are measured: points that come are just told
	told    map[string]bool // warnings
}

// countsSource tells whether points in the source matter for a session.
func countsSource(cfg *Config) bool {
	if cfg.List {
		return false
	}
	return len(cfg.Points) == 0 || slices.ContainsFunc(cfg.Points, func(s point.Spec) bool { return s.Kind == point.Source })
}

func newCounters(l *ledger.Ledger, cfg *Config) *counters {
	return &counters{
		ledger: l, cfg: cfg, all: len(cfg.Points) == 0 && !cfg.List, off: !countsSource(cfg), specs: slices.Clone(cfg.Points), taken: len(cfg.Points),
		met: make(map[string]bool), told: make(map[string]bool),
	}
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
		if err := c.file(path, kernelDev(st.Dev), st.Ino); err != nil {
			return err
		}
	}
	c.only = c.all && len(c.specs) == 0 && !c.pending
	for _, spec := range c.specs {
		if spec.Kind != point.Source || c.pending || c.met[spec.Event] {
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

// file tells the kernel side where a file counts.
func (c *counters) file(path string, dev uint32, inode uint64) error {
	f, err := object.Open(path)
	if err != nil {
		c.cfg.Log.Debug("looking for progress points in the source", "path", path, "error", err)
		return c.ledger.SetFile(dev, inode, ledger.CounterFile{})
	}
	defer f.Close()
	found := source.Read(f)
	for _, text := range found.Warnings {
		c.warn("%s", text)
	}
	value := ledger.CounterFile{From: found.Code.From, To: found.Code.To, Ahead: found.Code.Ahead}
	room := ledger.MaxCounters
	for _, at := range found.Tables {
		c.pending = true
		if room >= ledger.TableCounters {
			room -= ledger.TableCounters
			value.Counters = append(value.Counters, ledger.Counter{Address: at})
		}
	}
	lost := 0
	for _, k := range found.Counters {
		n := c.point(k.Name, k.Event)
		if n < 0 {
			continue
		}
		if room == 0 {
			lost++
			continue
		}
		room--
		value.Counters = append(value.Counters, ledger.Counter{Address: k.Address, Point: n, Shards: k.Shards})
	}
	if lost > 0 {
		c.warn("%s has %d places too many that visit progress points in its source: they are not counted; %d can be", path, lost, ledger.MaxCounters)
	}
	if c.only && !found.None() {
		c.suggest(path, found.Counters)
	}
	err = c.ledger.SetFile(dev, inode, value)
	if errors.Is(err, ledger.ErrCountersFull) {
		c.warn("progress points of %s are not counted: %v", path, err)
		return c.ledger.SetFile(dev, inode, ledger.CounterFile{})
	}
	return err
}

// point is the number of the point that an event of a name visits, or negative.
func (c *counters) point(name string, event source.Event) int {
	c.met[name] = true
	for i, s := range c.specs {
		if s.Kind == point.Source && s.Event == name && (s.Edge == point.Whole && event != source.Begin ||
			s.Edge == point.AtBegin && event == source.Begin || s.Edge == point.AtEnd && event == source.End) {
			return i
		}
	}
	if !c.all || c.only || event == source.Begin {
		return -1
	}
	if len(c.specs) >= ledger.MaxPoints {
		c.warn("the program has more progress points in its source than the %d that can be counted at a time: %s is not; choose with -p NAME", ledger.MaxPoints, name)
		return -1
	}
	c.specs = append(c.specs, point.Spec{Name: name, Text: name, Kind: point.Source, Event: name})
	return len(c.specs) - 1
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
	err = c.file(path, e.Place.Dev, e.Place.Inode)
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
		i := -1
		event := source.Event(n.Event)
		if text := source.Clean(n.Text); text != "" && event >= source.Progress && event <= source.End {
			i = c.point(text, event)
		}
		errs = append(errs, c.ledger.SetName(n, i))
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

// take gives the points that were found since it was called last.
func (c *counters) take() []point.Spec {
	c.mu.Lock()
	defer c.mu.Unlock()
	fresh := slices.Clone(c.specs[c.taken:])
	c.taken = len(c.specs)
	return fresh
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
