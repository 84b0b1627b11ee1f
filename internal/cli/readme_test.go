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
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"whatif/internal/testing/realkernel"
)

// shorter changes a documented command so that it takes less time.
var shorter = strings.NewReplacer("-d 60s", "-d 900ms", "-d 30s", "-d 900ms", "-d 20s", "-d 900ms", "-d 5s", "-d 500ms",
	"--repeat 60", "--repeat 4", "--repeat 20", "--repeat 6", "whatif device -o", "whatif device -d 500ms --anyway -o")

// needsExperiments matches commands that show more than points and scopes: what is faster, for how long, a latency,
// what waits, another machine.
var needsExperiments = regexp.MustCompile(` (-s|-l|-t|--until|--together|--view|--repeat|--device|--waiting) ` +
	`| sample:|whatif (system|demo)`)

// brief is a documented command as the test executes it. Short experiments give short runs an answer; on a busy
// machine a run of less than a second may have eight samples, and none. Questions about another machine need a
// recording, which is a part of the run. Of the other documents, commands that show points and scopes have none, so
// they run beside other tests; the README's have them.
func (c *command) brief() string {
	text := shorter.Replace(strings.TrimPrefix(c.text, "sudo "))
	switch {
	case strings.Contains(text, "--device"): // needs a recording, for which a busy machine needs time
		text = strings.Replace(text, "-d 900ms", "-d 2500ms", 1)
	case sessions.MatchString(text) && c.document != filepath.Base(readme) && !needsExperiments.MatchString(text):
		text = strings.Replace(text, "-d 900ms", "-d 1500ms -s 0", 1)
	case sessions.MatchString(text):
		text = strings.Replace(text, "-d 900ms", "-d 1100ms --experiment 30ms", 1)
	}
	return text
}

// command is a line of a document that shows a command to type.
type command struct {
	document string
	text     string
}

// documentNames lists the files of the user's documents, guides last, without the README.
func documentNames(t *testing.T) (names []string) {
	t.Helper()
	for _, pattern := range []string{"../../docs/*.md", "../../docs/guides/*.md"} {
		some, err := filepath.Glob(pattern)
		if err != nil || len(some) == 0 {
			t.Fatalf("%s: %d documents: %v", pattern, len(some), err)
		}
		names = append(names, some...)
	}
	return names
}

// documented lists the commands of the user's documents: the lines of code blocks that start with "$ ".
func documented(t *testing.T) []command {
	t.Helper()
	names := documentNames(t)
	var found []command
	// TestTutorial executes the tutorial.
	names = slices.DeleteFunc(names, func(name string) bool { return filepath.Base(name) == "tutorial.md" })
	for _, name := range append([]string{readme}, names...) { // the README's first: of equal commands one is executed
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

// TestDocumentedCommands executes every command of the documents once, as far as possible. whatif's commands run for a
// shorter time, on programs like those in the text. Those of make run as make -n, because make runs this test.
func TestDocumentedCommands(t *testing.T) {
	t.Parallel()
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
		realkernel.NeedBeside(t)
		dir := town(t)
		for _, c := range profiling {
			executeDocumented(t, dir, c)
		}
	})
}

// town makes a directory with the programs of the documents, and with whatif under the names that the documents use.
func town(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, source := range []string{"testdata/programs/server.c", "testdata/programs/convert.c", example + "/orders.c",
		example + "/quotes.c"} {
		name := strings.TrimSuffix(filepath.Base(source), ".c")
		_, err := realkernel.Built(dir, name, source,
			"gcc", "-O1", "-g", "-pthread", "-fno-omit-frame-pointer", "-I../..", "-o", name, source)
		if err != nil {
			t.Fatal(err)
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
	makefile := []byte("all:\n\t./convert input.dat\nclean:\n")
	if err := os.WriteFile(filepath.Join(dir, "Makefile"), makefile, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	// A stand-in for mpirun with two ranks, which do not communicate.
	mpirun := "#!/bin/sh\nshift 2\n\"$@\" & a=$!\n\"$@\" & b=$!\ntrap 'kill $a $b; exit 143' TERM\nwait\n"
	if err := os.WriteFile(filepath.Join(dir, "bin", "mpirun"), []byte(mpirun), 0o755); err != nil {
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

// table gives a pattern for a row with a unit, which the table of a run must have.
func table(command string) *regexp.Regexp {
	switch {
	case strings.Contains(command, " -s 0 "):
		unit := `\S+:\d+`
		if strings.Contains(command, " -u ") || strings.Contains(command, "--kernel") {
			unit = `\S+`
		}
		return regexp.MustCompile(`(?m)^never tried: \d+ units?, the largest of them ` + unit + ` with `)
	case strings.Contains(command, "--device"): // with the places there and here
		return regexp.MustCompile(`(?m)^ *1 +(\d+|–) +\S+ .*`)
	case strings.Contains(command, " units "):
		return regexp.MustCompile(`(?m)^ *\d+\.\d% +\S+:\d+ .* in$`)
	case strings.Contains(command, "-u b"): // binary
		return regexp.MustCompile(`(?m)^\s*1 +\S+ .*`)
	case strings.Contains(command, "<"): // a path, which has most of the time, once the stacks are known
		return regexp.MustCompile(`(?m)^\s*1 +parse_row<handle_put +parse_row +([1-9]\d|100)\.\d% `)
	}
	return regexp.MustCompile(`(?m)^\s*1 +\S+:\d+ .*`)
}

// foundUnits is what a run says that found units and had no time to try one, as in a second on a busy machine.
var foundUnits = regexp.MustCompile(`(?s)this run tells no gain: no unit was tried.*never tried: \d+ units?, ` +
	`the largest `)

// says has patterns for the output of the commands that compare the profiles in town.
var says = map[string]*regexp.Regexp{
	"diff": regexp.MustCompile(
		`(?m)^done: (no significant change: )?[\d.]+% (less|more) time per visit [^\n]* → [\d.]+/s\)[^\n]*\n` +
			`(.*\n)*predicted gains: less time per visit of done`),
	"check": regexp.MustCompile(`(?m)^(holds|not sure): .*\bdone\b`),
}

var profiles = regexp.MustCompile(` (run|attach|system|units) `)

// serving starts the program to which a documented command attaches, or that its program needs.
func serving(t *testing.T, dir, name string, args ...string) (pid int, end func()) {
	t.Helper()
	server := exec.Command(name, args...)
	server.Dir = dir
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	return server.Process.Pid, func() {
		server.Process.Kill()
		server.Wait()
	}
}

// executeDocumented runs a command in dir, and checks its output and that it succeeds.
func executeDocumented(t *testing.T, dir string, c command) {
	t.Helper()
	text := c.brief()
	release, err := turnFor(text)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	switch {
	case strings.Contains(text, "whatif view "):
		view(t, dir, text, "the page is at", 0)
		return
	case strings.Contains(text, " --view "):
		page, said := view(t, dir, text, "the run has ended", 0)
		if !strings.Contains(page, `"live":false`) || !strings.Contains(page, `"request_done"`) {
			t.Errorf("$ %s: page of %d bytes; said:\n%s", text, len(page), said)
		}
		return
	}
	if strings.Contains(text, "pgrep") {
		pid, end := serving(t, dir, "./server")
		defer end()
		text = strings.Replace(text, "$(pgrep -n server)", fmt.Sprint(pid), 1) // other tests have servers, too
	}
	if strings.HasSuffix(text, " ./quotes") {
		os.Remove(filepath.Join(dir, "quotes.socket"))
		_, end := serving(t, dir, "./quotes", "serve")
		defer end()
		for by := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
			if _, err := os.Stat(filepath.Join(dir, "quotes.socket")); err == nil {
				break // it listens
			}
			if time.Now().After(by) {
				t.Fatal("quotes does not listen")
			}
		}
	}
	cmd := exec.Command("sh", "-c", text)
	cmd.Dir = dir
	// Devices are kept in dir, too, not in the database of the user.
	cmd.Env = append(os.Environ(), fmt.Sprintf("PATH=%s/bin:%s", dir, os.Getenv("PATH")), "XDG_DATA_HOME="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: $ %s: executed as %s: %v\n%s", c.document, c.text, text, err, out)
		return
	}
	if want := says[strings.Fields(text)[1]]; want != nil && !want.Match(out) {
		t.Errorf("%s: $ %s: executed as %s: it does not say %v\n%s", c.document, c.text, text, want, out)
	}
	if profiles.MatchString(text) && !table(text).Match(out) && !foundUnits.Match(out) {
		t.Errorf("%s: $ %s: executed as %s: no table\n%s", c.document, c.text, text, out)
	}
}
