package pclntab

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"whatif/internal/testing/compiled"
)

// selfBuild compiles the program that prints the runtime's frames of its own addresses, with any version of Go.
func selfBuild(t testing.TB, command, version string, args []string, cgo bool) string {
	t.Helper()
	variables := []string{"GOFLAGS=-mod=mod", "GOTOOLCHAIN=local", "GOROOT=", "CGO_ENABLED=0"}
	if cgo {
		if _, err := exec.LookPath("gcc"); err != nil {
			t.Skip("gcc is not installed")
		}
		variables = append(variables, "CGO_ENABLED=1")
	}
	language := "1.26"
	if version != "this" {
		var major, minor int
		if _, err := fmt.Sscanf(version, "go%d.%d", &major, &minor); err != nil {
			t.Fatalf("%s is not named as a version of Go: %v", version, err)
		}
		language = fmt.Sprintf("%d.%d", major, minor)
	}
	const source = "../testdata/src/goself"
	words := compiled.GoBuild(command, source, args...)
	return compiled.Program(t, compiled.Module(t, source, language), variables, words...)
}

// open returns the table of a binary.
func open(t testing.TB, path string) *Table {
	t.Helper()
	image, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		t.Fatal(err)
	}
	table, err := Find(f, image)
	if err != nil {
		t.Fatal(err)
	}
	if table == nil {
		t.Fatalf("%s has no table", path)
	}
	return table
}
