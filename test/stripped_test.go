package test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"whatif/internal/testing/realkernel"
)

// A Go program without symbols and debug information has points, targets and lines all the same.
func TestStrippedGo(t *testing.T) {
	realkernel.NeedBeside(t)
	source, err := os.ReadFile("testdata/gostripped/main.go")
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(source), "// HOT")
	hot := fmt.Sprintf("main.go:%d", strings.Count(before, "\n")+1)
	for _, mode := range []string{"exe", "pie"} {
		if testing.Short() && mode == "exe" {
			continue
		}
		program := filepath.Join(t.TempDir(), "rounds")
		build := exec.Command("go", "build", "-buildmode="+mode, "-ldflags=-s -w", "-o", program, "./testdata/gostripped")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, flags := range [][]string{{}, {"-t", hot}, {"-t", "func:main.mix"}} {
			flags = append([]string{"-p", "func:main.done", "-s", "0", "--period", "1ms"}, flags...)
			d, _ := profiled(t, flags, []string{program}, 0)
			if d.End.Visits[0] < 100 {
				t.Errorf("%s %v: %d visits of main.done", mode, flags, d.End.Visits[0])
			}
			var all, found int64
			for _, e := range d.Experiments {
				all += e.Samples
				for id, n := range e.UnitSamples {
					if u := d.Units[id]; u.Name == hot && u.Func == "main.mix" || u.Kind == "func" && u.Name == "main.mix" {
						found += n
					}
				}
			}
			if found < all/2 {
				t.Errorf("%s %v: %d of %d samples in %s: %+v", mode, flags, found, all, hot, d.Units)
			}
		}
	}
}
