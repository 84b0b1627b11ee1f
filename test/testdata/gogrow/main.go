// Gogrow begins and ends something, as often as its argument says: in functions that need more stack than their
// goroutine has, so that Go starts them twice, and in C.
package main

// #include <stdint.h>
// #include <unistd.h>
// void __attribute__((noinline)) c_begin(uint64_t id) { __asm__ volatile("" : : "r"(id)); }
// void __attribute__((noinline)) c_end(int other, uint64_t id) { __asm__ volatile("" : : "r"(other), "r"(id)); }
import "C"

import (
	"os"
	"strconv"
)

//go:noinline
func growBegin(id uint64) byte {
	var large [64 << 10]byte
	large[id%uint64(len(large))] = 1
	return large[(id+1)%uint64(len(large))]
}

//go:noinline
func growEnd(other int, id uint64) byte {
	var large [256 << 10]byte
	large[id%uint64(len(large))] = byte(other)
	return large[(id+1)%uint64(len(large))]
}

func main() {
	times, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	done := make(chan byte)
	for id := range uint64(times) {
		// Each in a goroutine of its own, with a small stack.
		go func() { C.c_begin(C.uint64_t(id)); done <- growBegin(id) }()
		<-done
		go func() { C.c_end(7, C.uint64_t(id)); done <- growEnd(7, id) }()
		<-done
	}
}
