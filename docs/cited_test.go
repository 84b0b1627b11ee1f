// Package docs_test checks the documents against the tree, and the shape of its Go files.
package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = ".."

// documents are the ones that must be true of this tree; the notebook is of its time.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := make(map[string]string)
	for _, pattern := range []string{
		"*.md", "docs/*.md", "docs/*/*.md", "accuracy/README.md", "accuracy/programs/README.md",
	} {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			texts[name] = string(text)
		}
	}
	return texts
}

// tree has the tree's files, by their paths from its root.
func tree(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "build" || d.Name() == "bin" || d.Name() == "dist") {
			return fs.SkipDir
		}
		if !d.IsDir() {
			files = append(files, strings.TrimPrefix(path, root+"/"))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// found gives the files with this path, or the end of one.
func found(files []string, path string) []string {
	var all []string
	for _, f := range files {
		if f == path || strings.HasSuffix(f, "/"+path) {
			all = append(all, f)
		}
	}
	return all
}

var (
	// Paths of sources and documents.
	citedPath = regexp.MustCompile("`((?:[\\w.-]+/)*[\\w.-]+\\.(?:md|go|h|c|cc|rs|html))`")
	// A name and the file that has it: `NAME` in `FILE`.
	citedName = regexp.MustCompile("`([A-Za-z_][\\w.]*)`\\)?\\s+in\\s+`((?:[\\w.-]+/)*[\\w.-]+\\.(?:go|h|c|cc|rs))`")
	// Files that are the users' own in the examples.
	users = regexp.MustCompile(`^(server|parse|orders|io|a|main|file|prog|lock_sleep|visits|shop|work)\.(c|go|h|cc|rs)$` +
		`|^report\.html$|^coz\.h$|^sys/sdt\.h$|^docs/design/NNNN-title\.md$`)
)

// TestCited looks for each file that a document cites, and for each name that it says a file has.
func TestCited(t *testing.T) {
	files := tree(t)
	paths, names := 0, 0
	for document, text := range documents(t) {
		for _, m := range citedPath.FindAllStringSubmatch(text, -1) {
			paths++
			if !users.MatchString(m[1]) && len(found(files, strings.TrimPrefix(m[1], "../"))) == 0 {
				t.Errorf("%s cites %s, which is nowhere", document, m[1])
			}
		}
		for _, m := range citedName.FindAllStringSubmatch(text, -1) {
			names++
			if !hasName(t, found(files, m[2]), m[1]) {
				t.Errorf("%s says that %s has %s", document, m[2], m[1])
			}
		}
	}
	if paths < 100 || names < 5 {
		t.Errorf("found %d paths and %d names only", paths, names)
	}
}

func hasName(t *testing.T, files []string, name string) bool {
	t.Helper()
	// Of a method or field, what is behind the dot.
	word := regexp.MustCompile(`\b` + regexp.QuoteMeta(name[strings.LastIndex(name, ".")+1:]) + `\b`)
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(root, f))
		if err != nil {
			t.Fatal(err)
		}
		if word.Match(text) {
			return true
		}
	}
	return false
}

// TestSizes keeps the documents as short as they are meant to be, in bytes.
func TestSizes(t *testing.T) {
	for name, most := range map[string]int64{"ARCHITECTURE.md": 15 << 10, "accuracy/README.md": 6 << 10} {
		info, err := os.Stat(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > most {
			t.Errorf("%s has %d bytes, more than %d", name, info.Size(), most)
		}
	}
}

// TestFrontDoor keeps the README short, and the index complete.
func TestFrontDoor(t *testing.T) {
	texts := documents(t)
	if n := strings.Count(texts[filepath.Join(root, "README.md")], "\n"); n > 150 {
		t.Errorf("README.md has %d lines, more than 150: details belong in docs", n)
	}
	index := texts[filepath.Join(root, "docs/index.md")]
	for _, directory := range []string{"docs/", "docs/guides/"} {
		names, err := filepath.Glob(filepath.Join(root, directory+"*.md"))
		if err != nil || len(names) == 0 {
			t.Fatalf("no documents in %s: %v", directory, err)
		}
		for _, name := range names {
			if name := directory + filepath.Base(name); name != "docs/index.md" && !strings.Contains(index, "`"+name+"`") {
				t.Errorf("docs/index.md does not name %s", name)
			}
		}
	}
}

// TestWarnings: docs/warnings.md has each code with which the sources warn, and no other.
func TestWarnings(t *testing.T) {
	text := documents(t)[filepath.Join(root, "docs/warnings.md")]
	documented := make(map[string]bool)
	for _, row := range regexp.MustCompile("(?m)^\\| (`[a-z-]+`(?:, `[a-z-]+`)*) \\|").FindAllStringSubmatch(text, -1) {
		for _, code := range strings.Split(row[1], ", ") {
			documented[strings.Trim(code, "`")] = true
		}
	}
	adds := regexp.MustCompile(`(?:\b(?:Add|add|warn|doubt)\(|\bCode: *|"code", )"([a-z]+(?:-[a-z]+)*)"[,)]|` +
		`\{"(several-[a-z]+)", `)
	used := map[string]bool{"estimate-differs": true} // a constant
	for _, file := range tree(t) {
		if !strings.HasPrefix(file, "internal/") || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range adds.FindAllSubmatch(source, -1) {
			used[string(found[1])+string(found[2])] = true
		}
	}
	for code := range used {
		if !documented[code] {
			t.Errorf("docs/warnings.md does not explain %s", code)
		}
	}
	for code := range documented {
		if !used[code] {
			t.Errorf("docs/warnings.md explains %s, with which nothing warns", code)
		}
	}
}
