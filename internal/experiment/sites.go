package experiment

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"whatif/internal/hint"
	"whatif/internal/ledger"
	"whatif/internal/point"
	"whatif/internal/symbol"
	"whatif/internal/target"
)

// sites puts the probes of the progress points into every binary of the target
// that has the function: the program itself before it runs, a program that a
// descendant runs when it does, a library when it is first sampled.
type sites struct {
	ledger *ledger.Ledger
	cfg    *Config

	mu     sync.Mutex
	seen   map[string]bool // binaries looked into, by path
	probed []int           // probes of each point
	closed bool
}

func newSites(l *ledger.Ledger, cfg *Config) *sites {
	return &sites{ledger: l, cfg: cfg, seen: make(map[string]bool), probed: make([]int, len(cfg.Points))}
}

// inMain looks into the program itself. A program of the user's own must have
// every point that names no other binary; one without symbols (a shell, a
// launcher) may start another that has it.
func (s *sites) inMain(b *symbol.Binary) error {
	s.in(b)
	for i, spec := range s.cfg.Points {
		if s.probed[i] == 0 && spec.Binary == "" && b.HasSymbols() {
			return s.notFound(spec, b)
		}
	}
	return nil
}

func (s *sites) notFound(spec point.Spec, b *symbol.Binary) error {
	err := fmt.Errorf("finding the progress point %s: no function %s in %s", spec.Text, spec.Func, b.Path())
	if near := b.Nearest(spec.Func, 3); len(near) > 0 {
		return hint.New(err, fmt.Sprintf("did you mean %s? A function of another binary that the program starts is named func:PATH:%s",
			strings.Join(near, " or "), spec.Func))
	}
	return hint.New(err, fmt.Sprintf("a function that was inlined everywhere has no place to count: mark it noinline; one of another binary is named func:PATH:%s", spec.Func))
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
		if spec.Binary != "" && !symbol.MatchFile(spec.Binary, b.Path()) {
			continue
		}
		functions, err := b.Functions(spec.Func)
		if err != nil {
			s.cfg.Log.Debug("looking for a progress point", "point", spec.Text, "binary", b.Path(), "error", err)
			continue
		}
		for _, f := range functions {
			if err := s.ledger.AttachPoint(i, b.Path(), f.FileOffset); err != nil {
				s.cfg.Log.Warn(fmt.Sprintf("counting visits of %s: %v", spec.Text, err))
				continue
			}
			s.probed[i]++
		}
	}
}

// execed looks into the program that a process runs now.
func (s *sites) execed(pid int) {
	if s.complete() {
		return
	}
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
