// Package committed tests that compiled files that are committed are what their source gives.
package committed

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var commands = regexp.MustCompile(`(?m)^//go:generate clang (.*)$`)

// Check executes clang's commands in a Go file of the test's directory, n of them, again, and compares what they make
// with what is committed. compiler is the file that says which compiler has made that: without the same one the test is
// skipped.
func Check(t *testing.T, source, compiler string, n int) {
	t.Helper()
	used, err := os.ReadFile(compiler)
	if err != nil {
		t.Fatal(err)
	}
	version, err := exec.Command("clang", "--version").Output()
	_, lld := exec.LookPath("ld.lld")
	if err != nil || lld != nil || !strings.HasPrefix(string(version), strings.TrimSpace(string(used))) {
		t.Skip("not the compiler that made the committed files, or no lld")
	}
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	lines := commands.FindAllStringSubmatch(string(text), -1)
	if len(lines) != n {
		t.Fatalf("%d commands", len(lines))
	}
	for _, line := range lines {
		args := strings.Fields(line[1])
		at := len(args) - 2 // -o FILE SOURCE
		file := args[at]
		args[at] = filepath.Join(t.TempDir(), file)
		if out, err := exec.Command("clang", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		want, err := os.ReadFile(args[at])
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what go generate makes: %v", file, err)
		}
	}
}
