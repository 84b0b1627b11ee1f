package docs_test

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	mostGoColumns  = 120
	mostGoFunction = 80 // lines
)

// goTables are functions that are nothing but a table.
var goTables = []string{"accuracy/forms.go forms"}

// goFiles gives the texts of all Go files by name, without those that are generated.
func goFiles(t *testing.T) map[string]string {
	t.Helper()
	texts := make(map[string]string)
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if name == filepath.Join(root, "accuracy", "build") || name == filepath.Join(root, "bin") {
			return fs.SkipDir // what was built
		}
		if err != nil || entry.IsDir() || filepath.Ext(name) != ".go" {
			return err
		}
		text, err := os.ReadFile(name)
		if err == nil && !strings.Contains(string(text), "// Code generated ") {
			texts[strings.TrimPrefix(name, root+"/")] = string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(texts) < 400 {
		t.Fatalf("found %d Go files only", len(texts))
	}
	return texts
}

// TestGoColumns keeps lines short. Directives, recorded tables of the kernel and mangled names cannot be wrapped.
func TestGoColumns(t *testing.T) {
	for name, text := range goFiles(t) {
		if strings.HasSuffix(name, "swift/swift_test.go") || strings.HasSuffix(name, "web/peer_test.go") {
			continue
		}
		for i, line := range strings.Split(text, "\n") {
			if n := utf8.RuneCountInString(line); n > mostGoColumns && !strings.HasPrefix(line, "//go:generate") {
				t.Errorf("%s:%d has %d columns", name, i+1, n)
			}
		}
	}
}

// TestGoFunctions keeps functions short, and names the longest.
func TestGoFunctions(t *testing.T) {
	type found struct {
		name  string
		lines int
	}
	var all []found
	for name, text := range goFiles(t) {
		if strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") {
			continue
		}
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && !slices.Contains(goTables, name+" "+f.Name.Name) {
				lines := files.Position(f.End()).Line - files.Position(f.Pos()).Line + 1
				all = append(all, found{name + " " + f.Name.Name, lines})
			}
		}
	}
	slices.SortFunc(all, func(a, b found) int { return cmp.Compare(b.lines, a.lines) })
	t.Logf("the longest of %d functions is %s, with %d lines", len(all), all[0].name, all[0].lines)
	for _, f := range all {
		if f.lines > mostGoFunction {
			t.Errorf("%s has %d lines", f.name, f.lines)
		}
	}
}
