package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"whatif/accuracy/internal/rig"
	"whatif/internal/profile"
	"whatif/internal/testing/realkernel"
)

// TestStacksReachMain checks that whatif follows at least 99% of the stacks to main, through libraries without frame
// pointers. With functions as units, a sample counts for main only if its stack is followed to main. TestStacks
// in test/ has more libraries.
func TestStacksReachMain(t *testing.T) {
	realkernel.NeedWhole(t) // in make test TestStacks of test/ has deflate
	root, err := rig.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := choose([]string{"libc_call", "qsort_call", "memcpy_call", "deflate_call"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range chosen {
		p := &chosen[i]
		t.Run(p.name, func(t *testing.T) {
			built, err := build(t.Context(), root, p, false)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "whatif.profile")
			cmd := exec.Command(realkernel.Whatif(t), "run", "--quiet", "-u", "func", "-s", "0", "--period", "1ms",
				"--warmup", "500ms", "-d", "2s", "-o", file, "-p", p.pointSpec(), "--")
			cmd.Args = append(cmd.Args, p.command(built.plain, "0", forever)...)
			out, err := cmd.CombinedOutput()
			if rig.FailedItself(cmd.ProcessState) {
				t.Fatalf("%v\n%s", err, out)
			}
			runs, err := profile.ReadFiles([]string{file})
			if err != nil {
				t.Fatal(err)
			}
			if len(runs) != 1 || runs[0].End == nil {
				t.Fatalf("%d runs, or one without an end\n%s", len(runs), out)
			}
			var samples, reached int64
			lost := map[string]int64{}
			for _, e := range runs[0].Experiments {
				samples += e.Samples
				for id, n := range e.UnitSamples {
					if runs[0].Units[id].Name == "main" {
						reached += n
					}
				}
				for what, n := range e.Losses {
					lost[what] += n
				}
			}
			t.Logf("of %d samples %d reached main; lost %v", samples, reached, lost)
			if samples < 200 || 100*reached < 99*samples {
				t.Errorf("of %d samples only %d reached main; lost %v", samples, reached, lost)
			}
		})
	}
}
