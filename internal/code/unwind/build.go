package unwind

import "fmt"

// builder builds the rows of one range.
type builder struct {
	table *Table
	rows  []Row
	left  int // instructions that may still be run
	err   *firstError
}

// padding is the size from which bytes between two functions count as code. Less is padding to a
// multiple of 16.
const padding = 16

// fill builds the rows from low up to high. The first source that knows an address gives its row.
func (p *builder) fill(sources []source, low, high uint64) {
	if low >= high {
		return
	}
	if len(sources) == 0 {
		if high-low >= padding || len(p.rows) == 0 {
			p.add(low, Rule{Kind: FramePointer})
		}
		return
	}
	s, at := sources[0], low
	// Only a damaged range has more functions than bytes.
	most := int(min(high-low, 1<<16)) + 1
	for i, n := lastBefore(s.index, low), s.index.len(); i < n && most > 0; i, most = i+1, most-1 {
		begin, offset := s.index.at(i)
		if begin >= high {
			break
		}
		f, err := s.section.fde(offset)
		if err != nil {
			p.err.keep(fmt.Errorf("reading the function at %#x: %w", begin, err))
			continue
		}
		end := min(f.end, high)
		if i+1 < n {
			if next, _ := s.index.at(i + 1); next > f.begin {
				end = min(end, next)
			}
		}
		if end <= at || f.begin >= high {
			continue
		}
		if f.begin > at {
			p.fill(sources[1:], at, f.begin)
			at = f.begin
		}
		p.function(s.section, f, at, end)
		at = end
	}
	p.fill(sources[1:], at, high)
}

// function builds the rows of a function from low up to high. Go's .debug_frame describes frames
// that the frame pointer describes as well, so of it only the rule of a frameless function is used.
func (p *builder) function(s *section, f fde, low, high uint64) {
	a := p.table.arch
	switch {
	case f.cie.signal:
		p.add(low, Rule{Kind: Signal})
		return
	case f.cie.ra != a.ra:
		p.add(low, Rule{})
		return
	}
	goTable := p.table.isGo && s.debug
	at := low // rows are complete up to here
	m := machine{arch: a, function: f, left: &p.left, row: func(from, to uint64, s *state) {
		if to <= low {
			return
		}
		for from = max(from, low); from < to; from++ {
			r, perAddress := a.rule(s, from)
			if goTable && !a.isEntry(r) {
				r = Rule{Kind: FramePointer}
			}
			p.add(from, r)
			if !perAddress {
				break
			}
		}
		at = to
	}}
	if err := m.run(high); err != nil {
		p.err.keep(fmt.Errorf("reading the function at %#x: %w", f.begin, err))
		p.add(at, Rule{})
	}
}

// add makes a rule hold from an address on.
func (p *builder) add(address uint64, r Rule) {
	n := len(p.rows)
	if n > 0 && p.rows[n-1].Rule == r {
		return
	}
	if n > 0 && p.rows[n-1].Address == address {
		p.rows[n-1].Rule = r
		return
	}
	p.rows = append(p.rows, Row{address, r})
}
