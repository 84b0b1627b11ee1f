package symbol

import (
	"slices"
	"testing"
)

// swiftProgram has functions with names as by Swift's compiler. They are called through pointers, because in an
// operand the assembler reads $ as the mark of a constant.
const swiftProgram = `
#define NAMED(f, name) __attribute__((noinline)) int f(int x) __asm__(name); int f(int x) { return x * __LINE__; }
NAMED(add, "$s4main5StoreC3add4itemS2i_tF")
NAMED(specialized, "$s4main5StoreC3add4itemS2i_tFTf4nd_n")
NAMED(other, "$s4main5StoreC3add5countS2i_tF")
NAMED(less, "$s4main5StoreC1loiySbAC_ACtFZ")
NAMED(fetch, "$s4main5fetchyyYaF")
NAMED(resumed, "$s4main5fetchyyYaFTY0_")
NAMED(modify, "$s4main5StoreC5countSivM")
NAMED(modified, "$s4main5StoreC5countSivM.resume.0")
NAMED(odd, "$s4main5StoreC3addoops")
int (*volatile all[])(int) = {add, specialized, other, less, fetch, resumed, modify, modified, odd};
int main(int n, char **v) { for (int i = 0; i < 9; i++) n += all[i](n); return !v; }
`

func TestSwiftFunctions(t *testing.T) {
	for _, debug := range []string{"-g", "-g0"} {
		b := open(t, compileFiles(t, map[string]string{"main.c": swiftProgram}, "gcc", "-O1", debug))
		for match, want := range map[string][]string{
			"main.Store.add(item:)":             {"$s4main5StoreC3add4itemS2i_tF", "$s4main5StoreC3add4itemS2i_tFTf4nd_n"},
			"specialized main.Store.add(item:)": {"$s4main5StoreC3add4itemS2i_tFTf4nd_n"},
			"main.Store.add": {"$s4main5StoreC3add4itemS2i_tF", "$s4main5StoreC3add4itemS2i_tFTf4nd_n",
				"$s4main5StoreC3add5countS2i_tF"},
			"*.add(count:)":             {"$s4main5StoreC3add5countS2i_tF"},
			"main.Store.<(_:_:)":        {"$s4main5StoreC1loiySbAC_ACtFZ"},
			"static main.Store.<(_:_:)": {"$s4main5StoreC1loiySbAC_ACtFZ"},
			"main.fetch()":              {"$s4main5fetchyyYaF"}, // one entry; later parts do not count
			"main.Store.count.modify":   {"$s4main5StoreC5countSivM"},
			"$s4main5fetchyyYaFTY0_":    {"$s4main5fetchyyYaFTY0_"},
			"$s4main5StoreC3addoops":    {"$s4main5StoreC3addoops"},
			"add":                       nil,
			"Store.add":                 nil,
			"main.Store.add(":           nil,
		} {
			funcs, err := b.Functions(match)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range funcs {
				got = append(got, f.Symbol)
			}
			slices.Sort(got)
			if slices.Sort(want); !slices.Equal(got, want) {
				t.Errorf("%s, %s: %q, want %q", debug, match, got, want)
			}
		}
		odd := "$s4main5StoreC3addoops" // cannot be read
		if debug == "-g" {
			odd = "odd" // but the debug information has another name
		}
		for symbol, want := range map[string]string{
			"$s4main5StoreC3add4itemS2i_tF":        "main.Store.add(item:)",
			"$s4main5StoreC3add4itemS2i_tFTf4nd_n": "specialized main.Store.add(item:)",
			"$s4main5fetchyyYaFTY0_":               "main.fetch()",
			"$s4main5StoreC5countSivM.resume.0":    "main.Store.count.modify",
			"$s4main5StoreC3addoops":               odd,
		} {
			addr, ok := b.Address(symbol)
			frames, err := b.FramesAt(addr)
			if !ok || err != nil || len(frames) != 1 || frames[0].Func != want || frames[0].Short != want {
				t.Errorf("%s, %s: %+v, %v, want %s", debug, symbol, frames, err, want)
			}
		}
		if near := b.Nearest("main.Store.ad(item:)", 2); !slices.Contains(near, "main.Store.add(item:)") {
			t.Errorf("%s: near are %q", debug, near)
		}
	}
}
