package classfile

import "slices"

// Range is from a bytecode up to and including another one.
type Range struct{ From, To int }

// Loops returns where a method's bytecodes are in a loop: from where a jump back leads to, up to that jump. Loops that
// have bytecodes in common are one range. They are ascending. Behind what is no bytecode none are found.
func Loops(code []byte) (all []Range) {
	for at := 0; at < len(code); {
		size := sizeAt(code, at)
		if size <= 0 || at+size > len(code) {
			break
		}
		from := at + 1 // the lowest place that a jump back leads to
		eachJump(code, at, func(j jump) {
			if j.to >= 0 {
				from = min(from, j.to)
			}
		})
		if from <= at {
			for n := len(all); n > 0 && from <= all[n-1].To; n-- { // jumps come in the order of their places
				from = min(from, all[n-1].From)
				all = all[:n-1]
			}
			all = append(all, Range{from, at})
		}
		at += size
	}
	return slices.Clip(all)
}
