package coz

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"whatif/internal/point/source"
	"whatif/internal/symbol/object"
)

// What is committed is what the compiler that made it makes of the source.
func TestGenerated(t *testing.T) {
	used, err := os.ReadFile("../../bpf/compiler.txt")
	if err != nil {
		t.Fatal(err)
	}
	version, err := exec.Command("clang", "--version").Output()
	if _, lld := exec.LookPath("ld.lld"); err != nil || lld != nil || !strings.HasPrefix(string(version), strings.TrimSpace(string(used))) {
		t.Skip("not the compiler that made the libraries, or no lld")
	}
	text, err := os.ReadFile("coz.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range regexp.MustCompile(`(?m)^//go:generate clang (.*)$`).FindAllStringSubmatch(string(text), -1) {
		args := strings.Fields(line[1])
		at := len(args) - 2 // -o FILE SOURCE
		committed := args[at]
		args[at] = filepath.Join(t.TempDir(), committed)
		if out, err := exec.Command("clang", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		want, err := os.ReadFile(args[at])
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(committed); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what go generate makes: %v", committed, err)
		}
	}
}

// The libraries need nothing, give what is looked for, and can be read.
func TestLibraries(t *testing.T) {
	for _, name := range []string{"coz_amd64.so", "coz_arm64.so"} {
		f, err := object.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if needed, err := f.ELF.ImportedLibraries(); err != nil || len(needed) > 0 {
			t.Errorf("%s needs %v: %v", name, needed, err)
		}
		symbols, err := f.ELF.DynamicSymbols()
		if err != nil || len(symbols) != 1 || symbols[0].Name != "_coz_get_counter" || elf.ST_TYPE(symbols[0].Info) != elf.STT_FUNC {
			t.Errorf("%s has %v: %v", name, symbols, err)
		}
		if p := source.Read(f); len(p.Tables) != 1 || len(p.Warnings) > 0 {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestInstall(t *testing.T) {
	l, err := Install()
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(l.Path); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info, err)
	}
	if err := l.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(l.Path)); !os.IsNotExist(err) {
		t.Errorf("left behind: %v", err)
	}
}
