// Package packaging_test tests the scripts that make releases, as far as it is quick. make dist-check, dist-try and
// module-try do all of it.
package packaging_test

import (
	"bytes"
	"debug/elf"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"whatif/internal/version"
)

const root = ".."

// sources are the files of the tree, by their paths, without what was built.
func sources(t *testing.T, dir string, wanted func(name string) bool) map[string][]byte {
	t.Helper()
	built := []string{".git", "bin", "dist", "accuracy/build"}
	files := make(map[string][]byte)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case slices.Contains(built, name) && entry.IsDir():
			return fs.SkipDir
		case !entry.Type().IsRegular() || slices.Contains(built, name) || !wanted(name):
			return nil
		}
		files[name], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// write makes the files below a directory. A script has to be executed, and nothing else minds.
func write(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// command runs a command in a directory, and returns what it prints.
func command(t *testing.T, dir string, environment []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), environment...)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, complaints.Bytes())
	}
	return strings.TrimSpace(string(out))
}

// TestReproducible builds the program of a release in two directories, at two times, and compares the bytes. The second
// build finds most packages compiled: make dist-check, which is part of each release, builds all of it anew. With
// -short there is only the first.
func TestReproducible(t *testing.T) {
	files := sources(t, root, func(name string) bool {
		return !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, "docs/")
	})
	files["packaging/commit.txt"] = []byte("0123456789abcdef 1767323045\n") // as in a source archive
	var programs [2][]byte
	for i, dir := range []string{filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "another", "place")} {
		write(t, dir, files)
		environment := []string{"GOARCHS=" + runtime.GOARCH, "SOURCE_DATE_EPOCH="}
		command(t, dir, environment, "make", "-s", "dist-binaries")
		path := filepath.Join(dir, "dist", "whatif-"+version.Number+"-linux-"+runtime.GOARCH)
		var err error
		if programs[i], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			continue
		}
		want := "whatif " + version.Number + " (commit 0123456789ab of 2026-01-02, go"
		if said := command(t, dir, nil, path, "version"); !strings.HasPrefix(said, want) {
			t.Errorf("%q, want %q", said, want)
		}
		checkStatic(t, path)
		if testing.Short() {
			return
		}
	}
	if !bytes.Equal(programs[0], programs[1]) {
		t.Error("two builds differ")
	}
}

// checkStatic checks that a program needs no library, and has its symbols.
func checkStatic(t *testing.T, path string) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the program is not static: it has a segment %v", p.Type)
		}
	}
	if symbols, err := f.Symbols(); err != nil || len(symbols) == 0 {
		t.Errorf("no symbols: %v", err)
	}
}

// TestCommit runs the script that finds the commit in a source archive, in a clone, and where neither is.
func TestCommit(t *testing.T) {
	script, err := os.ReadFile("commit")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, map[string][]byte{"packaging/commit": script, "packaging/commit.txt": []byte("$Format:%H %ct$\n")})
	// No repository above may be taken for the sources' own, and no settings of the user.
	environment := []string{"GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir), "SOURCE_DATE_EPOCH=", "HOME=" + dir,
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_DATE=1767323045 +0100", "GIT_COMMITTER_DATE=1767323045 +0100"}
	expect := func(hash, date string, more ...string) {
		t.Helper()
		environment := append(slices.Clone(environment), more...)
		if got := command(t, dir, environment, "packaging/commit", "hash"); got != hash {
			t.Errorf("hash %q, want %q", got, hash)
		}
		if got := command(t, dir, environment, "packaging/commit", "date"); got != date {
			t.Errorf("date %q, want %q", got, date)
		}
	}
	expect("", "")
	expect("", "86400", "SOURCE_DATE_EPOCH=86400")

	git := func(args ...string) string {
		t.Helper()
		args = append([]string{"-c", "user.name=n", "-c", "user.email=e@example.org"}, args...)
		return command(t, dir, environment, "git", args...)
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "first")
	hash := git("rev-parse", "HEAD")
	expect(hash, "1767323045")
	expect(hash, "86400", "SOURCE_DATE_EPOCH=86400")
	write(t, dir, map[string][]byte{"packaging/commit": append(script, '\n')})
	expect(hash+"+", "1767323045")

	write(t, dir, map[string][]byte{"packaging/commit.txt": []byte("0123 1000\n")})
	expect("0123", "1000")
}

// TestModule gives a copy of the tree another module path and takes it back. make module-try builds such a copy.
func TestModule(t *testing.T) {
	const path = "example.org/some-one/what.if"
	before := sources(t, root, func(string) bool { return true })
	old := regexp.MustCompile(`(?m)^module (.*)$`).FindStringSubmatch(string(before["go.mod"]))[1]
	dir := t.TempDir()
	write(t, dir, before)
	command(t, dir, nil, "make", "-s", "module", "PATH="+path)

	after := sources(t, dir, func(string) bool { return true })
	imports := 0
	for name, text := range after {
		if filepath.Ext(name) == ".go" {
			imports += checkImports(t, name, text, old, path)
		}
	}
	if imports < 500 {
		t.Errorf("found %d imports only", imports)
	}
	for name, want := range map[string]string{
		"go.mod": "module " + path + "\n", "tools.mod": "module " + path + "\n",
		"internal/experiment/probes/timed.go": `{"` + path + `/point.(*entry).begins", false}`, // a symbol
		"internal/point/source/source.go":     `"whatif/point: table, 1\n\x00"`,                // a format
		"docs/points.md":                      `import "` + path + `/point"`,
	} {
		if !bytes.Contains(after[name], []byte(want)) {
			t.Errorf("%s has no %q", name, want)
		}
	}
	if list := command(t, dir, nil, "go", "list", "./cmd/...", "./point"); list != path+"/cmd/whatif\n"+path+"/point" {
		t.Errorf("the packages are %q", list)
	}

	command(t, dir, nil, "make", "-s", "module", "PATH="+old)
	if undone := sources(t, dir, func(string) bool { return true }); !maps.EqualFunc(undone, before, bytes.Equal) {
		t.Error("the old path does not make the old files")
	}
	if out, err := exec.Command("./module", "a b").CombinedOutput(); err == nil {
		t.Errorf("a path with a space is taken: %s", out)
	}
}

// checkImports checks that no import of a file has the old path, and that gofmt would leave the file as it is. It
// returns how many have the new one.
func checkImports(t *testing.T, name string, text []byte, old, path string) (imports int) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
	if err != nil {
		t.Error(err)
		return 0
	}
	for _, i := range file.Imports {
		switch is := strings.Trim(i.Path.Value, `"`); {
		case strings.HasPrefix(is, old+"/"):
			t.Errorf("%s still imports %s", name, is)
		case strings.HasPrefix(is, path+"/"):
			imports++
		}
	}
	if formatted, err := format.Source(text); imports > 0 && (err != nil || !bytes.Equal(formatted, text)) {
		t.Errorf("%s is not as gofmt has it: %v", name, err)
	}
	return imports
}

// TestVersions checks that all documents name one version.
func TestVersions(t *testing.T) {
	n := regexp.QuoteMeta(version.Number)
	for name, want := range map[string]string{
		"CITATION.cff":           `(?m)^version: "` + n + `"$`,
		"CHANGELOG.md":           `(?m)^## ` + n + `( |$)`,
		"rust/whatif/Cargo.toml": `(?m)^version = "` + n + `\.\d+"$`,
	} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(want).Match(text) {
			t.Errorf("%s has no %s", name, want)
		}
	}
}

// TestCapabilities checks that packages give the capabilities that `whatif doctor` names.
func TestCapabilities(t *testing.T) {
	doctor, err := os.ReadFile("../internal/doctor/privilege.go")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("scripts/install")
	if err != nil {
		t.Fatal(err)
	}
	given := regexp.MustCompile(`setcap (cap_[a-z_,]*=ep) `)
	a, b := given.FindSubmatch(doctor), given.FindSubmatch(script)
	if a == nil || b == nil || !bytes.Equal(a[1], b[1]) {
		t.Errorf("doctor names %q, the packages give %q", a, b)
	}
}
