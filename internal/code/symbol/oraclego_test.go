package symbol

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"
)

// TestFramesAgainstGo compares frames with those of runtime.CallersFrames in the program itself, which reads Go's own
// tables. With debug information our frames come from DWARF, without it from the same tables (package pclntab
// compares those for more versions of Go). sameAsRuntime has the only differences that are allowed.
func TestFramesAgainstGo(t *testing.T) {
	for _, args := range [][]string{
		{"-trimpath=false"}, {"-buildmode=pie"}, {"-ldflags=-s -w"}, {"-buildmode=pie", "-ldflags=-s -w"}, {"-ldflags=-w"},
	} {
		t.Run(fmt.Sprint(args), func(t *testing.T) {
			if testing.Short() && args[0] != "-trimpath=false" && len(args) == 1 {
				t.Skip("left to make test-whole")
			}
			path := build(t, "goself", append([]string{"go", "build"}, args...)...)
			b := open(t, path)
			addrs := textAddresses(b, sampleSize())
			answers := askRuntime(t, path, addrs)
			diffs, inlined := 0, 0
			for i, addr := range addrs {
				got := b.framesAt(addr)
				if len(got) > 1 {
					inlined++
				}
				if sameAsRuntime(b, addr, got, answers[i]) {
					continue
				}
				if diffs++; diffs <= 10 {
					t.Logf("%#x:\n\tgot  %v\n\twant %v", addr, got, answers[i])
				}
			}
			t.Logf("%d addresses, %d inlined, %d disagree", len(addrs), inlined, diffs)
			if diffs > 0 {
				t.Errorf("%d of %d addresses disagree for no reason that sameAsRuntime knows", diffs, len(addrs))
			}
			if inlined < len(addrs)/10 {
				t.Errorf("only %d of %d addresses are in inlined code", inlined, len(addrs))
			}
		})
	}
}

// askRuntime runs the program, which prints the runtime's frames of its own addresses.
func askRuntime(t *testing.T, path string, addrs []uint64) [][]Frame {
	var in bytes.Buffer
	for _, a := range addrs {
		fmt.Fprintf(&in, "%#x\n", a)
	}
	cmd := exec.Command(path)
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var answers [][]Frame
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var chain []Frame
		if err := json.Unmarshal(lines.Bytes(), &chain); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, chain)
	}
	if len(answers) != len(addrs) {
		t.Fatalf("%d answers to %d addresses", len(answers), len(addrs))
	}
	return answers
}

// sameAsRuntime compares a chain with the runtime's, apart from frames that the runtime cannot or does not show.
func sameAsRuntime(b *Binary, addr uint64, got, want []Frame) bool {
	if len(want) == 0 {
		// The runtime shows no name for the function whose name comes first in its table.
		return len(got) == 1
	}
	if want[0].File == "?" {
		// To the runtime, padding belongs to the function before it. So it does in a symbol table that
		// has no size for the function.
		return len(got) == 0 || got[0].Line == 0
	}
	// The runtime does not show wrappers around code that was inlined into them. Generated code has no line
	// or, in DWARF, the line of the initialized variable.
	same := func(g, w Frame) bool {
		return g.Func == w.Func && (g.File == w.File && g.Line == w.Line || w.File == generated)
	}
	if slices.EqualFunc(got, want, same) {
		return true
	}
	if f, ok := b.aroundGo(addr); ok && f.End == addr+1 {
		return true // the runtime gets the address behind, as for a call, which is in the next function
	}
	shown := slices.Clone(got)
	for i := len(shown) - 1; i > 0; i-- {
		if hiddenByRuntime(shown[i]) {
			shown = slices.Delete(shown, i, i+1)
		}
	}
	if slices.EqualFunc(shown, want, same) {
		return true
	}
	// Padding before a jump has the line after it in the runtime's table, and the line before it in DWARF.
	return isPadding(b, addr) && len(shown) == len(want) && shown[0].Func == want[0].Func &&
		slices.EqualFunc(shown[1:], want[1:], same)
}

// isPadding reports whether an address is in a no-op.
func isPadding(b *Binary, addr uint64) bool {
	f, ok := b.aroundGo(addr)
	if !ok {
		return false
	}
	code := b.bytesAt(f.Entry, f.End-f.Entry)
	for at := f.Entry; at <= addr; {
		x, err := x86asm.Decode(code[at-f.Entry:], 64)
		if err != nil {
			return false
		}
		if at += uint64(x.Len); at > addr {
			return x.Op == x86asm.NOP
		}
	}
	return false
}

// hiddenByRuntime reports whether a function only wraps the call of another: a method by pointer, a deferred call with
// arguments, reflection.
func hiddenByRuntime(f Frame) bool {
	return f.File == "" || strings.Contains(f.Func, ".deferwrap") || strings.Contains(f.Func, ".gowrap") ||
		strings.HasSuffix(f.Func, "-fm") || f.Func == "reflect.callMethod" || f.Func == "reflect.callReflect"
}
