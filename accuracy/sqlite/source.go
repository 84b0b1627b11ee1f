package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"whatif/accuracy/internal/debian"
)

// programs are insert.c with the unchanged library, and with the changed one.
type programs struct {
	plain, changed string
	source         string // of the unchanged library
}

// compile builds both programs like a distribution, with debug information. It does not compile an unchanged library
// again.
func compile(ctx context.Context, root, dir, source string, progress io.Writer) (programs, error) {
	text, err := os.ReadFile(source)
	if err != nil {
		return programs{}, fmt.Errorf("compiling SQLite: %w", err)
	}
	p := programs{plain: filepath.Join(dir, "insert"), changed: filepath.Join(dir, "insert-changed"), source: string(text)}
	changed, err := apply(p.source, changes)
	if err != nil {
		return programs{}, err
	}
	for program, text := range map[string]string{p.plain: p.source, p.changed: changed} {
		if err := library(ctx, program+".lib", text, progress); err != nil {
			return programs{}, err
		}
		// The program does not need all functions of bench.h.
		err := debian.Command(ctx, root, "gcc", "-O2", "-g", "-Wall", "-Wno-unused-function", "-pthread", "-I",
			filepath.Dir(source), "-o", program, "accuracy/sqlite/programs/insert.c", filepath.Join(program+".lib", "sqlite3.o"),
			"-lm", "-ldl")
		if err != nil {
			return programs{}, err
		}
	}
	return p, nil
}

// library compiles SQLite into dir/sqlite3.o, unless that was done before with the same text.
func library(ctx context.Context, dir, text string, progress io.Writer) error {
	file, object := filepath.Join(dir, "sqlite3.c"), filepath.Join(dir, "sqlite3.o")
	if before, err := os.ReadFile(file); err == nil && string(before) == text {
		if _, err := os.Stat(object); err == nil {
			return nil
		}
	}
	fmt.Fprintln(progress, "compiling", file)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("compiling SQLite: %w", err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return fmt.Errorf("compiling SQLite: %w", err)
	}
	// The file gets its name when it is complete, so that an interrupted run leaves no incomplete one.
	err := debian.Command(ctx, dir, "gcc", "-O2", "-g", "-c", "-DSQLITE_THREADSAFE=1", "-o", object+".part", file)
	if err != nil {
		return err
	}
	if err := os.Rename(object+".part", object); err != nil {
		return fmt.Errorf("compiling SQLite: %w", err)
	}
	return nil
}
