package main

import (
	"io"
	"testing"

	"whatif/internal/realkernel"
)

// TestSmoke measures little of a few programs of different kinds. A busy machine keeps its limit; the
// prediction of a ledger that does not work would not: the truth at 100% is 33, 0, 67, 75 and 57.
func TestSmoke(t *testing.T) {
	realkernel.Need(t)
	const limit = 15.0 // points
	o, err := parseOptions(io.Discard, []string{"-quick", "-levels", "50,100", "-patience", "10s", "-only", "barrier,off_path,spin,poll_batch", "-whatif", realkernel.Whatif(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.locate(); err != nil {
		t.Fatal(err)
	}
	results, failed := studyAll(t.Context(), o, t.Output())
	if failed || len(results) != 4 {
		t.Fatalf("%d of 4 programs were studied", len(results))
	}
	for i := range results {
		r := &results[i]
		if e := r.errorOf(); !(e <= limit) {
			t.Errorf("%s: the predictions are off by %.1f points on average: %+v", r.Program, e, r.Levels)
		}
	}
}
