package sourcefile

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := write("a.c", []byte("int main;\n/* Grüße, Jos\xe9 */ "+
		"int padding_of_some_length_so_that_one_byte_is_little_of_it_all_in_all;\n"))
	if text, err := Read(good); err != nil || len(text) == 0 {
		t.Errorf("%q, %v", text, err)
	}
	fifo := filepath.Join(dir, "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		write("zero", []byte("a\x00b")), write("binary", []byte("\xff\xfe\xfd\xfc")), write("large", make([]byte, MaxSize+1)),
		fifo, dir, "/dev/zero", "/dev/tty", filepath.Join(dir, "none"),
	} {
		if text, err := Read(path); err == nil {
			t.Errorf("%s: %d bytes", path, len(text))
		}
	}
	if Sum([]byte("a")) == Sum([]byte("b")) || Sum(nil) != Sum([]byte{}) {
		t.Error("sums")
	}
}
