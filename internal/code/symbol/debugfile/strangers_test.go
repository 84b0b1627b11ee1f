package debugfile

import (
	"debug/elf"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"whatif/internal/code/symbol/object"
	"whatif/internal/testing/hostile"
)

// TestNamesOfStrangers checks that a .dwo file or a package that a binary names is opened only if it is a regular file,
// and with the rights of the binary's owner.
func TestNamesOfStrangers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has others' rights")
	}
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	file := &hostile.File{Sections: []hostile.Section{
		{Name: ".debug_info.dwo", Type: elf.SHT_PROGBITS, Data: []byte("x")},
		{Name: ".debug_cu_index", Type: elf.SHT_PROGBITS, Data: []byte("x")},
	}}
	data, err := os.ReadFile(file.Write(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{
		"plain.dwo": 0o644, "secret.dwo": 0o600, "binary": 0o755, "binary.dwp": 0o600,
	} {
		if err := os.WriteFile(at(name), data, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("secret.dwo", at("leak.dwo")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(at("fifo.dwo"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mknod(at("null.dwo"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))); err != nil {
		t.Log(err)
	}
	if err := os.Mkdir(at("directory.dwo"), 0o755); err != nil {
		t.Fatal(err)
	}
	for owner, readable := range map[int]map[string]bool{
		0: {"plain.dwo": true, "secret.dwo": true, "leak.dwo": true, "binary.dwp": true}, 65534: {"plain.dwo": true},
	} {
		if err := os.Chown(at("binary"), owner, owner); err != nil {
			t.Fatal(err)
		}
		binary := open(t, at("binary"))
		f := New(binary, nil)
		for _, name := range []string{"plain.dwo", "secret.dwo", "leak.dwo", "fifo.dwo", "null.dwo", "directory.dwo"} {
			for _, how := range []string{name, at(name)} {
				o := f.Split(binary, how, dir, func(*object.File) bool { return true })
				if (o != nil) != readable[name] {
					t.Errorf("owner %d, %s: opened: %v", owner, how, o != nil)
				}
			}
		}
		if o := f.Package(binary); (o != nil) != readable["binary.dwp"] {
			t.Errorf("owner %d: the package was opened: %v", owner, o != nil)
		}
		f.Close()
	}
}
