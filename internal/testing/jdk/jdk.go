// Package jdk compiles Java programs for tests.
package jdk

import (
	"io/fs"
	"os/exec"
	"slices"
	"testing"

	"whatif/internal/testing/compiled"
)

// Short are the flags of a VM that runs for a second or less: it compiles its code quickly rather than well, and
// collects garbage in one thread. That halves what javac takes.
var Short = []string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"}

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

// Programs compiles source files, with all that a debugger wants to know, and gives the directory of their classes.
// Tests do not change it.
func Programs(t testing.TB, sources fs.FS) (java, classes string) {
	t.Helper()
	java, javac := Find(t)
	names, err := fs.Glob(sources, "*.java")
	if err != nil {
		t.Fatal(err)
	}
	command := append([]string{javac}, forCompiler()...)
	command = append(command, "-d", compiled.Out)
	for _, name := range names {
		command = append(command, compiled.Src+name)
	}
	return java, compiled.Program(t, sources, nil, command...)
}

// CompileTo compiles source files to a directory.
func CompileTo(t testing.TB, classes string, sources ...string) (java string) {
	t.Helper()
	java, javac := Find(t)
	args := slices.Concat(forCompiler(), []string{"-d", classes}, sources)
	if out, err := exec.Command(javac, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return java
}

func forCompiler() []string {
	args := []string{"-g"}
	for _, flag := range Short {
		args = append(args, "-J"+flag)
	}
	return args
}
