// Package jdk compiles Java programs for tests.
package jdk

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

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

// Left gives the directories for agents, of names that match a pattern, that are not in use and were not removed. A
// whatif locks its directory as long as it uses it, so one that another process has locked is of a test that runs
// beside.
func Left(t testing.TB, pattern string) (left []string) {
	t.Helper()
	// A directory is locked a moment after it is made, and what a whatif has left that was killed the next one removes.
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		all, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		locks, err := os.ReadFile("/proc/locks")
		if err != nil {
			t.Fatal(err)
		}
		left = slices.DeleteFunc(all, func(dir string) bool {
			var st unix.Stat_t
			if unix.Lstat(dir, &st) != nil {
				return true // removed meanwhile
			}
			by := lockedBy(string(locks), st.Ino)
			return by != 0 && by != os.Getpid()
		})
		if len(left) == 0 || time.Now().After(end) {
			return left
		}
	}
}

// lockedBy is the process that has locked a directory, by the table of /proc/locks; 0: none.
func lockedBy(locks string, inode uint64) (pid int) {
	for line := range strings.Lines(locks) {
		// 1: FLOCK ADVISORY WRITE 4711 fe:00:12345 0 EOF
		words := strings.Fields(line)
		if len(words) > 5 && words[1] == "FLOCK" && strings.HasSuffix(words[5], fmt.Sprintf(":%d", inode)) {
			fmt.Sscan(words[4], &pid)
			return pid
		}
	}
	return 0
}
