package symbol

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// built has the programs of this run, which several tests share.
var built struct {
	sync.Mutex
	dir   string
	paths map[string]string
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

// build compiles testdata/src/source with a command and returns the program's path. It skips the test if
// the compiler is not installed.
func build(t testing.TB, source string, command ...string) string {
	t.Helper()
	src, err := filepath.Abs(filepath.Join("testdata", "src", source))
	if err != nil {
		t.Fatal(err)
	}
	return buildFile(t, src, command...)
}

func buildFile(t testing.TB, src string, command ...string) string {
	t.Helper()
	if _, err := exec.LookPath(command[0]); err != nil {
		t.Skipf("%s is not installed", command[0])
	}
	built.Lock()
	defer built.Unlock()
	key := src + " " + strings.Join(command, " ")
	if p, ok := built.paths[key]; ok {
		return p
	}
	if built.dir == "" {
		var err error
		if built.dir, err = os.MkdirTemp("", "symbol-test"); err != nil {
			t.Fatal(err)
		}
		built.paths = map[string]string{}
	}
	dir, err := os.MkdirTemp(built.dir, "")
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, strings.TrimSuffix(filepath.Base(src), filepath.Ext(src)))
	args := append(append([]string{}, command[1:]...), "-o", out)
	cmd := exec.Command(command[0], append(args, src)...)
	if command[0] == "go" {
		cmd = exec.Command("go", append(args, ".")...)
		cmd.Dir = src
	}
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, text)
	}
	built.paths[key] = out
	return out
}

// open opens a binary until the end of the test.
func open(t testing.TB, path string) *Binary {
	t.Helper()
	b, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}
