//go:build go1.18
// +build go1.18

package main

import (
	"fmt"
	"os"
	"strings"
)

// list has instances of several shapes.
type list[T any] struct {
	items []T
	limit int
}

//go:noinline
func (l *list[T]) add(x T) {
	if len(l.items) < l.limit {
		l.items = append(l.items, x)
	}
}

func (l *list[T]) each(f func(T)) {
	for _, x := range l.items {
		f(x)
	}
}

//go:noinline
func convert[A, B any](in []A, f func(A) B) []B {
	var out []B
	for _, a := range in {
		out = append(out, f(a))
	}
	return out
}

func generic() {
	words, lengths := list[string]{limit: 9}, list[int]{limit: 9}
	for _, arg := range os.Args {
		words.add(strings.ToUpper(arg))
		lengths.add(len(arg))
	}
	words.each(func(s string) { fmt.Println(s) })
	lengths.each(func(n int) { fmt.Println(n) })
	fmt.Println(
		convert(os.Args, func(s string) int { return len(s) }),
		convert(lengths.items, func(n int) string { return fmt.Sprint(n) }))
}
