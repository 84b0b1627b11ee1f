package symbol

import "testing"

// The function that chooses one is found by its exact name only, and is marked.
func TestResolvers(t *testing.T) {
	b := open(t, build(t, "resolver.c", "gcc", "-O0", "-g"))
	for name, want := range map[string]int{"total": 1, "tota*": 1, "total_plain": 1} {
		funcs, err := b.Functions(name)
		if err != nil || len(funcs) != want || funcs[0].Resolver != (name == "total") {
			t.Errorf("%s: %+v, %v", name, funcs, err)
		}
	}
}
