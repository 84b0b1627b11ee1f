// Package jdk compiles Java programs for tests.
package jdk

import (
	"os/exec"
	"slices"
	"testing"
)

// Find gives the paths of java and javac, and skips the test where there is no Java.
func Find(t testing.TB) (java, javac string) {
	t.Helper()
	java, err := exec.LookPath("java")
	if err != nil {
		t.Skip("java is not installed")
	}
	if javac, err = exec.LookPath("javac"); err != nil {
		t.Skip("javac is not installed")
	}
	return java, javac
}

// Compile compiles source files, with all that a debugger wants to know, and gives the directory of their classes.
func Compile(t testing.TB, sources ...string) (java, classes string) {
	t.Helper()
	classes = t.TempDir()
	return CompileTo(t, classes, sources...), classes
}

// CompileTo is Compile to a directory.
func CompileTo(t testing.TB, classes string, sources ...string) (java string) {
	t.Helper()
	java, javac := Find(t)
	args := slices.Concat([]string{"-g", "-d", classes}, sources)
	if out, err := exec.Command(javac, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return java
}
