package debian

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A package that is there is not fetched again; files beside its tree are not taken for it, nor is another package
// with a name that begins alike.
func TestSourceIsThere(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"bzip2-1.0.8", "bzip2-doc-1.0"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "bzip2-2.dsc"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tree, err := Source(t.Context(), dir, "bzip2", io.Discard)
	if err != nil || filepath.Base(tree) != "bzip2-1.0.8" {
		t.Errorf("%q, %v", tree, err)
	}
	if err := os.Mkdir(filepath.Join(dir, "bzip2-1.0.9"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err = Source(t.Context(), dir, "bzip2", io.Discard)
	if err == nil || !strings.Contains(err.Error(), "2 versions") {
		t.Errorf("two versions: %v", err)
	}
}

func TestCommand(t *testing.T) {
	err := Command(t.Context(), t.TempDir(), "sh", "-c", "echo why >&2; exit 3")
	if err == nil || !strings.HasSuffix(err.Error(), "why") {
		t.Errorf("%v", err)
	}
}
