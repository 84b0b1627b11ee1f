package bpf_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestLedgerArithmetic compiles vtime/, which the kernel side includes, for
// user space, and drives it with random events. testdata/simulate.c says what
// must hold.
func TestLedgerArithmetic(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc: make test installs it")
	}
	simulate := filepath.Join(t.TempDir(), "simulate")
	args := []string{"-O2", "-Wall", "-Werror", "-o", simulate, "testdata/simulate.c"}
	if out, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	seeds := 20
	if testing.Short() {
		seeds = 6
	}
	for seed := range seeds {
		for _, slack := range []int{0, 1000, 4000} {
			out, err := exec.Command(simulate, fmt.Sprint(seed), "200000", fmt.Sprint(slack)).CombinedOutput()
			if err != nil {
				t.Fatalf("seed %d, slack %d: %v\n%s", seed, slack, err, out)
			}
		}
	}
}
