package experiment

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestSourceLines(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode, age time.Duration) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		return path
	}
	binary := write("binary", "", 0o755, time.Minute)
	source := write("a.c", "int f(void)\n\t{ return 1; }  \n\xff\n"+strings.Repeat("é", 500), 0o644, time.Hour)
	newer := write("newer.c", "x\n", 0o644, 0)
	lines, self := newSourceLines(), uint32(os.Geteuid())
	for _, c := range []struct {
		file string
		line int
		want string
	}{
		{source, 1, "int f(void)"},
		{source, 2, "{ return 1; }"},
		{source, 3, "?"},
		{source, 4, strings.Repeat("é", longestText)},
		{source, 5, ""},
		{source, 0, ""},
		{newer, 1, ""},
		{dir, 1, ""},
		{filepath.Join(dir, "none.c"), 1, ""},
		{"a.c", 1, ""},
		{"/dev/zero", 1, ""},
	} {
		if got := lines.text(c.file, c.line, binary, self); got != c.want {
			t.Errorf("%s:%d is %q, want %q", c.file, c.line, got, c.want)
		}
	}
	if os.Geteuid() == 0 {
		secret := write("secret.c", "x\n", 0o600, time.Hour)
		if got := lines.text(secret, 1, binary, self); got != "" {
			t.Errorf("what nobody may read is %q", got)
		}
		// The user who called sudo may read it if he owns it.
		for name, value := range map[string]string{"SUDO_UID": "65534", "SUDO_GID": "65534", "SUDO_USER": "nobody"} {
			t.Setenv(name, value)
		}
		for path, mode := range map[string]os.FileMode{dir: 0o755, filepath.Dir(dir): 0o755} {
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
		}
		if got := newSourceLines().text(secret, 1, binary, self); got != "" {
			t.Errorf("root's file, for another user, is %q", got)
		}
		if err := os.Chown(secret, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		if got := newSourceLines().text(secret, 1, binary, self); got != "x" {
			t.Errorf("the user's own file is %q", got)
		}
		if err := os.Chown(secret, 12345, 12345); err != nil {
			t.Errorf("root's rights are gone: %v", err)
		}
		if _, err := os.ReadFile(secret); err != nil {
			t.Errorf("root's rights are gone: %v", err)
		}
	}
}
