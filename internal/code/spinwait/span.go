package spinwait

import (
	"iter"
	"slices"

	"golang.org/x/arch/x86/x86asm"
)

// MaxFunction is the size of the longest function that Waits is meant for.
const MaxFunction = maxBefore

// Span is a range of code, High exclusive.
type Span struct{ Low, High uint64 }

// Waits returns the parts of a function that are in a busy-wait loop, ascending. They are the
// instructions for which SpinWait, with the same yields, is true. One call of Waits is far cheaper
// than a call of SpinWait for each instruction.
func Waits(code []byte, start uint64, yields func(Callee) bool) (spans []Span) {
	if !mayLoop(code) {
		return nil
	}
	f := decode(code, start)
	f.yields = yields
	loops := f.closedBy(0, len(f.insts), len(f.insts))
	slices.SortStableFunc(loops, smaller)
	judged := make([]bool, len(f.insts))
	var waits []int
	for _, l := range loops { // the innermost loop around an instruction comes first
		var v verdict
		if slices.ContainsFunc(l.body, func(at int) bool { return !judged[at] }) {
			v = f.judge(l)
		}
		for _, at := range l.body {
			if !judged[at] && v.isWait(at) {
				waits = append(waits, at)
			}
			judged[at] = true
		}
	}
	slices.Sort(waits)
	for _, at := range waits {
		low, high := f.addrs[at], f.addrs[at]+uint64(f.insts[at].Len)
		if n := len(spans); n > 0 && spans[n-1].High == low {
			spans[n-1].High = high
		} else {
			spans = append(spans, Span{low, high})
		}
	}
	return spans
}

// mayLoop reports whether a function has a jump back that could end a wait. The check is cheap, and
// most functions have none.
func mayLoop(code []byte) bool {
	for to := range backwardJumps(code) {
		if to >= 0 {
			return true
		}
	}
	return false
}

// backwardJumps returns the jumps in code that lead back by at most maxSpan: the offset of the target,
// which is below 0 if before the code, and the offset of the jump's end.
func backwardJumps(code []byte) iter.Seq2[int, int] {
	return func(yield func(to, end int) bool) {
		for off := 0; off < len(code); {
			inst, err := x86asm.Decode(code[off:], 64)
			if err != nil || inst.Len == 0 {
				inst.Len = 1
			}
			next := off + inst.Len
			if rel, ok := inst.Args[0].(x86asm.Rel); ok && inst.Op != x86asm.CALL {
				if to := next + int(rel); to <= off && to >= off-maxSpan && !yield(to, next) {
					return
				}
			}
			off = next
		}
	}
}
