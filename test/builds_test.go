package test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"whatif/internal/profile"
	"whatif/internal/testing/realkernel"
)

// Programs that a launcher starts are known by their own builds, also where the linker gave them no build id.
func TestLaunchedBuilds(t *testing.T) {
	realkernel.NeedBeside(t)
	source := filepath.Join(t.TempDir(), "spin.c")
	program := filepath.Join(t.TempDir(), "spin")
	build := func(rounds string, flags ...string) {
		text := "int rounds;\nvolatile int sink;\n__attribute__((noinline)) void visited(void) { rounds++; }\n" +
			"int main(void) {\n  for (int i = 0; i < " + rounds + "; i++) {\n" +
			"    for (int j = 0; j < 200000; j++) sink++;\n    visited();\n  }\n}\n"
		if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		compiled, err := os.ReadFile(realkernel.Compile(t, source, flags...))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(program, compiled, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run := func() *profile.Data {
		data, _ := profiled(t, []string{"-p", "func:" + program + ":visited", "-s", "0"},
			[]string{"sh", "-c", program + "; true"}, 0)
		return data
	}
	var runs []*profile.Data
	for _, c := range []struct {
		rounds, flag string
		content      bool
	}{
		{"2000", "-Wl,--build-id=sha1", false}, {"2001", "-Wl,--build-id=sha1", false}, {"2002", "-Wl,--build-id=none", true},
	} {
		build(c.rounds, c.flag)
		d := run()
		id := d.Binaries[program]
		if id == "" || strings.HasPrefix(id, "content-") != c.content {
			t.Errorf("%s: the program's build is %q, of %v and %v", c.flag, id, d.Run.BuildIDs, d.Binaries)
		}
		runs = append(runs, d)
	}
	if builds, unknown := profile.Builds(runs); builds != 3 || unknown != 0 {
		t.Errorf("%d builds, and %d not known", builds, unknown)
	}
	if again := run(); profile.Differ(runs[2:], []*profile.Data{again}) {
		t.Errorf("the same program is another build: %v, %v", runs[2].Binaries, again.Binaries)
	}
}
