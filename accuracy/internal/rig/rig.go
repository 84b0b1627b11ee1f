// Package rig runs test programs, bare or under whatif, for the commands below accuracy. It returns the figures that
// the program printed, those that whatif counted, and the time and memory that whatif used. It does not judge them.
//
// The normal sequence: [OpenChecked], [Rig.Compile], then [Rig.Bare] and [Rig.Whatif] in turn. Both leave no process
// behind.
package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Rig is a checkout with its programs.
type Rig struct {
	root   string
	whatif string
}

// ErrNotRoot means that this user cannot run whatif.
var ErrNotRoot = errors.New("needs root: whatif loads programs into the kernel")

// FindRoot finds the checkout: the working directory or one above it.
func FindRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the checkout: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "accuracy", "programs")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("finding the checkout: no accuracy/programs here or above")
		}
		dir = filepath.Dir(dir)
	}
}

// Open finds the checkout. whatif is the path of the command, absolute or relative to the checkout.
func Open(whatif string) (*Rig, error) {
	dir, err := FindRoot()
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(whatif) {
		whatif = filepath.Join(dir, whatif)
	}
	if os.Geteuid() != 0 {
		return nil, ErrNotRoot
	}
	return &Rig{root: dir, whatif: whatif}, nil
}

// OpenChecked is Open for a whatif that has to be there.
func OpenChecked(whatif string) (*Rig, error) {
	r, err := Open(whatif)
	if err != nil {
		return nil, err
	}
	return r, r.CheckWhatif()
}

// Root is the checkout's directory.
func (r *Rig) Root() string { return r.root }

// Command is the absolute path of the whatif that is used.
func (r *Rig) Command() string { return r.whatif }

// CheckWhatif returns an error if that whatif does not exist.
func (r *Rig) CheckWhatif() error {
	if _, err := os.Stat(r.whatif); err != nil {
		return fmt.Errorf("finding whatif: %w", err)
	}
	return nil
}

// Use makes the rig use another whatif from now on. It is for tests, because bin/whatif may be old.
func (r *Rig) Use(whatif string) { r.whatif = whatif }

// Compile builds the C or C++ file or the Go package at source, a path below accuracy, into accuracy/build: optimized
// and with debug information, as in real use. It returns the program's path.
func (r *Rig) Compile(ctx context.Context, source string) (string, error) {
	dir := filepath.Join(r.root, "accuracy", "build")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("compiling %s: %w", source, err)
	}
	from := filepath.Join(r.root, "accuracy", source)
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(source), ".cc"), ".c")
	program := filepath.Join(dir, name)
	// No program needs all functions of bench.h.
	flags := []string{"-O2", "-g", "-Wall", "-Wno-unused-function", "-pthread", "-o", program, from, "-lm"}
	var err error
	switch {
	case name == filepath.Base(source):
		err = r.command(ctx, "go", "build", "-o", program, from)
	case strings.HasSuffix(source, ".cc"):
		err = r.command(ctx, "g++", append([]string{"-std=c++20"}, flags...)...)
	default:
		err = r.command(ctx, "gcc", flags...)
	}
	if err != nil {
		return "", fmt.Errorf("compiling %s: %w", source, err)
	}
	return program, nil
}

// Line finds the only line of a source, a path below accuracy, that ends with the mark.
func (r *Rig) Line(source, mark string) (int, error) {
	text, err := os.ReadFile(filepath.Join(r.root, "accuracy", source))
	if err != nil {
		return 0, fmt.Errorf("finding %q: %w", mark, err)
	}
	found := 0
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasSuffix(line, mark) {
			if found != 0 {
				return 0, fmt.Errorf("finding %q in %s: lines %d and %d both have it", mark, source, found, i+1)
			}
			found = i + 1
		}
	}
	if found == 0 {
		return 0, fmt.Errorf("finding %q in %s: no line has it", mark, source)
	}
	return found, nil
}

func (r *Rig) command(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = r.root
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("running %s: %w\n%s", strings.Join(cmd.Args, " "), err, output)
	}
	return nil
}
