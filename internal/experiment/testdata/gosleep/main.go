// Gosleep sleeps in one line, time after time, and eight other goroutines in another all the time. It ends
// while these are asleep.
package main

import (
	"os"
	"strconv"
	"time"
)

//go:noinline
func done() {}

func nap() {
	for {
		time.Sleep(4 * time.Millisecond) /* MANY */
	}
}

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	for range 8 {
		go nap()
	}
	for range n {
		time.Sleep(4 * time.Millisecond) /* ONE */
		time.Sleep(0)                    /* NONE */
		done()
	}
}
