package symbol

import (
	"path/filepath"
	"slices"
	"testing"

	"whatif/internal/testing/compiled"
)

// build compiles testdata/src/source with a command and returns the program's path. It skips the test if
// the compiler is not installed.
func build(t testing.TB, source string, command ...string) string {
	t.Helper()
	path := filepath.Join("testdata", "src", source)
	if command[0] == "go" {
		return compiled.Go(t, path, command[2:]...)
	}
	return buildFile(t, path, command...)
}

func buildFile(t testing.TB, src string, command ...string) string {
	t.Helper()
	words := append(slices.Clone(command), "-o", compiled.Out, compiled.Src+filepath.Base(src))
	return compiled.Program(t, compiled.File(t, src), nil, words...)
}

// open opens a binary until the end of the test.
func open(t testing.TB, path string) *Binary {
	t.Helper()
	b, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}
