package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"whatif/internal/hint"
)

// The owner of the file decides, not the owner of a link to it.
func TestCheckOwn(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, for a file of another user")
	}
	dir := t.TempDir()
	mine, theirs, link := filepath.Join(dir, "mine"), filepath.Join(dir, "theirs"), filepath.Join(dir, "link")
	for _, name := range []string{mine, theirs} {
		if err := os.WriteFile(name, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(theirs, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(theirs, link); err != nil {
		t.Fatal(err)
	}
	check := func(name string) error {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return checkOwn(f)
	}
	if err := check(mine); err != nil {
		t.Error(err)
	}
	for _, name := range []string{theirs, link} {
		if err := check(name); err == nil || !strings.Contains(err.Error(), "the file is not yours") || hint.Of(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
