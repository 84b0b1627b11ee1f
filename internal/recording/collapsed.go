package recording

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Collapsed writes the recording's samples as flame graph tools read them: a line for each stack, the outermost
// function first, and how many samples met it. A thread's name comes before its functions.
func Collapsed(w io.Writer, r *Recording) error {
	counts := make(map[string]int)
	for _, window := range r.Windows {
		for i := range window.Events {
			if e := &window.Events[i]; e.Kind == Sample {
				counts[r.collapse(e)]++
			}
		}
	}
	lines := make([]string, 0, len(counts))
	for stack, n := range counts {
		lines = append(lines, fmt.Sprintf("%s %d\n", stack, n))
	}
	slices.Sort(lines)
	b := bufio.NewWriter(w)
	for _, line := range lines {
		if _, err := b.WriteString(line); err != nil {
			return err
		}
	}
	return b.Flush()
}

// collapse gives a sample's stack in one line.
func (r *Recording) collapse(e *Event) string {
	name := "thread"
	if t := int(e.Thread); t >= 0 && t < len(r.Threads) && r.Threads[t].Name != "" {
		name = r.Threads[t].Name
	}
	all := []string{inCollapsed(name)}
	if s := int(e.Stack); s >= 0 && s < len(r.Stacks) {
		for _, number := range slices.Backward(r.Stacks[s]) {
			if number < 0 || int(number) >= len(r.Frames) {
				continue
			}
			f := &r.Frames[number]
			function := f.Short
			if function == "" {
				function = f.Function
			}
			if function == "" {
				function = "unknown"
			}
			if f.Kernel {
				function += "_[k]" // flame graph tools give these a colour of their own
			}
			all = append(all, inCollapsed(function))
		}
	}
	return strings.Join(all, ";")
}

// inCollapsed gives a name without what would end it, and without what a terminal obeys. Names are from outside.
func inCollapsed(name string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == ';':
			return ':'
		case c < ' ' || c == 0x7f || c >= 0x80 && c < 0xa0:
			return '?'
		}
		return c
	}, name)
}
