package profile

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestShortWrite: a write that is cut short is taken back, but never what another writer appended,
// as a file system may have no locks.
func TestShortWrite(t *testing.T) {
	for _, test := range []struct {
		name, other string
		again       bool // a later write may succeed
	}{
		{"alone", "", true},
		{"beside another writer", "another writer's line\n", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "p")
			w, err := Append(path)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			records := sampleRun("one")
			if err := w.Write(records[0]); err != nil {
				t.Fatal(err)
			}
			appendText(t, path, test.other)
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			restore := limitFile(t, uint64(len(whole)+10))
			err = w.Write(records[1])
			restore()
			if err == nil || !strings.Contains(err.Error(), "file too large") {
				t.Fatalf("writing more than the limit: %v", err)
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(got), string(whole)) {
				t.Errorf("the file was\n%sand is\n%s", whole, got)
			}
			if err := w.Write(records[1]); (err == nil) != test.again {
				t.Errorf("writing once more: %v", err)
			}
		})
	}
}

func appendText(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// limitFile keeps files from growing beyond a size, until restore is called.
func limitFile(t *testing.T, size uint64) (restore func()) {
	t.Helper()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
			t.Fatal(err)
		}
		signal.Reset(syscall.SIGXFSZ)
	}
}
