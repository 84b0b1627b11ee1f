package experiment

import (
	"debug/elf"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

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

	mu      sync.Mutex
	seen    map[string]bool // binaries looked into, by path
	probed  []int           // probes of each point
	failure []error         // why the program itself does not have it
	closed  bool
}

func newSites(l *ledger.Ledger, cfg *Config) *sites {
	own := *cfg // points that are found later are none of its own
	return &sites{ledger: l, cfg: &own, seen: make(map[string]bool), probed: make([]int, len(cfg.Points)), failure: make([]error, len(cfg.Points))}
}

// atStart looks into the program itself and the libraries that it will load. A
// program of the user's own must have every point, or one of those libraries; one
// without symbols (a shell, a launcher) may start another that has it, and so
// may any that is named with the point.
func (s *sites) atStart(program []*symbol.Binary) error {
	for i, spec := range s.cfg.Points {
		if !spec.Probed() {
			continue
		}
		found, err := point.Resolve(spec, program)
		switch {
		case err == nil:
			err = s.probe(i, found, program)
		case spec.Binary != "":
			err = s.inNamed(i, spec)
		case program[0].HasSymbols():
			err = hint.New(err, "a function that was inlined everywhere has no place to count: mark it noinline; one of another program that this one starts is named func:PATH:NAME")
		default:
			s.failure[i], err = err, nil
		}
		if err != nil {
			return err
		}
	}
	for _, b := range program {
		s.seen[b.Path()] = true
	}
	return nil
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
	binaries := []*symbol.Binary{b}
	found, err := point.Resolve(spec, binaries)
	if err != nil {
		return err
	}
	return s.probe(i, found, binaries)
}

// probe places the probes of point i, each where in its function it costs least.
func (s *sites) probe(i int, found []point.Site, binaries []*symbol.Binary) error {
	for _, site := range found {
		p := ledger.Probe{Path: site.Binary, Offset: site.Offset, Stepped: true}
		k := slices.IndexFunc(binaries, func(b *symbol.Binary) bool { return b.Path() == site.Binary })
		if b := binaries[k]; b.Machine() == elf.EM_X86_64 {
			best := trap.Choose(b.Code(site.Offset, site.Size), b.IsGo())
			p.Offset += uint64(best.Offset)
			p.Stepped = best.Stepped
		}
		if err := s.ledger.AttachPoint(i, p); err != nil {
			return err
		}
		s.probed[i]++
	}
	return nil
}

// in probes the points that a binary has, once a binary.
func (s *sites) in(b *symbol.Binary) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.seen[b.Path()] {
		return
	}
	s.seen[b.Path()] = true
	for i, spec := range s.cfg.Points {
		if spec.Binary != "" || !spec.Probed() {
			continue // counted from the start
		}
		found, err := point.Find(spec, []*symbol.Binary{b})
		if err != nil {
			s.cfg.Log.Debug("looking for a progress point", "point", spec.Text, "binary", b.Path(), "error", err)
			continue
		}
		if err := s.probe(i, found, []*symbol.Binary{b}); err != nil {
			s.cfg.Log.Warn(fmt.Sprintf("counting visits of %s: %v", spec.Text, err))
		}
	}
}

// execed looks into the program that a process runs now.
func (s *sites) execed(pid int) {
	path, err := target.BinaryOf(pid)
	if err != nil {
		return // gone already
	}
	s.mu.Lock()
	seen := s.seen[path]
	s.mu.Unlock()
	if seen {
		return
	}
	b, err := symbol.Open(path)
	if err != nil {
		s.cfg.Log.Debug("opening a program", "path", path, "error", err)
		return
	}
	defer b.Close()
	s.in(b)
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

// close keeps later events from placing probes.
func (s *sites) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}
