package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"whatif/internal/load"
)

// Programs of all languages measure the same speed of the processor. They take it from the environment if it is set
// there, and scale it on request. The best of many loops is the same on a busy machine.
func TestCalibration(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	programs := filepath.Join(root, "accuracy", "programs")
	c := write("steps.c", fmt.Sprintf("#include %q\nint main(void) { printf(\"%%ld\\n\", US); }\n",
		filepath.Join(programs, "bench.h")))
	rust := write("steps.rs", fmt.Sprintf("#[path = %q]\nmod bench;\nfn main() { println!(\"{}\", bench::us()); }\n",
		filepath.Join(programs, "bench.rs")))
	for _, language := range []struct {
		name    string
		build   []string
		perStep float64 // the number of steps in this language that take as long as one in C
	}{
		{"C", []string{"gcc", "-O2", "-Wall", "-Wno-unused-function", "-o", filepath.Join(dir, "C"), c}, 1},
		{"Rust", []string{"rustc", "-O", "--edition", "2021", "-Adead_code", "-o", filepath.Join(dir, "Rust"), rust}, 4. / 6},
		{"Java", javaSteps(t, dir, filepath.Join(programs, "jvm", "Bench.java")), 4. / 5},
	} {
		if _, err := exec.LookPath(language.build[0]); err != nil {
			t.Logf("no %s", language.build[0])
			continue
		}
		if _, err := runCommand(t.Context(), dir, language.build); err != nil {
			t.Fatal(err)
		}
		steps := func(environment ...string) (n float64) {
			cmd := exec.Command(filepath.Join(dir, language.name))
			cmd.Env = append([]string{}, environment...) // not nil: the test may have a scale of its own
			output, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Sscan(string(output), &n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		plain, less := steps(), steps(load.ScaleVariable+"=0.7")
		here := float64(load.StepsPerMicrosecond(func(string) string { return "" }))
		t.Logf("%s: %.0f steps a microsecond, with 0.7 of them %.0f; Go: %.0f", language.name, plain, less, here)
		if math.Abs(less/plain-0.7) > 0.1 {
			t.Errorf("%s: %.0f steps a microsecond, with 0.7 of them %.0f", language.name, plain, less)
		}
		if off := plain / (language.perStep * here); off < 0.75 || off > 1.33 {
			t.Errorf("%s: %.0f steps a microsecond, Go has %.0f", language.name, plain, here)
		}
		want := math.Floor(1200 * language.perStep)
		if got := steps(load.StepsVariable+"=1200", load.ScaleVariable+"=0.7"); got != want {
			t.Errorf("%s: %.0f steps, told to take %.0f", language.name, got, want)
		}
	}
}

// javaSteps writes a Java program that prints its steps, and the script Java that runs it, and gives the command that
// compiles the program.
func javaSteps(t *testing.T, dir, bench string) []string {
	t.Helper()
	const program = `package jvm;
class Steps {
  public static void main(String[] args) throws Exception {
    Bench.start(new String[] {"0", "1"});
    System.out.println(Bench.us(1));
  }
}
`
	source := filepath.Join(dir, "Steps.java")
	if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	vm, err := exec.LookPath("java")
	if err != nil {
		return []string{"java"} // it is said that there is none
	}
	script := fmt.Sprintf("#!/bin/sh\nexec %s -cp %s jvm.Steps\n", vm, dir)
	if err := os.WriteFile(filepath.Join(dir, "Java"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return []string{"javac", "-d", dir, bench, source}
}

// The driver measures the speed once, and tells it to all programs.
func TestShareCalibration(t *testing.T) {
	t.Setenv(load.StepsVariable, "")
	t.Setenv(load.ScaleVariable, "")
	if err := shareCalibration(); err != nil {
		t.Fatal(err)
	}
	said := os.Getenv(load.StepsVariable)
	if said == "" || strings.Trim(said, "0123456789") != "" {
		t.Fatalf("%q", said)
	}
	if err := shareCalibration(); err != nil || os.Getenv(load.StepsVariable) != said {
		t.Errorf("%q, then %q, %v", said, os.Getenv(load.StepsVariable), err)
	}
}

// The order of levels differs between runs and programs, unless the seed is given.
func TestOrder(t *testing.T) {
	seed := func(args ...string) uint64 {
		o, err := parseOptions(os.Stderr, args)
		if err != nil {
			t.Fatal(err)
		}
		return o.plan.seed
	}
	one, other := seed(), seed()
	if one == 0 || one == other {
		t.Errorf("seeds %d and %d", one, other)
	}
	if got := seed("-seed", "7"); got != 7 {
		t.Errorf("seed %d, 7 was asked for", got)
	}
	order := func(seed uint64, name string) string {
		pl := plan{seed: seed}
		return fmt.Sprint(pl.order(&program{name: name}).Perm(20))
	}
	if order(7, "spin") != order(7, "spin") {
		t.Error("one seed, two orders")
	}
	if order(7, "spin") == order(7, "lock") || order(7, "spin") == order(8, "spin") {
		t.Error("the same order for other programs or seeds")
	}
}
