package target

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

func TestParseMaps(t *testing.T) {
	text := `00400000-00401000 r--p 00000000 fe:01 100                                /bin/a b
00401000-00402000 r-xp 00001000 fe:01 100                                /bin/a b
7f0000000000-7f0000001000 r-xp 00000000 00:01 2048                       /memfd:jit (deleted)
7f0000002000-7f0000003000 rwxp 00000000 00:00 0
7f0000004000-7f0000005000 r-xs 00002000 103:10f 18446744073709551615     /x\012y
7ffc00000000-7ffc00002000 r-xp 00000000 00:00 0                          [vdso]
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
`
	got, lines, err := ParseMaps(strings.NewReader(text))
	if err != nil || lines != 7 {
		t.Fatal(lines, err)
	}
	want := []Mapping{
		{Start: 0x401000, End: 0x402000, Offset: 0x1000, Dev: unix.Mkdev(0xfe, 1), Inode: 100, Path: "/bin/a b"},
		{Start: 0x7f0000000000, End: 0x7f0000001000, Dev: unix.Mkdev(0, 1), Inode: 2048, Path: "/memfd:jit", Deleted: true},
		{
			Start: 0x7f0000004000, End: 0x7f0000005000, Offset: 0x2000,
			Dev: unix.Mkdev(0x103, 0x10f), Inode: 1<<64 - 1, Path: "/x\ny",
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for _, bad := range []string{
		"x", "0-1 r-xp 0 0:0", "2-1 r-xp 0 0:0 1 /a", "0-1 r-x 0 0:0 1 /a", "0-1 r-xp 0 00 1 /a",
		"0-10000000000000000 r-xp 0 0:0 1 /a", "0-1 r-xp -1 0:0 1 /a", "0-1 r-xp 0 0:100000000 1 /a",
	} {
		if maps, _, err := ParseMaps(strings.NewReader(bad)); err == nil {
			t.Errorf("%q: %+v", bad, maps)
		}
	}
}

// A process with as many mappings as it likes, of files with long paths, costs whatif an answer and not its memory.
func TestManyMappings(t *testing.T) {
	long := strings.Repeat("/directory", 400)
	line := func(i int, path string) string {
		return fmt.Sprintf("%x-%x r-xp 00000000 fe:01 100 %s\n", i<<12, (i+1)<<12, path)
	}
	for _, test := range []struct {
		name string
		text lines
		good bool
	}{
		{"many of one file", lines{left: 60_000, next: func(i int) string { return line(i, long) }}, true},
		{"many files", lines{left: 1 << 30, next: func(i int) string { return line(i, long+strconv.Itoa(i)) }}, false},
		{"many short ones", lines{left: 1 << 30, next: func(i int) string { return line(i, "/a") }}, false},
		{"an endless line", lines{left: 1 << 30, next: func(int) string { return long }}, false},
	} {
		maps, n, err := ParseMaps(&test.text)
		kept := 0
		for i, m := range maps {
			if i == 0 || unsafe.StringData(m.Path) != unsafe.StringData(maps[i-1].Path) {
				kept += len(m.Path)
			}
		}
		if (err == nil) != test.good || kept > mostNames || test.good && n != 60_000 {
			t.Errorf("%s: %d mappings of %d with %d bytes of names, %v", test.name, len(maps), n, kept, err)
		}
	}
}

// lines is a text of many lines, each made when it is read.
type lines struct {
	next func(i int) string
	left int
	rest string
}

func (l *lines) Read(p []byte) (int, error) {
	if l.rest == "" {
		if l.left == 0 {
			return 0, io.EOF
		}
		l.left--
		l.rest = l.next(l.left)
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

func FuzzParseMaps(f *testing.F) {
	own, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(own)
	f.Add([]byte("7f0000000000-7f0000001000 r-xp 00000000 00:01 2048 /memfd:jit (deleted)\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		maps, _, err := ParseMaps(bytes.NewReader(text))
		if err != nil && maps != nil {
			t.Error("mappings and an error")
		}
		for _, m := range maps {
			if m.Start >= m.End || m.Inode == 0 || !strings.HasPrefix(m.Path, "/") {
				t.Errorf("%+v", m)
			}
		}
	})
}

func TestOwnMaps(t *testing.T) {
	maps, err := Maps(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	b, err := Executable(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range maps {
		if m.Inode == b.Inode && m.Path == b.Path && !m.Deleted {
			if path, err := MappedFile(os.Getpid(), m.End-1); err != nil || path != m.Path {
				t.Errorf("MappedFile: %q, %v", path, err)
			}
			if path, err := BinaryOf(os.Getpid()); err != nil || path != m.Path {
				t.Errorf("BinaryOf: %q, %v", path, err)
			}
			return
		}
	}
	t.Errorf("%+v is not in %+v", b, maps)
}

func TestGoneProcess(t *testing.T) {
	if _, err := Maps(1 << 30); err == nil {
		t.Error("no error")
	}
	if _, err := BinaryOf(1 << 30); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if _, err := MappedFile(os.Getpid(), 16); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// moved starts a copy of sleep, by a shell command in a mount namespace of its own if that is not empty, and then
// changes the mapped file with happens.
func moved(t *testing.T, command string, happens func(path string)) (*exec.Cmd, string) {
	t.Helper()
	path := t.TempDir() + "/sleeper with blank"
	text, err := os.ReadFile("/bin/sleep")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "60")
	if command != "" {
		cmd = exec.Command("unshare", "-m", "sh", "-c", command+`; exec "$0" 60`, path)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	eventually(t, "the program runs", func() bool {
		b, err := Executable(cmd.Process.Pid)
		comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", cmd.Process.Pid))
		maps, _ := Maps(cmd.Process.Pid) // the last step of an exec
		mapped := slices.ContainsFunc(maps, func(m Mapping) bool { return strings.Contains(m.Path, "sleeper") })
		return err == nil && strings.HasPrefix(string(comm), "sleeper") && strings.Contains(b.Path, "sleeper") && mapped
	})
	if happens != nil {
		happens(path)
	}
	return cmd, string(text)
}

func checkOpen(t *testing.T, pid int, deleted bool, text string) {
	t.Helper()
	maps, err := Maps(pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range maps {
		if !strings.Contains(m.Path, "sleeper") {
			continue
		}
		if m.Deleted != deleted {
			t.Errorf("deleted: %v", m.Deleted)
		}
		f, err := OpenMapped(pid, m)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		got, err := io.ReadAll(f)
		if err != nil || string(got) != text {
			t.Errorf("read %d bytes, %v; want %d", len(got), err, len(text))
		}
		// Also without map_files, which ordinary users and old kernels do not have.
		m.Start++
		f, err = OpenMapped(pid, m)
		if err != nil {
			t.Fatal(err)
		}
		got, _ = io.ReadAll(f)
		f.Close()
		if string(got) != text {
			t.Errorf("without map_files: %d bytes", len(got))
		}
		m.Inode++
		if _, err := OpenMapped(pid, m); err == nil {
			t.Error("another file was taken for the mapped one")
		}
		return
	}
	t.Errorf("not mapped: %+v", maps)
}

func TestOpenMapped(t *testing.T) {
	cmd, text := moved(t, "", nil)
	checkOpen(t, cmd.Process.Pid, false, text)
}

func TestOpenDeleted(t *testing.T) {
	cmd, text := moved(t, "", func(path string) { _ = os.Remove(path) })
	checkOpen(t, cmd.Process.Pid, true, text)
}

func TestOpenReplaced(t *testing.T) {
	cmd, text := moved(t, "", func(path string) {
		_ = os.Remove(path)
		_ = os.WriteFile(path, []byte("new version"), 0o755)
	})
	checkOpen(t, cmd.Process.Pid, true, text)
}

func TestOpenInOtherNamespace(t *testing.T) {
	needRoot(t)
	// The path exists only in the program's namespace.
	cmd, text := moved(t, `cp "$0" /var/tmp/whatif-sleeper && mount -t tmpfs none /mnt &&
		cp /var/tmp/whatif-sleeper /mnt/sleeper && rm /var/tmp/whatif-sleeper && set -- && exec /mnt/sleeper 60`, nil)
	checkOpen(t, cmd.Process.Pid, false, text)
}
