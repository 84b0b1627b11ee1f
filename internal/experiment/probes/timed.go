package probes

import (
	"fmt"

	"whatif/internal/code/symbol"
	"whatif/internal/code/symbol/object"
	"whatif/internal/ledger"
	"whatif/internal/point"
	"whatif/internal/point/source"
	"whatif/internal/target"
)

// timedSite is a place in a file at which the moment of each visit matters.
type timedSite struct {
	number int  // among the counters of the file
	table  bool // it is a table: the names in it are known when the program runs
	source.Counter
}

// idRegister is where a site has its id, by DWARF number: rax, or x0.
const idRegister = 0

// time sets probes on the sites of a file that is open.
func (c *counters) time(f *object.File, is ledger.File, added ledger.Counters, sites []timedSite) error {
	var probes []ledger.Probe
	var program *symbol.Binary // opened when it is needed, until its probes are attached
	defer func() {
		if program != nil {
			program.Close()
		}
	}()
	for _, s := range sites {
		switch {
		case s.table && c.timed != 0:
			if program == nil {
				var err error
				if program, err = c.program(f.Path, is); err != nil {
					return err
				}
			}
			more, err := goSites(program, added.Source(s.number))
			if err != nil {
				return err
			}
			probes = append(probes, more...)
		case s.SiteOffset > 0:
			p := ledger.Probe{File: f.Opened(), Offset: s.SiteOffset, Source: added.Source(s.number)}
			if s.SiteStepped {
				p.Cost = ledger.Stepped
			}
			if s.Keyed {
				p.Key = ledger.KeyIn(idRegister)
			}
			probes = append(probes, p)
		}
	}
	if len(probes) == 0 {
		return nil
	}
	c.options.Log.Debug("probes on points in the source", "path", f.Path, "sites", len(probes))
	if err := c.ledger.MeasureProbes(probes, target.OwnCode); err != nil {
		return err
	}
	return c.ledger.AttachSites(probes)
}

// program opens a file once more for its symbols.
func (c *counters) program(path string, is ledger.File) (*symbol.Binary, error) {
	b, err := symbol.Open(path)
	if err != nil {
		return nil, err
	}
	if err := SameFile(c.ledger, b.Image(), is); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// hasKey remembers how it is known which begin of a point an end belongs to.
func (c *counters) hasKey(points ledger.Points, id bool) {
	by := byThread
	if id {
		by = byKey
	}
	for i := range c.specs {
		if points>>i&1 != 0 {
			c.keys[i] |= by
		}
	}
}

// goFunctions are called whenever something begins or ends in a program with Go's package point. They are never
// inlined, and are given the table's entry, and the id.
var goFunctions = []struct {
	name string
	id   bool
}{
	{"whatif/point.(*entry).begins", false},
	{"whatif/point.(*entry).beginsWith", true},
	{"whatif/point.(*entry).ends", false},
	{"whatif/point.(*entry).endsWith", true},
}

// goSites are probes on these functions of a Go program. A table in something else than Go is that of the library for
// COZ's macros: when those are passed is not known.
func goSites(b *symbol.Binary, number int) ([]ledger.Probe, error) {
	if !b.IsGo() {
		return nil, nil
	}
	var probes []ledger.Probe
	for _, f := range goFunctions {
		funcs, err := b.Functions(f.name)
		if err != nil {
			return nil, fmt.Errorf("looking for %s: %w", f.name, err)
		}
		for _, at := range funcs {
			p := probeAt(point.Site{Binary: b.Path(), Offset: at.FileOffset, Size: at.Size, Entry: true}, b, true)
			argument := 0
			if f.id {
				argument = 2
			}
			if p.Key, err = keyAt(b, at.FileOffset, argument); err != nil {
				return nil, err
			}
			if p.Entry, err = keyAt(b, at.FileOffset, 1); err != nil {
				return nil, err
			}
			p.Source = number
			probes = append(probes, p)
		}
	}
	return probes, nil
}
