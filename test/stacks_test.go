package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"whatif/internal/profile"
	"whatif/internal/testing/realkernel"
)

// The programs run for 0.6 s, again and again, and the last run is cut short.
const (
	runFor     = "900ms"
	terminated = 128 + 15
)

// made runs a compiler.
func made(t *testing.T, command ...string) {
	t.Helper()
	if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v (make test installs what is needed)\n%s", strings.Join(command, " "), err, out)
	}
}

// ended counts the samples of a profile, those with a stack that could not be followed, and those that met code whose
// tables were still to come.
func ended(data *profile.Data) (samples, stuck, early int64) {
	for i := range data.Experiments {
		e := &data.Experiments[i]
		samples += e.Samples
		stuck += e.Losses[profile.LossStack]
		early += e.Losses[profile.LossTable]
	}
	return samples, stuck, early
}

// whole checks that the stacks of a program's samples reach main or the thread's start. The program is stripped first,
// so nothing in it is in scope, and no walk ends before.
func whole(t *testing.T, program ...string) {
	t.Helper()
	stripped := filepath.Join(t.TempDir(), filepath.Base(program[0]))
	made(t, "strip", "-o", stripped, program[0])
	data, _ := profiled(t, []string{"--period", "500us", "-s", "0", "-d", runFor},
		append([]string{stripped}, program[1:]...), terminated)
	samples, stuck, early := ended(data)
	t.Logf("%d samples, %d not followed to the end, %d before the tables were there", samples, stuck, early)
	if samples < 300 {
		t.Fatalf("only %d samples", samples)
	}
	if 100*stuck > samples {
		t.Errorf("%d of %d stacks did not reach the outermost function", stuck, samples)
	}
	// Tables are asked for one page after the other, while the program has the cores.
	if 5*early > samples {
		t.Errorf("%d of %d samples before the tables were there", early, samples)
	}
}

// blamed checks that at least so many percent of a program's time belong to its lines with a mark.
func blamed(t *testing.T, least int64, source, mark string, program ...string) {
	t.Helper()
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[int]bool{}
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasSuffix(line, "// "+mark) {
			lines[i+1] = true
		}
	}
	data, _ := profiled(t, []string{"--period", "500us", "-s", "0", "-d", runFor}, program, terminated)
	samples, stuck, early := ended(data)
	in, elsewhere := int64(0), map[string]int64{}
	for i := range data.Experiments {
		for id, n := range data.Experiments[i].UnitSamples {
			if u := data.Units[id]; filepath.Base(u.File) == filepath.Base(source) && lines[u.Line] {
				in += n
			} else {
				elsewhere[u.Name] += n
			}
		}
	}
	t.Logf("%d of %d samples in the lines marked %q; %v elsewhere; %d not followed, %d before the tables were there",
		in, samples, mark, elsewhere, stuck, early)
	all := in
	for _, n := range elsewhere {
		all += n
	}
	if 100*in < least*all {
		t.Errorf("%d of %d samples are in the lines marked %q; elsewhere %v", in, all, mark, elsewhere)
	}
	// Some are lost at the start, and those in the kernel's way out of a thread belong to no code.
	if 100*in < (least-12)*(samples-early) {
		t.Errorf("of %d samples only %d are in the lines marked %q; elsewhere %v", samples-early, in, mark, elsewhere)
	}
}

func TestStacks(t *testing.T) {
	realkernel.NeedQuiet(t)
	const source = "testdata/stacks.c"
	dir := t.TempDir()
	program, library := filepath.Join(dir, "stacks"), filepath.Join(dir, "stackslib.so")
	made(t, "gcc", "-O2", "-g", "-Wall", "-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-pthread", "-o", program,
		source, "-lm", "-lz", "-ldl")
	made(t, "gcc", "-O2", "-Wall", "-fomit-frame-pointer", "-fPIC", "-shared", "-s", "-o", library, "testdata/stackslib.c",
		"-lm")
	for _, how := range []string{
		"qsort", "memcpy", "libm", "deflate", "printf", "malloc", "mmap", "deep", "signal", "alloca", "realigned",
		"clock", "jit", "dlopen", "deleted", "thread",
	} {
		if testing.Short() && !slices.Contains([]string{"deflate", "signal", "jit"}, how) {
			continue
		}
		t.Run(how, func(t *testing.T) {
			if !testing.Short() || how != "jit" {
				whole(t, program, how, library)
			}
			if testing.Short() && how == "deflate" {
				return
			}
			// The rest is the start of the program, and its own loop.
			mark, least := how, int64(97)
			switch how {
			case "thread":
				// Threads begin and end in the kernel, for no code.
				mark, least = "libm", 90
			case "dlopen", "deleted": // the library is in scope, and has no lines
				return
			}
			blamed(t, least, source, mark, program, how, library)
		})
	}
}

func TestStacksOfOtherLanguages(t *testing.T) {
	realkernel.NeedWhole(t)
	dir := t.TempDir()
	cc, rust, golang := filepath.Join(dir, "cc"), filepath.Join(dir, "rust"), filepath.Join(dir, "golang")
	made(t, "g++", "-O2", "-std=c++20", "-fomit-frame-pointer", "-o", cc, "testdata/stacks.cc")
	for _, how := range []string{"sort", "map", "stream", "exceptions"} {
		t.Run("c++ "+how, func(t *testing.T) { whole(t, cc, how) })
	}
	t.Run("rust", func(t *testing.T) {
		made(t, "rustc", "-O", "--edition", "2021", "-o", rust, "testdata/stacks.rs")
		whole(t, rust)
	})
	t.Run("go", func(t *testing.T) {
		made(t, "go", "build", "-o", golang, "./testdata/gostacks")
		whole(t, golang)
	})
	t.Run("go without a frame", func(t *testing.T) {
		made(t, "go", "build", "-o", golang, "./testdata/gocopy")
		blamed(t, 85, "testdata/gocopy/main.go", "copy", golang) // the rest is the runtime's own
	})
}
