package symbol

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"whatif/internal/code/unwind"
)

// TestUnwindStripped reads a .debug_frame that was stripped from the file.
func TestUnwindStripped(t *testing.T) {
	whole := compileFiles(t, map[string]string{
		"a.c": "__attribute__((noinline)) int f(int x, int *p) { int room[99]; " +
			"for (int i = 0; i < 99; i++) room[i] = p[x + i]; p[1] = room[x]; return x; }\n" +
			"int main(int c, char **v) { int p[200] = {0}; (void)v; return f(c, p); }\n",
	}, "gcc", "-g", "-O1", "-fomit-frame-pointer", "-fno-unwind-tables", "-fno-asynchronous-unwind-tables")
	dir := t.TempDir()
	debug, stripped := filepath.Join(dir, "a.debug"), filepath.Join(dir, "a")
	for _, args := range [][]string{
		{"--only-keep-debug", whole, debug},
		{"--strip-all", "--add-gnu-debuglink=" + debug, whole, stripped},
	} {
		if out, err := exec.Command("objcopy", args...).CombinedOutput(); err != nil {
			t.Fatalf("objcopy %v: %v\n%s", args, err, out)
		}
	}
	funcs, err := open(t, whole).Functions("f")
	if err != nil || len(funcs) != 1 {
		t.Fatal(funcs, err)
	}
	rows := func(path string) []UnwindRow {
		rows, err := open(t, path).Unwind(funcs[0].FileOffset, funcs[0].Size)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		return rows
	}
	want, got := rows(whole), rows(stripped)
	if len(want) < 3 || want[0].Rule.Kind == unwind.FramePointer || !slices.Equal(got, want) {
		t.Errorf("stripped: %+v, whole: %+v", got, want)
	}
}
