// Go_waits is pairs of goroutines, each of which hands a token back and forth through channels: the one that has it
// computes for a while, and the other one waits. A visit is 256 hand-overs of one pair.
//
//	go_waits 0 SECONDS PAIRS STEPS
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"time"
)

const (
	aVisit = 256
	leadIn = 700 * time.Millisecond // see measured.h
)

//go:noinline
func progressDone() {}

var sink atomic.Uint64

// work computes so many steps, as WORK of bench.h.
func work(steps int) {
	x := uint64(1)
	for range steps {
		x = x*6364136223846793005 + 1442695040888963407
	}
	sink.Store(x)
}

func main() {
	var pairs, steps int
	var seconds float64
	var err error
	if len(os.Args) == 5 {
		if seconds, err = strconv.ParseFloat(os.Args[2], 64); err == nil {
			if pairs, err = strconv.Atoi(os.Args[3]); err == nil {
				steps, err = strconv.Atoi(os.Args[4])
			}
		}
	}
	if len(os.Args) != 5 || err != nil {
		fmt.Fprintln(os.Stderr, "usage: go_waits 0 SECONDS PAIRS STEPS")
		os.Exit(2)
	}
	var visits atomic.Int64
	var counting atomic.Bool
	for range pairs {
		there, back := make(chan struct{}), make(chan struct{})
		go func() {
			for range there {
				work(steps)
				back <- struct{}{}
			}
		}()
		go func() {
			for n := 1; ; n++ {
				there <- struct{}{}
				<-back
				work(steps)
				if n%(aVisit/2) == 0 && counting.Load() {
					progressDone()
					visits.Add(1)
				}
			}
		}()
	}
	time.Sleep(leadIn)
	counting.Store(true)
	start := time.Now()
	time.Sleep(time.Duration(seconds * float64(time.Second)))
	fmt.Printf("visits %d seconds %.6f\n", visits.Load(), time.Since(start).Seconds())
}
