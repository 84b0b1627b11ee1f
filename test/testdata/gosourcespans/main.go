// Gosourcespans has goroutines that begin something, sleep, and end it on the thread on which they wake up.
// In the keyed pair, one goroutine begins something and another one ends it.
package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"whatif/point"
)

var pair, keyed = point.NewPair("pair"), point.NewPair("keyed")

func main() {
	var all, ending sync.WaitGroup
	var requests, taken, ids atomic.Int64
	ends := make(chan uint64)
	for range 4 {
		ending.Go(func() {
			for id := range ends {
				keyed.EndID(id)
			}
		})
	}
	until := time.Now().Add(1200 * time.Millisecond)
	for range 4 {
		all.Go(func() {
			for time.Now().Before(until) {
				begin := time.Now()
				id := uint64(ids.Add(1))
				pair.Begin()
				keyed.BeginID(id)
				time.Sleep(2 * time.Millisecond)
				ends <- id
				pair.End()
				taken.Add(int64(time.Since(begin)))
				requests.Add(1)
				time.Sleep(time.Millisecond)
			}
		})
	}
	all.Wait()
	close(ends)
	ending.Wait()
	fmt.Printf("requests %d mean %d\n", requests.Load(), taken.Load()/requests.Load())
}
