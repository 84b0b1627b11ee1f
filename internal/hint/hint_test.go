package hint_test

import (
	"errors"
	"fmt"
	"testing"

	"whatif/internal/hint"
)

func TestOf(t *testing.T) {
	inner := hint.New(errors.New("no such file"), "create it")
	wrapped := fmt.Errorf("starting x: %w", inner)
	if got := wrapped.Error(); got != "starting x: no such file" {
		t.Errorf("text %q", got)
	}
	if got := hint.Of(wrapped); got != "create it" {
		t.Errorf("hint %q", got)
	}
	if got := hint.Of(hint.New(wrapped, "outer")); got != "outer" {
		t.Errorf("outermost hint %q", got)
	}
	if got := hint.Of(errors.New("plain")); got != "" {
		t.Errorf("hint of a plain error %q", got)
	}
	if hint.New(nil, "x") != nil {
		t.Error("New(nil) is not nil")
	}
}
