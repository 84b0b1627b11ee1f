// Package rigtest opens a rig for tests: a test calls Open and uses the rig.
package rigtest

import (
	"errors"
	"testing"

	"whatif/accuracy/internal/rig"
	"whatif/internal/testing/realkernel"
)

// Open opens a rig with a whatif that is built from the checkout now. It skips the test if the user cannot run whatif.
func Open(t *testing.T) *rig.Rig {
	t.Helper()
	r, err := rig.Open("bin/whatif")
	if errors.Is(err, rig.ErrNotRoot) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	whatif, err := realkernel.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r.Use(whatif)
	return r
}
