package test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"whatif/internal/testing/realkernel"
)

// A line is counted once for each execution of its statement, whatever the compiler made of it. The programs count the
// executions of each of their marked lines themselves.
func TestExactLines(t *testing.T) {
	realkernel.NeedBeside(t)
	for _, c := range []struct {
		source string
		build  []string
		except string
	}{
		{"places.c", []string{"gcc", "-O0"}, ""},
		{"places.c", []string{"gcc", "-O2"}, ""},
		{"places.c", []string{"gcc", "-O3"}, ""},
		{"places.c", []string{"gcc", "-O3", "-gsplit-dwarf"}, ""},
		{"places.c", []string{"clang", "-O0"}, ""},
		// Clang unrolls the loop, and does not say where in the result the statement begins anew: each turn of the unrolled
		// loop is counted once.
		{"places.c", []string{"clang", "-O2"}, "plain"},
		{"places.cc", []string{"g++", "-O0"}, ""},
		{"places.cc", []string{"g++", "-O2"}, ""},
		{"places.cc", []string{"g++", "-O3"}, ""},
		{"places.cc", []string{"clang++", "-O2"}, ""},
		{"places.rs", []string{"rustc", "-C", "opt-level=0"}, ""},
		{"places.rs", []string{"rustc", "-C", "opt-level=3"}, ""},
		{"goplaces/main.go", []string{"go"}, ""},
		{"goplaces/main.go", []string{"go", "-gcflags=all=-N -l"}, ""},
		{"goplaces/main.go", []string{"go", "-ldflags=-w"}, ""},
	} {
		how := strings.Join(c.build, " ")
		if testing.Short() && !slices.Contains([]string{"gcc -O2", "rustc -C opt-level=3", "go"}, how) {
			continue
		}
		t.Run(filepath.Base(c.source)+" "+how, func(t *testing.T) {
			source := filepath.Join("testdata", c.source)
			program := buildPlaces(t, source, c.build)
			var names []string
			var flags []string
			for name, line := range marks(t, source) {
				if name == c.except {
					continue
				}
				names = append(names, name)
				flags = append(flags, "-p", fmt.Sprintf("%s=%s:%d", name, filepath.Base(c.source), line))
			}
			data, said := profiled(t, append(flags, "-s", "0", "--experiment", "20ms"), []string{program, "1000"}, 0)
			own := map[string]int64{}
			for line := range strings.Lines(said) {
				var name string
				var n int64
				if _, err := fmt.Sscan(line, &name, &n); err != nil {
					t.Fatalf("the program said %q: %v", line, err)
				}
				own[name] = n
			}
			for i, name := range names {
				if got := data.End.Visits[i]; own[name] == 0 || got != own[name] {
					t.Errorf("%s, %s: %d visits counted at %d places, the program made %d", name, data.Run.Points[i].Spec, got,
						data.End.Sites[i], own[name])
				}
			}
		})
	}
}

// The return of a Go function is refused, with the lines on which it returns. To count one of those lines counts every
// call.
func TestGoReturn(t *testing.T) {
	realkernel.NeedBeside(t)
	program := buildPlaces(t, "testdata/goplaces/main.go", []string{"go"})
	out, err := exec.Command(realkernel.Whatif(t), "run", "--quiet", "-o", filepath.Join(t.TempDir(), "p"),
		"-s", "0", "-p", "func:main.work%return", "--", program, "10").CombinedOutput()
	m := regexp.MustCompile(`main.work is a Go function.*-p (main.go:[0-9]+)\n`).FindSubmatch(out)
	if err == nil || m == nil || !strings.Contains(string(out), "whatif: hint: ") {
		t.Fatalf("%v\n%s", err, out)
	}
	data, _ := profiled(t, []string{"-s", "0", "-p", "func:main.work", "-p", string(m[1])}, []string{program, "1000"}, 0)
	if v := data.End.Visits; v[0] < 1000 || v[0] != v[1] {
		t.Errorf("%d visits of the function, %d of its only return", v[0], v[1])
	}
}

func buildPlaces(t *testing.T, source string, build []string) string {
	t.Helper()
	if _, err := exec.LookPath(build[0]); err != nil {
		t.Fatalf("%v (make test installs it)", err)
	}
	const name = "places"
	command := append(slices.Clone(build), "-g", "-o", name, source)
	if build[0] == "go" {
		command = append(append([]string{"go", "build"}, build[1:]...), "-o", name, "./"+filepath.Dir(source))
	}
	program, err := realkernel.Built(t.TempDir(), name, source, command...)
	if err != nil {
		t.Fatal(err)
	}
	return program
}

var marked = regexp.MustCompile(`// ([a-z]+)$`)

// marks are the lines of a source file that end in a name, by that name.
func marks(t *testing.T, source string) map[string]int {
	t.Helper()
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]int{}
	for i, line := range strings.Split(string(text), "\n") {
		if m := marked.FindStringSubmatch(line); m != nil && !strings.HasPrefix(strings.TrimSpace(line), "//") {
			of[m[1]] = i + 1
		}
	}
	if len(of) < 5 {
		t.Fatalf("%s: %d marks", source, len(of))
	}
	return of
}
