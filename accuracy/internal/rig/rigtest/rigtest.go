// Package rigtest opens a rig for a test.
package rigtest

import (
	"errors"
	"testing"

	"whatif/accuracy/internal/rig"
)

// Open opens a rig with the checkout's whatif, built now. Without the privileges for it the test is skipped.
func Open(t *testing.T) *rig.Rig {
	t.Helper()
	r, err := rig.Open("bin/whatif")
	if errors.Is(err, rig.ErrNotRoot) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := r.BuildWhatif(t.Context(), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	return r
}
