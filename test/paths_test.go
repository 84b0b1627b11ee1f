package test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"whatif/internal/testing/realkernel"
)

// A file is one file under all the paths that processes have of it: its visits are counted once.
func TestOneFileByManyPaths(t *testing.T) {
	realkernel.NeedBeside(t)
	const n = 400
	dir := t.TempDir()
	for _, name := range []string{"bin", "bound", "one", "two", "empty"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// Static: in another root directory there are no libraries.
	compiled, err := os.ReadFile(realkernel.Compile(t, "testdata/paths.c", "-static"))
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "bin", "paths")
	if err := os.WriteFile(program, compiled, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(program, filepath.Join(dir, "bin", "linked")); err != nil {
		t.Fatal(err)
	}
	inNamespace := func(command string) string { return "exec unshare -m sh -c '" + command + "'" }
	ways := []string{
		fmt.Sprintf("bin/linked %d", n),
		inNamespace(fmt.Sprintf("mount --bind bin bound && exec bound/paths %d", n)),
		fmt.Sprintf("exec chroot bin /paths %d", n),
		// Two containers with images that have a layer in common have it so.
		inNamespace(fmt.Sprintf("mount -t overlay -o lowerdir=bin:empty overlay one && exec one/paths %d", n)),
		inNamespace(fmt.Sprintf("mount -t overlay -o lowerdir=bin:empty overlay two && exec chroot two /paths %d", n)),
	}
	if known, err := os.ReadFile("/proc/filesystems"); err != nil || !strings.Contains(string(known), "\toverlay\n") {
		ways = ways[:3]
	}
	for i, way := range ways {
		ways[i] = "cd " + dir + " && " + way
	}
	data, _ := profiled(t, []string{"-p", "func:visited", "-s", "0", "--experiment", "20ms"},
		append([]string{program, fmt.Sprint(n)}, ways...), 0)
	if got, want := data.End.Visits[0], int64(n*(1+len(ways))); got != want || data.End.Sites[0] != 1 {
		t.Errorf("%d visits at %d places, the program made %d at one; losses %v", got, data.End.Sites[0], want,
			data.End.Losses)
	}
}
