package bpf_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"whatif/internal/testing/realkernel"
)

// TestVtime compiles vtime/, which the kernel side includes, for user space, and checks its arithmetic with many seeds.
// The programs in testdata/vtime are named after what they check. To add a check, write a function check_NAME there: it
// simulates many events with random_below, compares the result with the truth, and fails by MUST or with a line
// "broken: ...". Call it at the end of main: put elsewhere, it changes the random numbers of those after it. Then take
// the rule out of vtime/, and see the check fail.
func TestVtime(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no gcc: make test installs it")
	}
	seeds := 20
	if testing.Short() {
		seeds = 6
	}
	sources, err := filepath.Glob("testdata/vtime/*.c")
	if err != nil || len(sources) == 0 {
		t.Fatalf("%v: %v", sources, err)
	}
	for _, source := range sources {
		t.Run(filepath.Base(source), func(t *testing.T) {
			t.Parallel()
			program := realkernel.Compile(t, source, "-O2")
			for seed := range seeds {
				if out, err := exec.Command(program, fmt.Sprint(seed)).CombinedOutput(); err != nil {
					t.Errorf("seed %d: %v\n%s", seed, err, out)
				}
			}
		})
	}
}
