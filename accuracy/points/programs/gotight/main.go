// Gotight visits a progress point without a pause:
//
//	gotight THREADS SECONDS
//
// and prints "visits N seconds T", N those of all threads.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"whatif/point"
)

var visited = point.New("tight")

func main() {
	threads, err := strconv.Atoi(os.Args[1])
	seconds, wrong := strconv.ParseFloat(os.Args[2], 64)
	if err != nil || wrong != nil {
		os.Exit(2)
	}
	var all sync.WaitGroup
	var visits atomic.Int64
	begin := time.Now()
	for range threads {
		all.Go(func() {
			const batch = 1000
			n := int64(0)
			for ; time.Since(begin).Seconds() < seconds; n += batch {
				for range batch {
					visited.Visit()
				}
			}
			visits.Add(n)
		})
	}
	all.Wait()
	fmt.Printf("visits %d seconds %.6f\n", visits.Load(), time.Since(begin).Seconds())
}
