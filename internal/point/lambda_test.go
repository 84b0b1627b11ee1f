package point

import (
	"testing"

	"whatif/internal/code/symbol"
)

// TestLambdaTarget: the name of a lambda has the characters that tell a function from a line, and is a function.
func TestLambdaTarget(t *testing.T) {
	const lambda = "main::{lambda at engine.cpp:70}::operator()"
	f := symbol.Frame{Func: lambda, Short: lambda, File: "/src/engine.cpp", Line: 71}
	for _, text := range []string{"func:" + lambda, "func:main::{lambda at *}::operator()"} {
		target, err := ParseTarget(text)
		if err != nil || !target.Is(f) {
			t.Errorf("%s: %+v, %v", text, target, err)
		}
	}
	path, err := ParseTarget("integrate<" + lambda)
	if err != nil || len(path.Callers) != 1 || path.Callers[0].Func != lambda {
		t.Errorf("below a lambda: %+v, %v", path, err)
	}
}
