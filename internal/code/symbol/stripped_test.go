package symbol

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestStrippedGo checks that a Go binary without symbols and debug information gives the same answers as one with
// them.
func TestStrippedGo(t *testing.T) {
	for _, args := range [][]string{{"-ldflags=-s -w"}, {"-buildmode=pie", "-ldflags=-s -w"}} {
		b := open(t, build(t, "goprog", append([]string{"go", "build"}, args...)...))
		plain := slices.DeleteFunc(slices.Clone(args), func(s string) bool { return strings.HasPrefix(s, "-ldflags") })
		full := open(t, build(t, "goprog", append([]string{"go", "build"}, plain...)...))
		if !b.IsGo() || b.HasDebugInfo() || !b.HasSymbols() {
			t.Errorf("%v: go %v, debug info %v, names %v", args, b.IsGo(), b.HasDebugInfo(), b.HasSymbols())
		}
		if o := b.Origin(true); !o.Lines {
			t.Errorf("%v: no lines", args)
		}
		for _, name := range []string{
			"main.main", "main.done", "main.(*T).Get", "main.Map", "main.Map[...]", "main.half",
			"net/http.(*Server).Serve", "main.*", "encoding/json.*",
		} {
			got, err := b.Functions(name)
			want, err2 := full.Functions(name)
			if err != nil || err2 != nil {
				t.Fatal(err, err2)
			}
			// Only the symbol table has labels and other entries of assembly.
			if !slices.EqualFunc(got, want, func(g, w Func) bool {
				return g.FileOffset == w.FileOffset && g.Name == w.Name && (g.Size == w.Size || strings.Contains(name, "*"))
			}) {
				t.Errorf("%v: %s:\n\tstripped %+v\n\twhole    %+v", args, name, got, want)
			}
		}
		for name, want := range map[string]bool{"main.half": true, "main.main": true, "main.no_such": false} {
			if got, err := b.HasFunc(name); err != nil || got != want {
				t.Errorf("%v: HasFunc(%s): %v, %v", args, name, got, err)
			}
		}
		if near := b.Nearest("main.doen", 3); !slices.Contains(near, "main.done") {
			t.Errorf("%v: near main.doen: %v", args, near)
		}
		source, err := os.ReadFile("testdata/src/goprog/main.go")
		if err != nil {
			t.Fatal(err)
		}
		before, _, _ := strings.Cut(string(source), "t.m[w] += half")
		line := strings.Count(before, "\n") + 1
		if err := b.CheckLine("goprog/main.go", line); err != nil {
			t.Errorf("%v: %v", args, err)
		}
		var missing *NotFound
		if err := b.CheckLine("main.go", 2); !errors.As(err, &missing) || len(missing.Near) != 3 {
			t.Errorf("%v: line 2: %v", args, err)
		}
		if err := b.CheckLine("mian.go", 20); !errors.As(err, &missing) || !slices.Contains(missing.Near, "main.go") {
			t.Errorf("%v: mian.go: %v", args, err)
		}
	}
}
