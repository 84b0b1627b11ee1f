package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"whatif/internal/profile"
	"whatif/internal/testing/realkernel"
)

// javaToy compiles the program, and gives the directory of its classes.
func javaToy(t *testing.T) (java, classes string) {
	t.Helper()
	java, err := exec.LookPath("java")
	if err != nil {
		t.Skip("java is not installed")
	}
	javac, err := exec.LookPath("javac")
	if err != nil {
		t.Skip("javac is not installed")
	}
	classes = t.TempDir()
	if out, err := exec.Command(javac, "-d", classes, "testdata/java/Toy.java").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return java, classes
}

// samplesIn counts the samples of all experiments, and those in methods of this name.
func samplesIn(d *profile.Data, method string) (all, in int64) {
	for _, e := range d.Experiments {
		all += e.Samples
		for id, n := range e.UnitSamples {
			if d.Units[id].Name == method {
				in += n
			}
		}
	}
	return all, in
}

// TestJava: methods that HotSpot compiles while the program runs are units, without a flag for the JVM, and nothing of
// what told their names stays behind.
func TestJava(t *testing.T) {
	realkernel.Need(t)
	java, classes := javaToy(t)
	flags := []string{"-p", "syscall:write", "-t", "func:Toy.longWork", "-s", "0,50", "--experiment", "100ms"}
	d, out := profiled(t, flags,
		[]string{java, "-cp", classes, "Toy", "6", "0"}, 0)
	if !regexp.MustCompile(`^rounds \d+\n$`).MatchString(out) {
		t.Errorf("the program printed %q", out)
	}
	all, longer := samplesIn(d, "Toy.longWork")
	_, shorter := samplesIn(d, "Toy.shortWork")
	// The work is 3 to 2. The rest is the JVM's own, which is much at the beginning.
	if longer < all/4 || longer < shorter*12/10 || longer > shorter*19/10 {
		t.Errorf("of %d samples %d in longWork, %d in shortWork: %+v", all, longer, shorter, d.Units)
	}
	left, err := filepath.Glob("/tmp/perf-*.map")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range left {
		if text, err := os.ReadFile(name); err == nil && strings.Contains(string(text), "Toy.longWork") {
			t.Errorf("%s is left", name)
		}
	}
}

// TestJavaRefuses: a JVM that cannot be asked is not disturbed: SIGQUIT would print its stacks, or end it.
func TestJavaRefuses(t *testing.T) {
	realkernel.Need(t)
	java, classes := javaToy(t)
	for _, flag := range []string{"-XX:+DisableAttachMechanism", "-Xrs"} {
		_, out := profiled(t, []string{"-p", "syscall:write", "-s", "0,50", "--experiment", "100ms"},
			[]string{java, flag, "-cp", classes, "Toy", "2", "0"}, 0)
		if !regexp.MustCompile(`^rounds \d+\n$`).MatchString(out) {
			t.Errorf("%s: the program printed %q", flag, out)
		}
	}
}
