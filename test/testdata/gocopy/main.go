// Gocopy spends its time in memmove, which has no frame. A walk by frame pointers alone
// would skip its caller.
package main

import "time"

var from, to [1 << 20]byte

//go:noinline
func spend(n int) {
	copy(to[n:], from[n:]) // copy
}

//go:noinline
func caller(n int) int {
	spend(n)
	return n + 1
}

func main() {
	for end := time.Now().Add(600 * time.Millisecond); time.Now().Before(end); {
		for i := range 100 {
			caller(i)
		}
	}
}
