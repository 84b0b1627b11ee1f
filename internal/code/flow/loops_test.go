package flow

import (
	"bytes"
	"slices"
	"testing"
	"time"
)

// TestLoopsOfHostileCode: code that is made to take long takes no more than the bounded number of steps.
func TestLoopsOfHostileCode(t *testing.T) {
	const size = 128 << 10
	back := []byte{0x75, 0x80} // as far back as a short jump can
	for name, code := range map[string][]byte{
		"switches":     bytes.Repeat([]byte{0xff, 0xe0, 0xff, 0xc0}, size/4),
		"jumps back":   bytes.Repeat(back, size/2),
		"jumps to all": bytes.Repeat([]byte{0x75, 0x7e, 0x75, 0x80}, size/4),
		"calls":        bytes.Repeat([]byte{0xe8, 0, 0, 0, 0, 0xeb, 0xf9}, size/7),
	} {
		begin := time.Now()
		loops := New(0x1000, []Code{{Addr: 0x1000, Bytes: code}}, nil).Loops()
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("%s: %d loops in %v", name, len(loops), took)
		} else {
			t.Logf("%s: %d loops in %v", name, len(loops), took)
		}
	}
}

// Loops are found by where code can go, and not by where it lies.
func TestLoops(t *testing.T) {
	for _, c := range []struct {
		name string
		code assembled
		want [][]int // the instructions of each loop, by their number
	}{
		{"one", assemble(inc, inc, test, jne(-7), ret), [][]int{{1, 2, 3}}},
		{"none", assemble(test, jne(3), inc, inc, ret), nil},
		{"of one instruction", assemble(inc, jne(-2), ret), [][]int{{1}}},
		{"nested", assemble(inc, inc, inc, test, jne(-7), inc, jne(-15), ret),
			[][]int{{2, 3, 4}, {1, 2, 3, 4, 5, 6}}},
		// Two ways back to one beginning are one loop.
		{"two jumps", assemble(inc, inc, jne(-5), inc, jne(-10), ret), [][]int{{1, 2, 3, 4}}},
		// A rare case lies behind the function's end, and goes back to where it came from.
		{"a rare case", assemble(test, jne(4), inc, ret, inc, jmp(-9)), nil},
		{"a rare case in a loop", assemble(inc, test, jne(7), inc, jne(-9), jmp(5), inc, jmp(-12), ret),
			[][]int{{1, 2, 3, 4, 6, 7}}},
		// The rare case joins a loop at its beginning.
		{"a rare case before a loop", assemble(test, jne(9), inc, inc, jne(-8), ret, inc, jmp(-14)), [][]int{{2, 3, 4}}},
		// The part that goes on lies before the beginning, and behind what fills up.
		{"turned", assemble(test, jne(9), ret, nop5, inc, inc, test, jne(-10), ret), [][]int{{4, 5, 6, 7}}},
		// It is entered in its middle, too.
		{"two ways in", assemble(test, jne(3), inc, inc, jne(-8), ret), nil},
		{"nothing", assemble(), nil},
	} {
		var got [][]int
		for _, l := range c.code.graph().Loops() {
			var numbers []int
			for _, s := range l.Body {
				numbers = append(numbers, slices.Index(c.code.at, s.Addr))
			}
			got = append(got, numbers)
		}
		if !slices.EqualFunc(got, c.want, slices.Equal[[]int]) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
