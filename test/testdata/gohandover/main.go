// Gohandover has a goroutine that works for a while and hands over to another one, a few hundred times a second.
package main

import (
	"runtime"
	"time"
)

//go:noinline
func done() {}

//go:noinline
func work(end time.Time) {
	for time.Now().Before(end) {
	}
}

func take(items chan int) {
	for range items {
		done()
	}
}

func main() {
	runtime.GOMAXPROCS(2)
	items := make(chan int)
	go take(items)
	for range 600 {
		work(time.Now().Add(2 * time.Millisecond))
		items <- 1
	}
}
