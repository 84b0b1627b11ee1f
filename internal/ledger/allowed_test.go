package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"whatif/internal/hint"
)

// TestOpenOwn: what counts is the file's owner, not that of a link to it.
func TestOpenOwn(t *testing.T) {
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
	f, err := openOwn(mine)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	for _, name := range []string{theirs, link} {
		if _, err := openOwn(name); err == nil || !strings.Contains(err.Error(), "the file is not yours") || hint.Of(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := openOwn(filepath.Join(dir, "none")); !os.IsNotExist(err) && !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a file that is not there: %v", err)
	}
}
