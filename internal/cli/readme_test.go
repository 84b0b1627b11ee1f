package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"whatif/internal/realkernel"
)

// shorter makes of a documented command one that takes less time.
var shorter = strings.NewReplacer("-d 60s", "-d 1500ms", "-d 30s", "-d 1500ms", "-d 20s", "-d 1500ms", "--repeat 60", "--repeat 4", "--repeat 20", "--repeat 8")

// command is a line of a document that shows what to type.
type command struct {
	document string
	text     string
}

// documented gives the commands of the documents that a user reads: lines of code blocks
// that start with "$ ".
func documented(t *testing.T) []command {
	t.Helper()
	names, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var found []command
	names = slices.DeleteFunc(names, func(name string) bool { return filepath.Base(name) == "tutorial.md" }) // TestTutorial goes that way
	for _, name := range append(names, "../../README.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		inBlock := false
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "```") {
				inBlock = !inBlock
			}
			if c, ok := strings.CutPrefix(strings.TrimSpace(line), "$ "); ok && inBlock {
				found = append(found, command{filepath.Base(name), c})
			}
		}
	}
	if len(found) < 5 {
		t.Fatalf("%d commands in the documents: they are not read as they should", len(found))
	}
	return found
}

var whatifCommand = regexp.MustCompile(`^(sudo )?(bin/)?whatif( |$)`)

// TestDocumentedCommands executes every command that the documents show, once, as far as it
// can be: whatif's own with less time, on programs such as they are about, and make's
// as make -n, since they run this test.
func TestDocumentedCommands(t *testing.T) {
	commands := documented(t)
	var profiling []command
	shown := map[string]bool{}
	for _, c := range commands {
		if shown[c.text] {
			continue
		}
		shown[c.text] = true
		switch {
		case whatifCommand.MatchString(c.text):
			profiling = append(profiling, c)
		case strings.HasPrefix(c.text, "make"):
			dry := exec.Command("sh", "-c", strings.Replace(c.text, "make", "make -n", 1))
			dry.Dir = "../.."
			if out, err := dry.CombinedOutput(); err != nil {
				t.Errorf("%s: $ %s: %v\n%s", c.document, c.text, err, out)
			}
		default:
			t.Errorf("%s: $ %s: this test does not know how to execute it", c.document, c.text)
		}
	}
	t.Run("profiling", func(t *testing.T) {
		realkernel.Need(t)
		dir := town(t)
		for _, c := range profiling {
			executeDocumented(t, dir, c)
		}
	})
}

// town is a directory in which the documents' programs are, and whatif as they call it.
func town(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, source := range []string{"testdata/programs/server.c", "testdata/programs/convert.c", example + "/orders.c"} {
		name := strings.TrimSuffix(filepath.Base(source), ".c")
		out, err := exec.Command("gcc", "-O1", "-g", "-pthread", "-fno-omit-frame-pointer", "-I../..", "-o", filepath.Join(dir, name), source).CombinedOutput()
		if err != nil {
			t.Fatalf("compiling %s: %v\n%s", name, err, out)
		}
	}
	archive, err := txtar.ParseFile("testdata/formats.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if to := map[string]string{"old.profile": "before.profile", "new.profile": "after.profile"}[f.Name]; to != "" {
			if err := os.WriteFile(filepath.Join(dir, to), f.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "input.dat"), []byte("some input\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"before.profile", "after.profile"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Fatal("formats.txtar has lost its profiles: ", err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "Makefile"), []byte("all:\n\t./convert input.dat\nclean:\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	// Two ranks, without a library to bring them together.
	if err := os.WriteFile(filepath.Join(dir, "bin", "mpirun"), []byte("#!/bin/sh\nshift 2\n\"$@\" & a=$!\n\"$@\" & b=$!\ntrap 'kill $a $b; exit 143' TERM\nwait\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("server", filepath.Join(dir, "solver")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(realkernel.Whatif(t), filepath.Join(dir, "bin", "whatif")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// table is what the table of a run has to have: a row with a unit.
func table(command string) *regexp.Regexp {
	switch {
	case strings.Contains(command, "--list-units"):
		return regexp.MustCompile(`(?m)^ *\d+\.\d% +\S+:\d+ .* in$`)
	case strings.Contains(command, "-u f"), strings.Contains(command, "-u b"), strings.Contains(command, "--kernel"): // file, func, binary
		return regexp.MustCompile(`(?m)^\s*1 +\S+ .*`)
	case strings.Contains(command, "<"): // most of the time is the path's
		return regexp.MustCompile(`(?m)^\s*1 +parse_row<handle_put +parse_row +([789]\d|100)\.\d% `)
	}
	return regexp.MustCompile(`(?m)^\s*1 +\S+:\d+ .*`)
}

// says is what commands that compare have to say of the profiles in town.
var says = map[string]*regexp.Regexp{
	"diff":  regexp.MustCompile(`(?m)^done: (no certain change: )?[\d.]+% (less|more) time per visit [^\n]* → [\d.]+/s\)[^\n]*\n(.*\n)*what units promise: less time per visit of done`),
	"check": regexp.MustCompile(`(?m)^(holds|not sure): .*\bdone\b`),
}

var profiles = regexp.MustCompile(` (run|attach|system) `)

// serving starts the program that a documented command attaches to.
func serving(t *testing.T, dir string) (end func()) {
	t.Helper()
	server := exec.Command("./server")
	server.Dir = dir
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	return func() {
		server.Process.Kill()
		server.Wait()
	}
}

// executeDocumented runs a command in dir: it must do what it is shown for, and end well.
func executeDocumented(t *testing.T, dir string, c command) {
	t.Helper()
	text := shorter.Replace(strings.TrimPrefix(c.text, "sudo "))
	switch {
	case strings.Contains(text, "whatif view "):
		view(t, dir, text, "the page is at", 0)
		return
	case strings.Contains(text, " --view "):
		view(t, dir, text, "the run has ended", 0)
		return
	}
	if strings.Contains(text, " attach ") {
		defer serving(t, dir)()
	}
	cmd := exec.Command("sh", "-c", text)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), fmt.Sprintf("PATH=%s/bin:%s", dir, os.Getenv("PATH")))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: $ %s: executed as %s: %v\n%s", c.document, c.text, text, err, out)
		return
	}
	if want := says[strings.Fields(text)[1]]; want != nil && !want.Match(out) {
		t.Errorf("%s: $ %s: executed as %s: it does not say %v\n%s", c.document, c.text, text, want, out)
	}
	if profiles.MatchString(text) && !table(text).Match(out) {
		t.Errorf("%s: $ %s: executed as %s: no table\n%s", c.document, c.text, text, out)
	}
}
