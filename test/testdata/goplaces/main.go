// Command goplaces does in Go what places.c does: next to each place that is marked with a name,
// a line of its own counts the executions of that place.
//
//	goplaces N     prints "NAME COUNT" for each place
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
)

var own struct {
	body, header, inlined, generic, closure, deferred, arm, deep, started, adjacent atomic.Int64
}

var sink atomic.Int64

//go:noinline
func work(x int64) int64 { return x*3 + 1 }

func inlined(x int64) int64 {
	own.inlined.Add(1)
	return work(x) + 2 // inlined
}

// turns counts the calls of adjacent: inlined copies of it follow each other.
var turns [8]int64

func adjacent(x int64) int64 { turns[x&7]++; return x + 1 } // adjacent

type number interface{ ~int64 | ~float64 | ~string }

//go:noinline
func generic[T number](x T, n int64) T {
	own.generic.Add(1)
	y := x + x // generic
	sink.Add(work(n))
	return y
}

//go:noinline
func arm(x int64) int64 {
	switch x % 6 {
	case 0:
		return work(x)
	case 1:
		x++
	case 2:
		own.arm.Add(1)
		x = work(x + 1) // arm
	case 3:
		x *= 2
	case 4:
		return 4
	}
	return work(x)
}

// deep makes its stack grow. When Go has moved the stack, it runs the function's beginning again.
//
//go:noinline
func deep(n int64) int64 { // started
	var room [512]int64
	if n == 0 {
		return 1
	}
	own.deep.Add(1)
	room[n%512] = deep(n-1) + 1 // deep
	return room[n%512] + room[(n+1)%512]
}

//go:noinline
func deferred(x int64) (y int64) {
	defer func() {
		own.deferred.Add(1)
		y += work(y) // deferred
	}()
	return work(x)
}

func main() {
	n := int64(10)
	if len(os.Args) > 1 {
		n, _ = strconv.ParseInt(os.Args[1], 10, 64)
	}
	sum := int64(0)
	for i := range n {
		own.body.Add(1)
		sum += work(i) + sum // body
		own.header.Add(1)
		for k := i % 7; k >= 0; k-- { // header
			sum += work(k)
		}
		sum += inlined(i) + inlined(sum)
		sum += adjacent(adjacent(i))
		sink.Add(generic(i, i))
		if generic(float64(i), 1) < 0 || generic("a", 1) == "" {
			return
		}
		sum += arm(i) + deferred(i)
	}
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() {
			own.closure.Add(1)
			sink.Add(work(i)) // closure
			if i%50 == 0 {
				own.started.Add(41)
				deep(40)
			}
		})
	}
	wait.Wait()
	sink.Add(sum)
	for _, n := range turns {
		own.adjacent.Add(n)
	}
	for _, p := range []struct {
		name string
		of   *atomic.Int64
	}{
		{"body", &own.body}, {"header", &own.header}, {"inlined", &own.inlined}, {"generic", &own.generic},
		{"closure", &own.closure}, {"deferred", &own.deferred}, {"arm", &own.arm},
		{"deep", &own.deep}, {"adjacent", &own.adjacent},
		{"started", &own.started},
	} {
		fmt.Println(p.name, p.of.Load())
	}
}
