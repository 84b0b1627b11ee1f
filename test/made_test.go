package test

import (
	"os/exec"
	"testing"

	"whatif/internal/testing/realkernel"
)

// TestNode checks that samples in compiled JavaScript belong to the function that the script has.
func TestNode(t *testing.T) {
	realkernel.NeedBeside(t)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	d, _ := profiled(t, []string{"-p", "syscall:write", "-t", "func:hot", "-s", "0", "--period", "1ms"},
		[]string{node, "--perf-basic-prof", "--no-logfile-per-isolate", "--logfile=/dev/null", "testdata/made.js"}, 0)
	var all, hot int64
	for _, e := range d.Experiments {
		all += e.Samples
		for id, n := range e.UnitSamples {
			if u := d.Units[id]; u.Kind == "func" && u.Name == "hot" {
				hot += n
			}
		}
	}
	if all == 0 || hot < all/2 { // the rest is node's start, which has two fifths of the time on a slow machine
		t.Errorf("%d of %d samples in hot: %+v", hot, all, d.Units)
	}
}
