// Package debian gets Debian's source packages, for the commands below accuracy that measure programs which were not
// written for whatif.
//
// The normal sequence: [Source], or [SQLite], which is made of one; then [Command] compiles.
package debian

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"whatif/internal/hint"
)

// Source gets the source package of this name into dir, unless it is there, and returns its tree.
func Source(ctx context.Context, dir, name string, progress io.Writer) (string, error) {
	tree, err := treeOf(dir, name)
	if err != nil || tree != "" {
		return tree, err
	}
	fmt.Fprintln(progress, "fetching Debian's source package", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("fetching the source: %w", err)
	}
	if err := Command(ctx, dir, "apt-get", "source", "-q", name); err != nil {
		return "", hint.New(err, `apt needs the source packages: a line that begins with "deb-src", or "Types: deb-src", `+
			`in its sources, then apt-get update; dpkg-dev unpacks them`)
	}
	if tree, err = treeOf(dir, name); err == nil && tree == "" {
		err = fmt.Errorf("unpacking the source: there is no tree %s-* in %s", name, dir)
	}
	return tree, err
}

// treeOf finds a package's tree; "" if it is not there.
func treeOf(dir, name string) (string, error) {
	found, err := filepath.Glob(filepath.Join(dir, name+"-[0-9]*"))
	if err != nil {
		return "", fmt.Errorf("finding the source of %s: %w", name, err)
	}
	var trees []string
	for _, f := range found {
		if s, err := os.Stat(f); err == nil && s.IsDir() {
			trees = append(trees, f)
		}
	}
	switch len(trees) {
	case 0:
		return "", nil
	case 1:
		return trees[0], nil
	}
	return "", fmt.Errorf("finding the source of %s: there are %d versions in %s, want one", name, len(trees), dir)
}

// SQLite makes the single file as which SQLite is distributed, sqlite3.c, if that was not done before in dir. It
// returns the file's path, and the tree of the source package.
func SQLite(ctx context.Context, dir string, progress io.Writer) (file, tree string, err error) {
	file = filepath.Join(dir, "make", "sqlite3.c")
	if tree, err = Source(ctx, dir, "sqlite3", progress); err != nil {
		return "", "", err
	}
	if _, err := os.Stat(file); err == nil {
		return file, tree, nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", "", fmt.Errorf("making SQLite: %w", err)
	}
	for _, c := range [][]string{{filepath.Join(tree, "configure")}, {"make", "sqlite3.c"}} {
		if err := Command(ctx, filepath.Dir(file), c...); err != nil {
			return "", "", hint.New(err, "SQLite is put together by tclsh, from Debian's package tcl")
		}
	}
	return file, tree, nil
}

// Command runs a command in a directory. Its last words are in the error.
func Command(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	output, err := cmd.CombinedOutput()
	if err != nil {
		said := strings.TrimSpace(string(output))
		return fmt.Errorf("running %s: %w\n%s", strings.Join(args, " "), err, said[max(0, len(said)-1000):])
	}
	return nil
}
