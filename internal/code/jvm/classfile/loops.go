package classfile

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
		eachJump(code, at, func(j jump) {
			if j.to >= 0 && j.to <= at {
				all = append(all, Range{j.to, at})
			}
		})
		for n := len(all); n > 1 && all[n-1].From <= all[n-2].To; n-- { // jumps come in the order of their places
			all[n-2] = Range{min(all[n-2].From, all[n-1].From), all[n-1].To}
			all = all[:n-1]
		}
		at += size
	}
	return all
}
