// Gostripped works in rounds, for some half a second on an idle machine. Each round ends in done.
package main

var odd uint64 = 0x9e3779b97f4a7c15

func mix(x uint64) uint64 {
	return ((x*odd^odd)*odd ^ odd) * odd // HOT
}

//go:noinline
func work(n int) (x uint64) {
	for range n {
		x = mix(x)
	}
	return x
}

//go:noinline
func done() { rounds++ }

var rounds int

func main() {
	x := uint64(0)
	for range 2500 {
		x += work(60_000)
		done()
	}
	if x == 42 {
		println(rounds)
	}
}
