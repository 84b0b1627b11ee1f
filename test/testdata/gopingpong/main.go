// Gopingpong has two goroutines that make each other ready, millions of times a second.
package main

import (
	"runtime"
	"time"
)

//go:noinline
func done() {}

func main() {
	runtime.GOMAXPROCS(2)
	there, back := make(chan int), make(chan int)
	go func() {
		for {
			<-there
			back <- 1
		}
	}()
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); done() {
		for range 5000 {
			there <- 1
			<-back
		}
	}
}
