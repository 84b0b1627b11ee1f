package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir string
	GoFiles, SFiles []string
	ImportMap       map[string]string
	Module          *struct{ Main bool }
}

// The program is right for arm64, too: its types are checked there, and its assembler. To compile all of it, with Go's
// own packages, takes twenty times as long; make dist does that.
func TestArm64(t *testing.T) {
	env := append(os.Environ(), "GOARCH=arm64", "GOOS=linux", "CGO_ENABLED=0")
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,SFiles,ImportMap,Module", ".")
	cmd.Env = env
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	known := map[string]*types.Package{"unsafe": types.Unsafe}
	own := 0
	for in := json.NewDecoder(out); ; {
		var p listed
		if err := in.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p.ImportPath == "unsafe" {
			continue
		}
		ours := p.Module != nil && p.Module.Main
		if ours {
			own++
			assemble(t, env, &p)
		}
		errs := check(&p, ours, known)
		for _, err := range errs {
			if ours {
				t.Error(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if own < 20 || len(known) < 200 {
		t.Errorf("%d packages of the program, %d in all", own, len(known))
	}
}

// check checks a package's types, of Go's and others' packages only what they export.
func check(p *listed, bodies bool, known map[string]*types.Package) (errs []error) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return []error{err}
		}
		files = append(files, f)
	}
	conf := types.Config{
		IgnoreFuncBodies: !bodies,
		Sizes:            types.SizesFor("gc", "arm64"),
		Error:            func(err error) { errs = append(errs, err) },
		Importer: importer(func(path string) (*types.Package, error) {
			if to := p.ImportMap[path]; to != "" {
				path = to
			}
			if found := known[path]; found != nil {
				return found, nil
			}
			return nil, fmt.Errorf("%s is not known", path)
		}),
	}
	known[p.ImportPath], _ = conf.Check(p.ImportPath, fset, files, nil) // its error is among errs
	return errs
}

type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }

// assemble assembles a package's code that is in assembler.
func assemble(t *testing.T, env []string, p *listed) {
	t.Helper()
	for _, name := range p.SFiles {
		cmd := exec.Command("go", "tool", "asm", "-p", p.ImportPath, "-I", filepath.Join(goroot(t), "pkg", "include"),
			"-D", "GOOS_linux", "-D", "GOARCH_arm64", "-o", filepath.Join(t.TempDir(), "out.o"), filepath.Join(p.Dir, name))
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}

func goroot(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
