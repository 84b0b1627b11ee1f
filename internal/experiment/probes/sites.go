package probes

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"whatif/internal/code/symbol"
	"whatif/internal/hint"
	"whatif/internal/ledger"
	"whatif/internal/point"
	"whatif/internal/target"
)

// sites puts probes on the points in the code of each binary of the target: of the program before it runs, of a program
// that a descendant executes when it does so, of a library when it is first sampled.
type sites struct {
	ledger  *ledger.Ledger
	options Options
	ends    ends

	mu sync.Mutex
	// Files are told apart by their numbers, as the kernel does. In a container, or where a directory is mounted once
	// more, a file has another path, and a probe for each path would count each visit several times.
	seen      map[ledger.File]unix.Timespec // binaries that were looked into, and when each had changed last
	pinned    map[ledger.File]bool          // files with a probe: no other file gets their number
	probed    []int                         // how many probes each point has
	before    []point.Before                // where each was found
	failure   []error                       // why the program itself does not have it
	found     []uint64                      // when each point was first probed, on the ledger's clock
	keyed     map[place][]int               // ends of latencies, by the places that are probed for them
	placed    map[probed]bool               // programs share libraries
	sleeps    map[ledger.File]bool          // binaries whose goroutines' sleep is followed
	followed  map[ledger.File]bool          // binaries whose goroutines are followed when they wait for each other
	following *followWatch                  // nil: none are followed
	closed    bool
}

// place is an offset in a file.
type place struct {
	file     ledger.File
	offset   uint64
	atReturn bool
}

// probed is a point at a place.
type probed struct {
	point int
	at    place
}

func newSites(l *ledger.Ledger, o Options, e ends) *sites {
	n := len(o.Points)
	return &sites{
		ledger: l, options: o, ends: e,
		seen:     make(map[ledger.File]unix.Timespec),
		pinned:   make(map[ledger.File]bool),
		probed:   make([]int, n),
		before:   make([]point.Before, n),
		failure:  make([]error, n),
		found:    make([]uint64, n),
		keyed:    make(map[place][]int),
		placed:   make(map[probed]bool),
		sleeps:   make(map[ledger.File]bool),
		followed: make(map[ledger.File]bool),
	}
}

// atStart looks into the programs and the libraries that they load. A program with symbols must have every point,
// itself or in one of these libraries. A point may still come where a program has no symbols, as a shell or a launcher:
// it may start another program; where a program loads libraries while it runs; where the point is named with its
// binary; and where no program is known yet.
func (s *sites) atStart(programs []Program) error {
	different := make([]Program, len(programs))
	files := make([][]ledger.File, len(programs))
	for i, p := range programs {
		var err error
		if different[i], files[i], err = s.distinct(p); err != nil {
			return err
		}
	}
	for i, spec := range s.options.Points {
		if !spec.Probed() {
			continue
		}
		if err := s.inPrograms(i, spec, different, files); err != nil {
			return err
		}
	}
	for i := range programs {
		for k, b := range different[i] {
			s.seen[files[i][k]] = changed(b.Path())
			s.followSleeps(b, files[i][k])
			s.followGoroutines(b, files[i][k])
		}
	}
	return nil
}

// inPrograms probes a point in every program that has it. If none has it, this is an error, or the point may still
// come.
func (s *sites) inPrograms(i int, spec point.Spec, programs []Program, files [][]ledger.File) (failure error) {
	found := false
	for k, p := range programs {
		if spec.InJava() && IsJavaVM(p) { // its own code has no such names, and takes long to look through
			failure = errNoClass(spec)
			continue
		}
		sites, err := point.Resolve(spec, p, &s.before[i])
		if err == nil {
			found = true
			err = s.probe(i, sites, p, files[k])
			if err != nil {
				return err
			}
		} else if failure == nil || errors.As(err, new(*symbol.Ambiguous)) {
			failure = err
		}
	}
	switch {
	case errors.As(failure, new(*symbol.Ambiguous)):
		return hint.New(failure, remedyFor(spec, failure))
	case found || failure == nil && spec.Binary == "":
		return nil
	case spec.Binary != "":
		return s.inNamed(i, spec)
	case spec.InJava() && slices.ContainsFunc(programs, IsJavaVM):
	case HaveSymbols(programs) && !MayComeLater(s.options.Log, failure, programs):
		return hint.New(failure, remedyFor(spec, failure))
	}
	s.failure[i] = failure
	return nil
}

// changed is when a file changed last. The next file that is given its number has another time.
func changed(path string) unix.Timespec {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return unix.Timespec{Nsec: -1} // no file has this time, so the next one of its number is looked into
	}
	return st.Ctim
}

// known reports whether a file was looked into. The caller holds mu.
func (s *sites) known(id ledger.File, changed unix.Timespec) bool {
	then, seen := s.seen[id]
	return seen && (s.pinned[id] || then == changed)
}

// distinct gives the binaries that are different files, and these files. It leaves out a binary with the path of
// another one, too: the path has got another file meanwhile, and sites are told apart by path.
func (s *sites) distinct(program []*symbol.Binary) (different []*symbol.Binary, files []ledger.File, err error) {
	for _, b := range program {
		id, err := s.ledger.Identify(b.Image())
		if err != nil {
			return nil, nil, fmt.Errorf("looking at %s: %w", b.Path(), err)
		}
		samePath := func(other *symbol.Binary) bool { return other.Path() == b.Path() }
		if !slices.Contains(files, id) && !slices.ContainsFunc(different, samePath) {
			different, files = append(different, b), append(files, id)
		}
	}
	return different, files, nil
}

// remedyFor says what to do about a point that the program does not have.
func remedyFor(spec point.Spec, err error) string {
	var ambiguous *symbol.Ambiguous
	switch {
	case errors.As(err, &ambiguous):
		return "name more of the file's path"
	case spec.Kind == point.Line:
		return "name a line with code; it needs debug information (compile with -g)"
	case spec.Kind == point.USDT:
		return "whatif points PROGRAM lists the probes that it has"
	case spec.Return:
		return "the return of a function can be counted in C, C++ and Rust"
	}
	return "whatif points PROGRAM lists some; a function that was inlined everywhere has no entry: count a line of it; " +
		"one of another program that this one starts is named func:PATH:NAME"
}

// inNamed probes the binary that the user named with the point, before the target runs: a process of it may end before
// it could be probed.
func (s *sites) inNamed(i int, spec point.Spec) error {
	b, err := openNamed(spec)
	if err != nil {
		return err
	}
	defer b.Close()
	binaries, files, err := s.distinct([]*symbol.Binary{b})
	if err != nil {
		return err
	}
	found, err := point.Resolve(spec, binaries, &s.before[i])
	if err != nil {
		return err
	}
	return s.probe(i, found, binaries, files)
}

// openNamed opens the binary that the user named with the point.
func openNamed(spec point.Spec) (*symbol.Binary, error) {
	path, err := filepath.Abs(spec.Binary)
	if err != nil {
		return nil, fmt.Errorf("looking for progress point %s: %w", spec.Text, err)
	}
	b, err := symbol.Open(path)
	if err != nil {
		return nil, hint.New(fmt.Errorf("looking for progress point %s: %w", spec.Text, err),
			"name the program or library as it can be opened from here")
	}
	return b, nil
}

// Named opens the binaries that are named with points and are not among the programs: those that a program starts or
// loads later. The caller closes them.
func Named(points []point.Spec, programs []Program) (named []Program, err error) {
	for _, spec := range points {
		has := func(p Program) bool {
			return slices.ContainsFunc(p, func(b *symbol.Binary) bool {
				return symbol.MatchFile(spec.Binary, b.Name()) || symbol.MatchFile(spec.Binary, b.Path())
			})
		}
		if spec.Binary == "" || slices.ContainsFunc(programs, has) || slices.ContainsFunc(named, has) {
			continue
		}
		b, err := openNamed(spec)
		if err != nil {
			for _, p := range named {
				p.Close()
			}
			return nil, err
		}
		named = append(named, Program{b})
	}
	return named, nil
}

// probe sets the probes of point i, each on the cheapest instruction of its site.
func (s *sites) probe(i int, found []point.Site, binaries []*symbol.Binary, files []ledger.File) error {
	if len(found) == 0 { // a library that does not have it
		return nil
	}
	probes := make([]ledger.Probe, 0, len(found))
	for _, site := range found {
		k := slices.IndexFunc(binaries, func(b *symbol.Binary) bool { return b.Path() == site.Binary })
		once := probed{i, place{files[k], site.Offset, site.Return}}
		if s.placed[once] { // in a library that another program loads, too
			continue
		}
		s.placed[once] = true
		p := probeAt(site, binaries[k], s.ends.argument(i) > 0)
		if l, _ := s.ends.of(i); l != nil {
			if err := s.addKey(i, &p, site, binaries[k], files[k]); err != nil {
				return err
			}
		}
		probes = append(probes, p)
		s.pinned[files[k]] = true
		s.before[i].Add(site, binaries[k].Name())
	}
	if len(probes) == 0 {
		return nil
	}
	spec := &s.options.Points[i]
	err := s.ledger.MeasureProbes(probes, target.OwnCode)
	if err == nil {
		err = s.ledger.AttachProbes(i, probes)
	}
	if err != nil {
		return fmt.Errorf("counting visits of %s: %w", spec.Text, err)
	}
	s.probed[i] += len(probes)
	if s.found[i] == 0 {
		atomic.StoreUint64(&s.found[i], ledger.Now())
	}
	s.options.Log.Debug("progress point found", "point", spec.Text, "sites", len(probes), "binary", found[0].Binary)
	return nil
}

// time sets a probe of point i in code that is not a program's: each visit of Java code passes it.
func (s *sites) time(i int, at ledger.Probe) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	all := []ledger.Probe{at}
	if err := s.ledger.MeasureProbes(all, target.OwnCode); err != nil {
		return err
	}
	return s.ledger.AttachProbes(i, all)
}

// addKey makes the probe read the key of a latency's end.
func (s *sites) addKey(i int, p *ledger.Probe, site point.Site, b *symbol.Binary, id ledger.File) (err error) {
	at, points := place{id, site.Offset, site.Return}, s.options.Points
	if other := s.ends.counterpart(i); slices.Contains(s.keyed[at], other) {
		return hint.New(fmt.Errorf("measuring from %s to %s: both are the same code, at %#x in %s",
			points[min(i, other)].Text, points[max(i, other)].Text, site.Offset, site.Binary),
			"a compiler makes one of functions whose code is the same: choose others, or make them differ")
	}
	s.keyed[at] = append(s.keyed[at], i)
	argument := s.ends.argument(i)
	if p.Key, err = keyAt(b, site.Offset, argument); err != nil {
		return err
	}
	if argument > 0 && site.Return {
		return hint.New(fmt.Errorf("measuring with argument %d of %s: arguments are gone when a function returns",
			argument, points[i].Text),
			"count the end in a function that is given the argument")
	}
	return nil
}

// lookInto probes the points that a binary has, once for each file.
func (s *sites) lookInto(b *symbol.Binary, id ledger.File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := changed(b.Path())
	if s.closed || s.known(id, last) {
		return
	}
	s.seen[id] = last
	log := s.options.Log
	for i, spec := range s.options.Points {
		if !spec.Probed() || spec.Binary != "" && spec.Binary != b.Name() {
			continue // points that are named with another path are counted from the start
		}
		if spec.InJava() && (IsJavaVM(Program{b}) || b.Origin(false).System()) {
			continue
		}
		found, err := point.Find(spec, []*symbol.Binary{b}, &s.before[i])
		if err != nil {
			log.Debug("looking for a progress point", "point", spec.Text, "binary", b.Path(), "error", err)
			continue
		}
		if err := s.probe(i, found, []*symbol.Binary{b}, []ledger.File{id}); err != nil {
			log.Warn(err.Error())
		}
	}
	s.followSleeps(b, id)
	s.followGoroutines(b, id)
}

// execed looks into the program that a process runs now.
func (s *sites) execed(e ledger.Event) {
	id, link := e.File(), fmt.Sprintf("/proc/%d/exe", e.Process)
	s.mu.Lock()
	known := s.known(id, changed(link))
	s.mu.Unlock()
	if known {
		return
	}
	path, err := target.BinaryOf(e.Process)
	if err != nil {
		return // the process is gone already
	}
	b, err := symbol.Open(path)
	if err != nil {
		s.options.Log.Debug("opening a program", "path", path, "error", err)
		return
	}
	defer b.Close()
	is, err := s.ledger.Identify(b.Image())
	if err != nil {
		s.options.Log.Warn("progress points in " + path + " are not counted: " + err.Error())
		return
	}
	if meantFile(is, id) != nil {
		return // the process runs another program by now, with an event of its own, or the path leads elsewhere
	}
	s.lookInto(b, is)
}

// foundAt is when a point was first probed, on the ledger's clock; 0: it was not. It does without mu, which may be
// locked for as long as a binary is looked through.
func (s *sites) foundAt(i int) uint64 { return atomic.LoadUint64(&s.found[i]) }

// counts is at how many places each point is counted.
func (s *sites) counts() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.probed)
}

// missing is the error for points that no binary of the target had, and no Java code.
func (s *sites) missing(j *java) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for i, n := range s.probed {
		if n > 0 || s.failure[i] == nil || j.has(i) {
			continue
		}
		if why := j.why(i); why != nil {
			return why
		}
		if j.met() && s.options.Points[i].InJava() {
			return hint.New(errNoClass(s.options.Points[i]), "the name is that of the class with its package, "+
				"func:com.shop.Cart.total, or of its source file, Cart.java:7")
		}
		errs = append(errs, s.failure[i])
	}
	return hint.New(errors.Join(errs...), NothingHasIt)
}

// NothingHasIt is the hint for points that may come later, and did not.
const NothingHasIt = "nothing that has run so far has it: check the name, or start what has it"

// close keeps later events from setting probes.
func (s *sites) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.following != nil {
		s.following.close()
		s.following = nil
	}
}
