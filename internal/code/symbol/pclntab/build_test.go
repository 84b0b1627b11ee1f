package pclntab

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// selfBuild compiles the program that prints the runtime's frames of its own addresses. It does so outside of this
// module, because other versions of Go compile the program, too.
func selfBuild(t testing.TB, command, version string, args []string, cgo bool) string {
	t.Helper()
	if cgo {
		if _, err := exec.LookPath("gcc"); err != nil {
			t.Skip("gcc is not installed")
		}
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../testdata/src/goself")); err != nil {
		t.Fatal(err)
	}
	language := "1.26"
	if version != "this" {
		var major, minor int
		if _, err := fmt.Sscanf(version, "go%d.%d", &major, &minor); err != nil {
			t.Fatalf("%s is not named as a version of Go: %v", version, err)
		}
		language = fmt.Sprintf("%d.%d", major, minor)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module goself\n\ngo "+language+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "goself")
	cmd := exec.Command(command, append(append([]string{"build"}, args...), "-o", out, ".")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local", "GOROOT=", "CGO_ENABLED=0")
	if cgo {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=1")
	}
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, text)
	}
	return out
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
