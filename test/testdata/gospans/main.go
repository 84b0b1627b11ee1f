// Gospans has goroutines that begin something, sleep, and end it on the thread on which
// they wake up.
package main

import (
	"sync"
	"time"
)

//go:noinline
func spanBegin(id *int) { *id++ }

//go:noinline
func spanEnd(id *int) { *id-- }

func main() {
	var all sync.WaitGroup
	until := time.Now().Add(1200 * time.Millisecond)
	for range 20 {
		all.Go(func() {
			id := 0
			for time.Now().Before(until) {
				spanBegin(&id)
				time.Sleep(2 * time.Millisecond)
				spanEnd(&id)
			}
		})
	}
	all.Wait()
}
