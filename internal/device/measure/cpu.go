package measure

import (
	"sync/atomic"
	"time"
)

// sink keeps the compiler from leaving work out.
var sink atomic.Uint64

// seed is different data for each call of branch.
var seed atomic.Uint64

// addCPU adds the three loops of the processor. Their data are in registers or in a few cache lines.
func (b *bench) addCPU() {
	for _, l := range []struct {
		name string
		loop func(n int)
	}{{"integer", integer}, {"float", float}, {"branch", branch}} {
		b.add("cpu."+l.name+".one", one(l.loop))
		b.add("cpu."+l.name+".all", func(d time.Duration) (float64, error) {
			loops := make([]func(int), b.cores)
			for i := range loops {
				loops[i] = l.loop
			}
			return sum(all(loops, d)), nil
		})
	}
}

// integer does n steps of hashing: shifts, exclusive or and a multiplication in two chains that do not depend on each
// other. That is as much as compiled code mostly has to do at a time.
//
//go:noinline
func integer(n int) {
	x, y := uint64(1), uint64(2)
	for range n {
		x ^= x << 13
		x ^= x >> 7
		x *= 0x9e3779b97f4a7c15
		y ^= y >> 12
		y ^= y << 25
		y *= 0x2545f4914f6cdd1d
	}
	sink.Add(x + y)
}

// float does n steps of a small filter: multiplications, additions and a division in four chains. The conversions keep
// the compiler from fusing a multiplication with an addition, which it does on some architectures only.
//
//go:noinline
func float(n int) {
	a, b, c, e := 1.0, 2.0, 3.0, 4.0
	for range n {
		a = float64(a*0.999) + 0.5
		b = float64(b*0.998) + a
		c = float64(c*0.997) + float64(b*0.25)
		e = float64(e*0.5) + c/(a+1)
	}
	sink.Add(uint64(a + b + c + e))
}

// branch does n steps of a small interpreter. Which of eight operations comes next depends on data that no predictor
// can know: each call begins with other data, as a predictor learns some thousand repeated branches.
//
//go:noinline
func branch(n int) {
	var stack [16]uint64
	x, top := seed.Add(0x9e3779b97f4a7c15), uint64(0)
	for range n {
		x = x*6364136223846793005 + 1442695040888963407
		switch x >> 61 {
		case 0:
			stack[top&15] += x
		case 1:
			top++
		case 2:
			top--
		case 3:
			stack[top&15] ^= stack[(top+1)&15]
		case 4:
			if stack[top&15]&1 == 0 {
				stack[top&15] += 3
			}
		case 5:
			stack[(top+2)&15] = top
		case 6:
			stack[top&15] >>= 1
		default:
			stack[(top+3)&15] -= x >> 32
		}
	}
	sink.Add(stack[0] + top)
}
