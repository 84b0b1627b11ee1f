package dwarf

import (
	"cmp"
	"slices"
)

// span is an interval of addresses with its owner.
type span struct {
	Range
	owner int32
}

// owners maps addresses to owners: owner[i] owns the addresses from starts[i] up to starts[i+1]. -1 is
// no owner.
type owners struct {
	starts []uint64
	owner  []int32
}

// flatten resolves overlapping spans: a later span hides an earlier one. A scope comes after the scope
// around it. Compilers nest spans properly, but flatten does not depend on that.
func flatten(spans []span) owners {
	// Sorted by start, as indices: the index decides which span is on top.
	order := make([]int32, len(spans))
	ends := make([]uint64, len(spans))
	for i := range spans {
		order[i], ends[i] = int32(i), spans[i].High
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(spans[a].Low, spans[b].Low) })
	slices.Sort(ends)

	var o owners
	var top maxHeap
	for s, e := 0, 0; e < len(ends); {
		at := ends[e]
		if s < len(order) && spans[order[s]].Low < at {
			at = spans[order[s]].Low
		}
		for ; s < len(order) && spans[order[s]].Low == at; s++ {
			top.push(order[s])
		}
		for ; e < len(ends) && ends[e] == at; e++ {
		}
		for len(top) > 0 && spans[top[0]].High <= at {
			top.pop()
		}
		owner := int32(-1)
		if len(top) > 0 {
			owner = spans[top[0]].owner
		}
		if n := len(o.owner); n > 0 && o.owner[n-1] == owner {
			continue
		}
		o.starts = append(o.starts, at)
		o.owner = append(o.owner, owner)
	}
	return o
}

// find returns the owner of an address, and the range around the address with the same owner.
func (o *owners) find(pc uint64) (owner int32, stretch Range) {
	i, found := slices.BinarySearch(o.starts, pc)
	if !found {
		i--
	}
	if i < 0 {
		stretch.High = ^uint64(0)
		if len(o.starts) > 0 {
			stretch.High = o.starts[0]
		}
		return -1, stretch
	}
	stretch = Range{o.starts[i], ^uint64(0)}
	if i+1 < len(o.starts) {
		stretch.High = o.starts[i+1]
	}
	return o.owner[i], stretch
}

// maxHeap is a heap of span indices with the greatest on top. container/heap would allocate for every
// element.
type maxHeap []int32

func (h *maxHeap) push(x int32) {
	s := append(*h, x)
	i := len(s) - 1
	for i > 0 && s[(i-1)/2] < x {
		s[i] = s[(i-1)/2]
		i = (i - 1) / 2
	}
	s[i] = x
	*h = s
}

func (h *maxHeap) pop() {
	s := *h
	n := len(s) - 1
	x := s[n]
	s = s[:n]
	for i := 0; ; {
		child := 2*i + 1
		if child >= n {
			if n > 0 {
				s[i] = x
			}
			break
		}
		if child+1 < n && s[child+1] > s[child] {
			child++
		}
		if s[child] <= x {
			s[i] = x
			break
		}
		s[i] = s[child]
		i = child
	}
	*h = s
}
