package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// binaries are the files that are built for one program.
type binaries struct {
	plain  string
	coz    string // "" if coz cannot run the program, or is not asked
	target place
	point  string // as -p has it
}

// build compiles a program of the checkout at root into accuracy/build, and with withCoz a second time for coz.
func build(ctx context.Context, root string, p *program, withCoz bool) (binaries, error) {
	source := filepath.Join(root, "accuracy", "programs", p.source)
	out := filepath.Join(root, "accuracy", "build")
	target, err := targetOf(source)
	if err != nil {
		return binaries{}, err
	}
	b := binaries{plain: filepath.Join(out, p.name), target: target, point: p.pointSpec()}
	directory := filepath.Join(out, "coz")
	if p.point == "" && filepath.Ext(source) == ".java" {
		if b.point, err = javaPoint(filepath.Join(filepath.Dir(source), benchJava)); err != nil {
			return binaries{}, err
		}
	}
	if p.managed() {
		directory = b.plain
		if err := os.RemoveAll(directory); err != nil { // also what a runtime has left there
			return binaries{}, fmt.Errorf("building %s: %w", p.name, err)
		}
	}
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return binaries{}, fmt.Errorf("building %s: %w", p.name, err)
	}
	command := compiler(source, b.plain, p, false)
	if len(p.config) > 0 {
		more, err := runCommand(ctx, root, p.config)
		if err != nil {
			return binaries{}, fmt.Errorf("building %s: %w", p.name, err)
		}
		command = append(command, strings.Fields(more)...)
	}
	if _, err := runCommand(ctx, root, command); err != nil {
		return binaries{}, fmt.Errorf("building %s: %w", p.name, err)
	}
	if withCoz && p.coz {
		b.coz = filepath.Join(out, "coz", p.name)
		if _, err := runCommand(ctx, root, compiler(source, b.coz, p, true)); err != nil {
			return binaries{}, fmt.Errorf("building %s for coz: %w", p.name, err)
		}
	}
	return b, nil
}

// javaPoint is the line of Java programs that is their progress point, as -p has it.
func javaPoint(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("finding the progress point: %w", err)
	}
	line, rest, err := markedLine(string(text), javaPointMark)
	if err != nil || rest != "" {
		return "", fmt.Errorf("finding the progress point in %s: %q, %w", path, rest, err)
	}
	return fmt.Sprintf("%s:%d", filepath.Base(path), line), nil
}

// compiler is the command line that builds source: optimized and with debug information, as in real use.
func compiler(source, out string, p *program, forCoz bool) []string {
	var c []string
	switch filepath.Ext(source) {
	case ".go":
		return []string{"go", "build", "-o", out, source}
	case ".java":
		return []string{"javac", "-g", "-d", out, filepath.Join(filepath.Dir(source), benchJava), source}
	case ".js":
		return []string{"cp", source, out}
	case ".erl":
		return []string{"erlc", "-o", out, source}
	case ".rs":
		return []string{"rustc", "-O", "-g", "--edition", "2021", "-o", out, source}
	case ".cc":
		c = []string{"g++", "-std=c++20"}
	default:
		c = []string{"gcc"}
	}
	if p.ranks > 0 {
		c = []string{"mpicc"}
	}
	c = append(c, "-O2", "-Wall", "-pthread")
	if forCoz {
		// Debian's coz reads only old versions of DWARF.
		c = append(c, "-gdwarf-3", "-gno-variable-location-views", "-DUSE_COZ")
	} else {
		c = append(c, "-g")
	}
	for _, d := range p.defines {
		c = append(c, "-D"+d)
	}
	c = append(c, "-o", out, source)
	c = append(c, p.flags...)
	if forCoz {
		c = append(c, "-ldl")
	}
	return c
}

// runCommand runs a command in dir, and returns its output.
func runCommand(ctx context.Context, dir string, command []string) (string, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = dir
	var errors strings.Builder
	cmd.Stderr = &errors
	output, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("running %s: %w\n%s%s", strings.Join(command, " "), err, output, errors.String())
	}
	return string(output), nil
}
