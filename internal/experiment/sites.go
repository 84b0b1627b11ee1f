package experiment

import (
	"debug/elf"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"whatif/internal/hint"
	"whatif/internal/ledger"
	"whatif/internal/point"
	"whatif/internal/symbol"
	"whatif/internal/target"
	"whatif/internal/trap"
)

// sites puts the probes of the progress points into every binary of the target
// that has the function: the program itself before it runs, a program that a
// descendant runs when it does, a library when it is first sampled.
type sites struct {
	ledger *ledger.Ledger
	cfg    *Config

	mu sync.Mutex
	// Files are told apart as the kernel does, which sets a probe on the file and not on a
	// path: a container, or a directory that is mounted once more, has another path
	// of it, and each probe would count.
	seen      map[ledger.File]unix.Timespec // binaries looked into, and when they had changed last
	held      map[ledger.File]bool          // those with a probe: while that is there they keep their number
	probed    []int                         // probes of each point
	before    []point.Before                // where each was found
	failure   []error                       // why the program itself does not have it
	found     []uint64                      // when each point was first probed, on the ledger's clock
	ends      map[place][]int               // points of latencies, by where their functions begin
	placed    map[probed]bool               // what has a probe: programs share libraries
	sleeps    map[ledger.File]bool          // binaries whose goroutines' sleep is followed
	followed  map[ledger.File]bool          // and those whose goroutines are that wait for each other
	following *followWatch                  // of those; nil: there are none
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

func newSites(l *ledger.Ledger, cfg *Config) *sites {
	own := *cfg // points that are found later are none of its own
	return &sites{ledger: l, cfg: &own, seen: make(map[ledger.File]unix.Timespec), held: make(map[ledger.File]bool), probed: make([]int, len(cfg.Points)), before: make([]point.Before, len(cfg.Points)), failure: make([]error, len(cfg.Points)), found: make([]uint64, len(cfg.Points)), ends: make(map[place][]int), placed: make(map[probed]bool), sleeps: make(map[ledger.File]bool), followed: make(map[ledger.File]bool)}
}

// atStart looks into the programs and the libraries that they load. One of the
// user's own programs must have every point, or one of those libraries; one
// without symbols (a shell, a launcher) may start another that has it, one that loads
// libraries while it runs may load one, and so
// may any that is named with the point, or any at all where nothing is known yet.
func (s *sites) atStart(programs []program) error {
	different := make([]program, len(programs))
	files := make([][]ledger.File, len(programs))
	for i, p := range programs {
		var err error
		if different[i], files[i], err = s.distinct(p); err != nil {
			return err
		}
	}
	for i, spec := range s.cfg.Points {
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

// inPrograms probes a point in every program that has it. What is in none may be an error, or still come.
func (s *sites) inPrograms(i int, spec point.Spec, programs []program, files [][]ledger.File) (failure error) {
	found := false
	for k, p := range programs {
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
	case haveSymbols(programs) && !mayComeLater(s.cfg.Log, failure, programs):
		return hint.New(failure, remedyFor(spec, failure))
	}
	s.failure[i] = failure
	return nil
}

// changed is when a file changed last: the next file that is given its number has another time.
func changed(path string) unix.Timespec {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return unix.Timespec{Nsec: -1} // as no file: who has it now is looked into
	}
	return st.Ctim
}

// known reports whether a file was looked into. It is called with mu held.
func (s *sites) known(id ledger.File, changed unix.Timespec) bool {
	then, seen := s.seen[id]
	return seen && (s.held[id] || then == changed)
}

// distinct leaves out binaries that are the same file as one before them, and gives the
// files of the others. One with the path of another file is left out, too: somebody has put it there since,
// and sites are told apart by path.
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

// remedyFor a point that the program does not have.
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
	return "whatif points PROGRAM lists some; a function that was inlined everywhere has no entry: count a line of it; one of another program that this one starts is named func:PATH:NAME"
}

// inNamed probes the binary that the user named with the point, before anything
// runs: a process of it may be too short to be probed once it is seen.
func (s *sites) inNamed(i int, spec point.Spec) error {
	path, err := filepath.Abs(spec.Binary)
	if err != nil {
		return fmt.Errorf("looking for progress point %s: %w", spec.Text, err)
	}
	b, err := symbol.Open(path)
	if err != nil {
		return hint.New(fmt.Errorf("looking for progress point %s: %w", spec.Text, err), "name the program or library as it can be opened from here")
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

// probe places the probes of point i, each where in its function it costs least.
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
		p := probeAt(site, binaries[k], s.cfg.argument(i) > 0)
		if l, _ := s.cfg.latencyOf(i); l != nil {
			if err := s.addKey(i, &p, site, binaries[k], files[k]); err != nil {
				return err
			}
		}
		probes = append(probes, p)
		s.held[files[k]] = true
		s.before[i].Add(site, binaries[k].Name())
	}
	if len(probes) == 0 {
		return nil
	}
	err := s.ledger.MeasureProbes(probes, target.OwnCode)
	if err == nil {
		err = s.ledger.AttachProbes(i, probes)
	}
	if err != nil {
		return fmt.Errorf("counting visits of %s: %w", s.cfg.Points[i].Text, err)
	}
	s.probed[i] += len(probes)
	if s.found[i] == 0 {
		atomic.StoreUint64(&s.found[i], ledger.Now())
	}
	s.cfg.Log.Debug("progress point found", "point", s.cfg.Points[i].Text, "sites", len(probes), "binary", found[0].Binary)
	return nil
}

// addKey makes the probe look for the key of a latency's end.
func (s *sites) addKey(i int, p *ledger.Probe, site point.Site, b *symbol.Binary, id ledger.File) (err error) {
	at := place{id, site.Offset, site.Return}
	if other := s.cfg.counterpart(i); slices.Contains(s.ends[at], other) {
		return hint.New(fmt.Errorf("measuring from %s to %s: both are the same code, at %#x in %s", s.cfg.Points[min(i, other)].Text, s.cfg.Points[max(i, other)].Text, site.Offset, site.Binary),
			"a compiler makes one of functions whose code is the same: choose others, or make them differ")
	}
	s.ends[at] = append(s.ends[at], i)
	argument := s.cfg.argument(i)
	if p.Key, err = keyAt(b, site.Offset, argument); err != nil {
		return err
	}
	if argument > 0 && site.Return {
		return hint.New(fmt.Errorf("measuring with argument %d of %s: arguments are gone when a function returns", argument, s.cfg.Points[i].Text),
			"count the end in a function that is given the argument")
	}
	return nil
}

// probeAt decides on which instruction of a site the probe is set. Arguments are in their
// registers only where the function begins.
func probeAt(site point.Site, b *symbol.Binary, arguments bool) ledger.Probe {
	p := ledger.Probe{File: b.Opened(), Offset: site.Offset, Semaphore: site.Semaphore}
	best := trap.Site{Stepped: true}
	if b.Machine() == elf.EM_X86_64 {
		code := b.Code(site.Offset, max(site.Size, longestInstruction))
		switch {
		case site.Return:
			best = trap.Entry(code)
		case site.Size == 0:
			best = trap.At(code)
		default:
			code, isGo := code[:min(site.Size, uint64(len(code)))], site.Entry && b.IsGoCode(site.Offset)
			if best = trap.Choose(code, isGo); arguments {
				best = trap.First(code, isGo)
			}
		}
	}
	p.Offset += uint64(best.Offset)
	switch {
	case site.Return && best.Stepped:
		p.Cost = ledger.ReturnStepped
	case site.Return:
		p.Cost = ledger.Return
	case best.LongNop:
		p.Cost = ledger.LongNop
	case best.Stepped:
		p.Cost = ledger.Stepped
	}
	return p
}

// longestInstruction of x86-64, in bytes.
const longestInstruction = 15

// in probes the points that a binary has, once a file.
func (s *sites) in(b *symbol.Binary, id ledger.File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := changed(b.Path())
	if s.closed || s.known(id, last) {
		return
	}
	s.seen[id] = last
	for i, spec := range s.cfg.Points {
		if !spec.Probed() || spec.Binary != "" && spec.Binary != b.Name() {
			continue // those that are named by another path are counted from the start
		}
		found, err := point.Find(spec, []*symbol.Binary{b}, &s.before[i])
		if err != nil {
			s.cfg.Log.Debug("looking for a progress point", "point", spec.Text, "binary", b.Path(), "error", err)
			continue
		}
		if err := s.probe(i, found, []*symbol.Binary{b}, []ledger.File{id}); err != nil {
			s.cfg.Log.Warn(err.Error())
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
		return // gone already
	}
	b, err := symbol.Open(path)
	if err != nil {
		s.cfg.Log.Debug("opening a program", "path", path, "error", err)
		return
	}
	defer b.Close()
	is, err := s.ledger.Identify(b.Image())
	if err != nil {
		s.cfg.Log.Warn("progress points in " + path + " are not counted: " + err.Error())
		return
	}
	if meantFile(is, id) != nil {
		return // it runs another program by now, of which another event tells, or the path leads elsewhere
	}
	s.in(b, is)
}

// foundAt is when a point was first probed; 0: not yet.
func (s *sites) foundAt(i int) uint64 {
	return atomic.LoadUint64(&s.found[i]) // without mu, which may be held for as long as a binary is looked through
}

// counts is how many places each point is counted at.
func (s *sites) counts() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.probed)
}

// missing is the error for points that no binary of the target had.
func (s *sites) missing() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for i, n := range s.probed {
		if n == 0 && s.failure[i] != nil {
			errs = append(errs, s.failure[i])
		}
	}
	return hint.New(errors.Join(errs...), "the program ended, and nothing that it ran had the function")
}

// watch is what watches following goroutines; nil: none have been.
func (s *sites) watch() *followWatch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.following
}

// close keeps later events from placing probes.
func (s *sites) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.following != nil {
		s.following.close()
		s.following = nil
	}
}
