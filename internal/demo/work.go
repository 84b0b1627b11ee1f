package demo

// The work is a chain of multiplications, each of which depends on the one before.
// So its time does not depend on the code's address. The loop around it is on
// another line, and runs in parallel to it at no cost.

// odd and mix are variables, so that the compiler cannot compute the chain.
var odd, mix uint64 = 0x9e3779b97f4a7c15, 0x2545f4914f6cdd1d

//go:noinline
func workA(n int, x uint64) uint64 {
	m, k := odd, mix
	for ; n > 0; n-- {
		x = ((((((((((((((((x*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m ^ k) // line A
	}
	return x
}

//go:noinline
func workB(n int, x uint64) uint64 {
	m, k := odd, mix
	for ; n > 0; n-- {
		x = ((((((((((((((((x*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m ^ k) // line B
	}
	return x
}

//go:noinline
func workC(n int, x uint64) uint64 {
	m, k := odd, mix
	for ; n > 0; n-- {
		x = ((((((((((((((((x*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m ^ k) // line C
	}
	return x
}

// calibrate does the same work on a line of its own, so that measuring the
// machine's speed does not count for one of the lines.
//
//go:noinline
func calibrate(n int, x uint64) uint64 {
	m, k := odd, mix
	for ; n > 0; n-- {
		x = ((((((((((((((((x*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m^k)*m ^ k)
	}
	return x
}

var roundsDone uint64

// RoundDone is the progress point: it is called once a round.
//
//go:noinline
func RoundDone() { roundsDone++ }
