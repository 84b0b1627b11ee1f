// Gostacks spends some time in Go's library and runtime, in goroutines.
package main

import (
	"bytes"
	"compress/flate"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"
)

//go:noinline
func spend(text []byte) int {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, 6)
	if err != nil {
		panic(err)
	}
	w.Write(text)
	w.Close()
	words := strings.Fields(string(text))
	sort.Strings(words)
	counts := map[string]int{}
	for _, word := range words {
		counts[word]++
	}
	return len(fmt.Sprint(counts)) + out.Len()
}

func main() {
	var text bytes.Buffer
	for i := range 5000 {
		fmt.Fprintf(&text, "%d ", i*7919%5003)
	}
	var wait sync.WaitGroup
	for range 3 {
		wait.Go(func() {
			for end := time.Now().Add(600 * time.Millisecond); time.Now().Before(end); {
				spend(text.Bytes())
			}
		})
	}
	wait.Wait()
}
