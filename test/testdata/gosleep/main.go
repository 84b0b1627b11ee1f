// Gosleep sleeps again and again in one line. Eight other goroutines sleep in another line all the time. The program
// ends while they are asleep.
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
