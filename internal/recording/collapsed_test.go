package recording

import (
	"strings"
	"testing"
)

// TestCollapsed: equal stacks of equal threads are one line, and names from outside break none.
func TestCollapsed(t *testing.T) {
	r := &Recording{
		Threads: []Thread{{Name: "main"}, {Name: "work;er\x1b[0m"}},
		Frames: []Frame{
			{Function: "inner(int)", Short: "inner"}, {Function: "outer"}, {Function: "do_write", Kernel: true}, {},
		},
		Stacks: []Stack{{0, 1}, {2, 0, 1}, {3, 99}},
		Windows: []Window{{Events: []Event{
			{Kind: Sample, Thread: 0, Stack: 0}, {Kind: Switch, Thread: 0, Stack: 0}, {Kind: Sample, Thread: 0, Stack: 0},
		}}, {Events: []Event{
			{Kind: Sample, Thread: 0, Stack: 0}, {Kind: Sample, Thread: 1, Stack: 1}, {Kind: Sample, Thread: 1, Stack: 2},
			{Kind: Sample, Thread: 7, Stack: No},
		}}},
	}
	var b strings.Builder
	if err := Collapsed(&b, r); err != nil {
		t.Fatal(err)
	}
	const want = "main;outer;inner 3\nthread 1\nwork:er?[0m;outer;inner;do_write_[k] 1\nwork:er?[0m;unknown 1\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}
