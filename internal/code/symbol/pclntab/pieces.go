package pclntab

// Piece is contiguous code of a source line.
type Piece struct {
	Entry, End uint64 // of the function around it
	Node       int32  // inlined call of that function around it, -1: none
	Low, High  uint64
	File       string
}

// Pieces returns the code of a line in the files that match, ascending by address.
func (t *Table) Pieces(match func(path string) bool, line int) []Piece {
	matching := map[string]bool{}
	var pieces []Piece
	work := t.searchWork()
	for i := range t.nfunc {
		f, ok := t.function(i, &work)
		if !ok {
			continue
		}
		var spans []Piece // the function's code in the files
		t.walk(&f, f.pcfile, func(low, high uint64, number int32) bool {
			path := t.file(&f, number)
			m, known := matching[path]
			if !known {
				m = match(path)
				matching[path] = m
			}
			if m {
				spans = append(spans, Piece{Entry: f.entry, End: f.end, Node: -1, Low: low, High: high, File: path})
			}
			return true
		})
		if len(spans) == 0 {
			continue
		}
		first := len(pieces)
		t.walk(&f, f.pcln, func(low, high uint64, l int32) bool {
			for len(spans) > 0 && spans[0].High <= low {
				spans = spans[1:]
			}
			for _, s := range spans {
				if s.Low >= high {
					break
				}
				if int(l) == line {
					s.Low, s.High = max(s.Low, low), min(s.High, high)
					pieces = append(pieces, s)
				}
			}
			return len(spans) > 0
		})
		if len(pieces) > first {
			pieces = append(pieces[:first], t.byNode(&f, pieces[first:])...)
		}
	}
	return pieces
}

// byNode splits the pieces of a function at which another inlined call begins, because copies of a line may follow
// each other.
func (t *Table) byNode(f *function, pieces []Piece) []Piece {
	in, ok := t.tree(f)
	if !ok {
		return pieces
	}
	var cut []Piece
	t.walk(f, in.index, func(_, high uint64, node int32) bool {
		for len(pieces) > 0 && pieces[0].Low < high {
			part := pieces[0]
			part.Node, part.High = node, min(part.High, high)
			cut = append(cut, part)
			if part.High < pieces[0].High {
				pieces[0].Low = part.High
				break
			}
			pieces = pieces[1:]
		}
		return len(pieces) > 0
	})
	return append(cut, pieces...)
}
