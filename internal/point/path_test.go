package point

import (
	"math/rand/v2"
	"slices"
	"testing"

	"whatif/internal/code/symbol"
)

func TestSplitPath(t *testing.T) {
	for in, want := range map[string][]string{
		"parse_row":              {"parse_row"},
		"parse_row<handle_put":   {"parse_row", "handle_put"},
		" a < b <c ":             {"a", "b", "c"},
		"parse.c:118<handle_put": {"parse.c:118", "handle_put"},
		"func:f<int>":            {"func:f<int>"},
		"f<int><g":               {"f<int>", "g"},
		"f<int><g<long>":         {"f<int>", "g<long>"},
		"a<f<g<int>>":            {"a", "f<g<int>>"},
		"a<b<c>":                 {"a", "b<c>"},
		"f<g<int> >::h(int)<k":   {"f<g<int> >::h(int)", "k"},
		"<A as B>::c<d":          {"<A as B>::c", "d"},
		"f<fn() -> int><g":       {"f<fn() -> int>", "g"},
		"f<(a<b)><g":             {"f<(a<b)>", "g"},
		"f<(1>2)><g":             {"f<(1>2)>", "g"},
		"operator<":              {"operator<"},
		"operator<<":             {"operator<<"},
		"operator<<g":            {"operator<", "g"},
		"operator<<<g":           {"operator<<", "g"},
		"operator< <g":           {"operator<", "g"},
		"operator<<int>(int)":    {"operator<<int>(int)"},
		"operator<< <int><g":     {"operator<< <int>", "g"},
		"operator<=><g":          {"operator<=>", "g"},
		"a::operator->()<g":      {"a::operator->()", "g"},
		"a<b::operator>":         {"a", "b::operator>"},
		"a<operator<":            {"a", "operator<"},
		"my_operator<g":          {"my_operator", "g"},
		"operator_table<g":       {"operator_table", "g"},
		"main.(*T).Get<main.run": {"main.(*T).Get", "main.run"},
		"main.f[...]<main.g":     {"main.f[...]", "main.g"},
		"main.f(of:)<main.g()":   {"main.f(of:)", "main.g()"},
		"main.V.<(_:_:)":         {"main.V.<(_:_:)"},
		"main.V.<<(_:_:)<main.f": {"main.V.<<(_:_:)", "main.f"},
		"a<main.V.>(_:_:)<b":     {"a", "main.V.>(_:_:)", "b"},
		"main.V.<- prefix(_:)":   {"main.V.<- prefix(_:)"},
		"main.V...<(_:_:)<b":     {"main.V...<(_:_:)", "b"},
		"a<b(":                   {"a", "b("},
		"a(<b":                   {"a(<b"},
		"":                       {""},
		"<":                      {"", ""},
		">":                      {">"},
	} {
		if got := splitPath(in); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestParsePath(t *testing.T) {
	got, err := ParseTarget(" func-self:parse_row < src/put.c:20 <func:handle<int> ")
	if err != nil || got.Func != "parse_row" || !got.Self || len(got.Callers) != 2 || got.Callers[0].File != "src/put.c" ||
		got.Callers[0].Line != 20 || got.Callers[1].Func != "handle<int>" {
		t.Fatalf("%+v, %v", got, err)
	}
	got, err = ParseTarget("parse.c:118<handle_put")
	if err != nil || got.File != "parse.c" || got.Line != 118 || got.Inclusive() || !got.NeedsStack() {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := ParseTarget("parse_row<handle_put"); err != nil || got.Func != "parse_row" || !got.Inclusive() {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestStep compares Step, place by place, with a search through whole stacks.
func TestStep(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	targets := []string{"a<b", "a<b<c", "a<a", "b<a<b<a", "func:a"}
	for range 20000 {
		target, err := ParseTarget(targets[rng.IntN(len(targets))])
		if err != nil {
			t.Fatal(err)
		}
		var whole []string
		met := 0
		for range rng.IntN(6) {
			var frames []symbol.Frame
			for range 1 + rng.IntN(3) {
				name := string(rune('a' + rng.IntN(4)))
				whole = append(whole, name)
				frames = append(frames, symbol.Frame{Func: name, Short: name})
			}
			met = target.Step(met, frames, func(int) bool { return true })
		}
		names := []string{target.Func}
		for _, c := range target.Callers {
			names = append(names, c.Func)
		}
		if got, want := met == target.Length(), subsequence(names, whole); got != want {
			t.Fatalf("%s on %v: %v", target.Text, whole, got)
		}
	}
}

// subsequence reports whether all names occur in this order, with others in between.
func subsequence(names, in []string) bool {
	if len(names) == 0 {
		return true
	}
	for i, name := range in {
		if name == names[0] && subsequence(names[1:], in[i+1:]) {
			return true
		}
	}
	return false
}

// TestTargetInKernel checks that -t takes the kernel's functions as reports show them.
func TestTargetInKernel(t *testing.T) {
	for text, want := range map[string]string{
		"func:vfs_write [kernel]": "vfs_write", "func:ext4_create [ext4]": "ext4_create",
		"func:operator []": "operator []", "func:operator new[]": "operator new[]",
	} {
		if got, err := ParseTarget(text); err != nil || got.Func != want {
			t.Errorf("%s: %q, %v", text, got.Func, err)
		}
	}
}
