// Go_handover is two goroutines, each on a thread of its own, that hand a token back and forth through
// channels: Go's scheduler parks and wakes the threads at each hand-over. A visit is 256 of them.
//
//	go_handover 0 SECONDS
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
)

const (
	aVisit = 256
	leadIn = 700 * time.Millisecond // see measured.h
)

//go:noinline
func progressDone() {}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go_handover 0 SECONDS")
		os.Exit(2)
	}
	seconds, err := strconv.ParseFloat(os.Args[2], 64)
	if err != nil {
		fmt.Fprintln(os.Stderr, "go_handover:", err)
		os.Exit(2)
	}
	there, back := make(chan struct{}), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		for range there {
			back <- struct{}{}
		}
	}()
	runtime.LockOSThread()
	visit := func() {
		for range aVisit / 2 {
			there <- struct{}{}
			<-back
		}
	}
	for end := time.Now().Add(leadIn); time.Now().Before(end); {
		visit()
	}
	start := time.Now()
	for n := 0; ; n++ {
		if took := time.Since(start).Seconds(); took >= seconds {
			fmt.Printf("visits %d seconds %.6f\n", n, took)
			return
		}
		visit()
		progressDone()
	}
}
