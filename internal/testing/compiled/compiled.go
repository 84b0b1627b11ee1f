// Package compiled compiles the programs that tests look at. It does so once for all tests, packages and clones of the
// repository: what a compiler makes is kept in the user's cache directory, as go keeps packages, and is found there by
// the sources, the command and the compiler.
package compiled

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/sys/unix"
)

// Words of a command.
const (
	Out = "OUT"  // the path of what it makes
	Src = "SRC/" // at the begin of a word: the directory of the sources
)

// Program gives the path of what a command makes of sources. The command is executed in the directory of the sources,
// with more variables in its environment. Tests do not change the result, as others have the same one. Without the
// compiler the test is skipped.
func Program(t testing.TB, sources fs.FS, variables []string, command ...string) string {
	t.Helper()
	compiler, err := exec.LookPath(command[0])
	if err != nil {
		t.Skipf("%s is not installed", command[0])
	}
	j := job{compiler: compiler, words: command, variables: variables}
	if j.files, err = read(sources); err != nil {
		t.Fatal(err)
	}
	kept, err := cache()
	if err != nil { // there is no such directory, or it is another user's
		kept = t.TempDir()
	}
	path, err := j.made(filepath.Join(kept, j.key()))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Source is the path of one of a program's sources.
func Source(program, name string) string { return filepath.Join(filepath.Dir(program), "src", name) }

// Go gives the path of the Go program in a directory, as go build makes it with some flags.
func Go(t testing.TB, dir string, flags ...string) string {
	t.Helper()
	flags = append([]string{"-buildvcs=false"}, flags...)
	return Program(t, Module(t, dir, "1.26"), nil, GoBuild("go", dir, flags...)...)
}

// GoBuild is a command for the sources of Module.
func GoBuild(command, dir string, flags ...string) []string {
	return slices.Concat([]string{command, "build"}, flags, []string{"-o", Out, "./" + filepath.Base(dir)})
}

// Module has the Go program in a directory as a package of a module of its own.
func Module(t testing.TB, dir, language string) fs.FS {
	t.Helper()
	files, err := read(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	module := fstest.MapFS{"go.mod": {Data: []byte("module programs\n\ngo " + language + "\n")}}
	for name, text := range files {
		module[filepath.Base(dir)+"/"+name] = &fstest.MapFile{Data: text}
	}
	return module
}

// File has one file, without its directory.
func File(t testing.TB, path string) fs.FS {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{filepath.Base(path): {Data: text}}
}

// Texts has files by name.
func Texts(of map[string]string) fs.FS {
	files := make(fstest.MapFS)
	for name, text := range of {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

func read(sources fs.FS) (map[string][]byte, error) {
	files := make(map[string][]byte)
	err := fs.WalkDir(sources, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files[path], err = fs.ReadFile(sources, path)
		}
		return err
	})
	return files, err
}

// unused is how long a program is kept that no test asks for.
const unused = 14 * 24 * time.Hour

// cache gives the directory of what is kept, without what was not asked for lately. Root has another one, also where
// sudo has left it the variables of a user.
var cache = sync.OnceValues(func() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, fmt.Sprint("whatif-tests-", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	var is unix.Stat_t
	if err := unix.Lstat(dir, &is); err != nil {
		return "", err
	}
	if int(is.Uid) != os.Getuid() || is.Mode&unix.S_IFMT != unix.S_IFDIR {
		return "", fs.ErrPermission
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		forget(filepath.Join(dir, e.Name()))
	}
	return dir, err
})

// forget removes a program that was not asked for lately.
func forget(dir string) {
	lock, err := locked(dir, unix.LOCK_EX|unix.LOCK_NB)
	if err != nil {
		return // another test is compiling it
	}
	defer lock.Close()
	if info, err := os.Stat(filepath.Join(dir, "lock")); err == nil && time.Since(info.ModTime()) > unused {
		os.RemoveAll(dir)
	}
}

// locked locks a program's directory until the file is closed.
func locked(dir string, how int) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(lock.Fd()), how); err != nil {
		lock.Close()
		return nil, fmt.Errorf("waiting for another test that compiles: %w", err)
	}
	return lock, nil
}

// job is what is to be compiled.
type job struct {
	compiler         string
	words, variables []string
	files            map[string][]byte
}

// inherited are the variables that change what go makes.
var inherited = []string{"GOFLAGS", "CGO_ENABLED", "GOEXPERIMENT", "GOAMD64", "GOTOOLCHAIN"}

// key is a name for the result.
func (j *job) key() string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q\n", j.words, j.variables)
	for _, name := range inherited {
		fmt.Fprintf(sum, "%s=%s\n", name, os.Getenv(name))
	}
	if real, err := filepath.EvalSymlinks(j.compiler); err == nil {
		if info, err := os.Stat(real); err == nil {
			fmt.Fprintf(sum, "%s %d %d\n", real, info.Size(), info.ModTime().UnixNano())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(j.files)) {
		fmt.Fprintf(sum, "%q %x\n", name, sha256.Sum256(j.files[name]))
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:16])
}

// made gives the path of the result, in a directory for it. Another test may have made it.
func (j *job) made(dir string) (path string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	lock, err := locked(dir, unix.LOCK_EX)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	now := time.Now()
	if err := os.Chtimes(lock.Name(), now, now); errors.Is(err, fs.ErrNotExist) { // it was just being forgotten
		return j.made(dir)
	} else if err != nil {
		return "", err
	}
	path, done := filepath.Join(dir, "program"), filepath.Join(dir, "done")
	if _, err := os.Stat(done); !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	if err := j.compile(filepath.Join(dir, "src"), path); err != nil {
		return "", err
	}
	return path, os.WriteFile(done, nil, 0o644)
}

// compile writes the sources and executes the command.
func (j *job) compile(src, out string) error {
	for name, text := range j.files {
		path := filepath.Join(src, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	var words []string
	for _, word := range j.words[1:] {
		if rest, ok := strings.CutPrefix(word, Src); ok {
			word = filepath.Join(src, rest)
		}
		if word == Out {
			word = out
		}
		words = append(words, word)
	}
	cmd := exec.Command(j.compiler, words...)
	cmd.Dir, cmd.Env = src, append(os.Environ(), j.variables...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(j.words, " "), err, text)
	}
	return nil
}
