package symbol

import (
	"os"
	"path/filepath"
	"testing"
)

// TestVariables: exported symbols have the addresses of the file, and what is at an offset has one, too.
func TestVariables(t *testing.T) {
	source := filepath.Join(t.TempDir(), "shared.c")
	text := "long what_one = 1, what_two, other; int what_it_does(void) { return 0; }\n"
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b := open(t, buildFile(t, source, "gcc", "-shared", "-fPIC"))
	found, err := b.Variables("what_")
	if err != nil || len(found) != 3 || found["what_one"] == 0 || found["what_two"] == found["what_one"] {
		t.Errorf("%v, %v", found, err)
	}
	function, ok := b.Address("what_it_does")
	if !ok || found["what_it_does"] != function {
		t.Errorf("the function is at %#x, not %#x", found["what_it_does"], function)
	}
	offset, _ := b.offset(function)
	if addr, ok := b.AddressOf(offset); !ok || addr != function {
		t.Errorf("offset %#x is at %#x", offset, addr)
	}
	if addr, ok := b.AddressOf(1 << 40); ok {
		t.Errorf("an offset behind the file is at %#x", addr)
	}
	b.Close()
	if _, err := b.Variables("what_"); err == nil {
		t.Error("of a closed binary: no error")
	}
}
