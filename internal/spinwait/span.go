package spinwait

import (
	"iter"

	"golang.org/x/arch/x86/x86asm"
)

// MaxFunction is the longest function that Spans is for.
const MaxFunction = maxBefore

// A Span is where a loop may be: from where a jump back leads to the end of that jump.
type Span struct{ Low, High uint64 }

// Spans gives the spans of a function's loops that are short enough to be waits. An
// instruction outside of them is in no busy-wait loop: most are, and to decode a function once
// is far cheaper than to decode what is around each of its instructions.
func Spans(code []byte, start uint64) (spans []Span) {
	for to, end := range backwardJumps(code) {
		if to >= 0 {
			spans = append(spans, Span{start + uint64(to), start + uint64(end)})
		}
	}
	return spans
}

// backwardJumps gives the jumps in code that lead back no further than a wait's loop is long:
// where each leads to, below 0 if before the code, and where it ends.
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
