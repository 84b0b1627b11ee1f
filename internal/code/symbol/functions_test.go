package symbol

import "testing"

// TestResolvers finds a resolver only by its exact name, and its versions by theirs.
func TestResolvers(t *testing.T) {
	for _, compiler := range []string{"gcc", "clang"} {
		b := open(t, build(t, "resolver.c", compiler, "-O0", "-g"))
		for name, want := range map[string][2]int{
			"total": {0, 1}, "tota*": {1, 0}, "total_plain": {1, 0}, "times": {2, 0}, "time*": {2, 0},
		} {
			funcs, err := b.Functions(name)
			var got [2]int
			for _, f := range funcs {
				if f.Resolver {
					got[1]++
				} else {
					got[0]++
				}
			}
			if compiler == "gcc" && name == "times" {
				want[1] = 1 // for Clang that one has another name
			}
			if err != nil || got != want {
				t.Errorf("%s, %s: %+v, %v", compiler, name, funcs, err)
			}
		}
	}
}

// TestHasSymbol: only the whole symbol is meant.
func TestHasSymbol(t *testing.T) {
	b := open(t, build(t, "resolver.c", "gcc", "-O0", "-g"))
	for name, want := range map[string]bool{
		"total_plain": true, "main": true, "total_plai": false, "total_plain2": false, "": false,
	} {
		if got := b.HasSymbol(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
	b.Close()
	if b.HasSymbol("main") {
		t.Error("a binary that is closed has symbols")
	}
}
