// Generics, methods, closures, maps and a good part of the standard library.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sort"
	"strings"
	"sync"
)

type T struct {
	mu sync.Mutex
	m  map[string]int
}

func (t *T) Get(k string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.m[k]
}

//go:noinline
func Map[A, B any](in []A, f func(A) B) []B {
	out := make([]B, 0, len(in))
	for _, a := range in {
		out = append(out, f(a))
	}
	return out
}

func half(n int) int { return twice(n) / 4 }
func twice(n int) int {
	if n < 0 {
		n = -n
	}
	return n + n
}

//go:noinline
func done() {}

func main() {
	t := &T{m: map[string]int{}}
	for _, w := range strings.Fields("the quick brown fox the lazy dog") {
		t.m[w] += half(len(w))
	}
	keys := Map(os.Args, func(s string) string { return strings.ToUpper(s) })
	sort.Slice(keys, func(i, j int) bool { return keys[i] < keys[j] })
	lengths := Map(keys, func(s string) int { return len(s) })
	b, err := json.Marshal(map[string]any{"keys": keys, "n": t.Get("the"), "l": lengths})
	if err != nil {
		fmt.Println(err)
	}
	if len(os.Args) > 5 {
		http.ListenAndServe(os.Args[1], nil)
	}
	fmt.Println(string(b))
	done()
}
