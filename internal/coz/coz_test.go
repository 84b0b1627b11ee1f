package coz

import (
	"debug/elf"
	"testing"

	"whatif/internal/code/symbol/object"
	"whatif/internal/point/source"
	"whatif/internal/testing/committed"
)

// TestGenerated compiles the library again with the same compiler: the result is the committed one.
func TestGenerated(t *testing.T) { committed.Check(t, "coz.go", "../../bpf/compiler.txt", 2) }

// TestLibraries checks that the libraries need no other library, export the function, and have a
// table that the profiler finds.
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
		if err != nil || len(symbols) != 1 || symbols[0].Name != "_coz_get_counter" ||
			elf.ST_TYPE(symbols[0].Info) != elf.STT_FUNC {
			t.Errorf("%s has %v: %v", name, symbols, err)
		}
		if p := source.Read(f); len(p.Tables) != 1 || len(p.Warnings) > 0 {
			t.Errorf("%s: %+v", name, p)
		}
	}
}
