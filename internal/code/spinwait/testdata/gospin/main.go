// Wait* and Work* as in spin.c.
package main

import "sync/atomic"

var (
	flag   atomic.Bool
	n      atomic.Int64
	word   atomic.Int32
	ticket atomic.Uint32
)

//go:noinline
func WaitFlag() {
	for !flag.Load() {
	}
}

//go:noinline
func WaitValue(k int64) {
	for n.Load() != k {
	}
}

//go:noinline
func WaitPointer(p *atomic.Int64) {
	for p.Load() == 0 {
	}
}

//go:noinline
func WaitSwap() {
	for word.Swap(1) != 0 {
	}
}

//go:noinline
func WaitCAS() {
	for !word.CompareAndSwap(0, 1) {
	}
}

//go:noinline
func WaitTicket() {
	me := ticket.Add(1)
	for ticket.Load() < me {
	}
}

//go:noinline
func WorkCount(k int) int {
	s := 0
	for i := 0; i < k; i++ {
		s = s*3 + i
	}
	return s
}

//go:noinline
func WorkSum(a []int) int {
	s := 0
	for _, v := range a {
		s += v
	}
	return s
}

//go:noinline
func WorkIncrement() {
	for {
		v := n.Load()
		if n.CompareAndSwap(v, v+1) {
			return
		}
	}
}

type node struct {
	next *node
	v    int
}

//go:noinline
func WorkList(l *node) int {
	s := 0
	for ; l != nil; l = l.next {
		s += l.v
	}
	return s
}

//go:noinline
func WorkIndex(s string, b byte) int {
	for i := 0; i < len(s); i++ {
		if s[i] == b {
			return i
		}
	}
	return -1
}

func main() {
	go flag.Store(true)
	WaitFlag()
	n.Store(1)
	WaitValue(1)
	WaitPointer(&n)
	WaitSwap()
	word.Store(0)
	WaitCAS()
	WaitTicket()
	println(WorkCount(9), WorkSum([]int{1, 2}), WorkList(nil), WorkIndex("x", 'y'))
	WorkIncrement()
}
