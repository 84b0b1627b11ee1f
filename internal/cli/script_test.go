package cli_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"whatif/internal/testing/realkernel"
)

var update = flag.Bool("update", false, "write the scripts' golden files anew")

func TestMain(m *testing.M) {
	// testscript leaves an empty directory behind, so it gets a directory that is removed here.
	dir, err := os.MkdirTemp("", "whatif-scripts")
	if err == nil {
		err = os.Setenv("GOTMPDIR", dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	realkernel.Cleanup()
	os.RemoveAll(dir)
	os.Exit(status)
}

// TestScripts runs testdata/*.txtar. Scripts that profile start with
//
//	[!able] skip $WHY
//
// and are skipped only if a probe says that the machine cannot profile; see realkernel.Able.
func TestScripts(t *testing.T) {
	able, why, err := realkernel.Able()
	if err != nil {
		t.Fatal(err)
	}
	if !able {
		t.Log("the scripts that profile are skipped:", why)
	}
	params := testscript.Params{
		Dir:           "testdata",
		UpdateScripts: *update,
		Setup:         setup(t, why),
		Condition: func(cond string) (bool, error) {
			if cond == "able" {
				return able, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":   statusCommand,
			"compile":  compileCommand,
			"contract": contractCommand,
			"count":    countCommand,
			"field":    fieldCommand,
			"tmpfs":    tmpfsCommand,
		},
	}
	if names, err := filepath.Glob("testdata/*.txtar"); err != nil || len(names) < 10 {
		t.Fatalf("%d scripts: %v", len(names), err)
	}
	t.Parallel()
	testscript.Run(t, params)
}

// setup gives a script whatif in its PATH, the programs' sources in $PROGRAMS, and the reason why whatif cannot profile
// in $WHY. It waits until no test measures.
func setup(t *testing.T, why string) func(*testscript.Env) error {
	whatif := realkernel.Whatif(t)
	programs, err := filepath.Abs("testdata/programs")
	if err != nil {
		t.Fatal(err)
	}
	return func(env *testscript.Env) error {
		release, err := realkernel.Beside()
		if err != nil {
			return err
		}
		env.Defer(release)
		env.Setenv("PATH", filepath.Dir(whatif)+string(os.PathListSeparator)+env.Getenv("PATH"))
		env.Setenv("PROGRAMS", programs)
		env.Setenv("WHY", why)
		return nil
	}
}

// A command has a session that stops cores if sessions matches, and resting does not, or stopping does.
var (
	sessions = regexp.MustCompile(`\bwhatif (run|attach|system|demo)\b`)
	resting  = regexp.MustCompile(` (--list-units|--no-delays|-s 0) `)
	stopping = regexp.MustCompile(` -l | sample:`) // also with -s 0
)

// turnFor waits until no other test has a session that stops cores, if the command has one.
func turnFor(command ...string) (release func(), err error) {
	text := strings.Join(command, " ")
	if !sessions.MatchString(text) || resting.MatchString(text) && !stopping.MatchString(text) {
		return func() {}, nil
	}
	return realkernel.Turn()
}

// statusCommand is `status N program args...`: the program must exit with N. A whatif that stops cores waits for its
// turn; with status 2 it does not get so far. In a script's background, which has no status, no whatif may stop cores.
func statusCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N program [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if want != 2 {
		release, err := turnFor(args[1:]...)
		ts.Check(err)
		defer release()
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
		if s := exit.Sys().(syscall.WaitStatus); s.Signaled() {
			ts.Fatalf("%s itself was killed by %v", args[1], s.Signal())
		}
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// compileCommand is `compile PROGRAM [FLAG...]`: gcc compiles $PROGRAMS/PROGRAM.c, with debug information unless a flag
// says otherwise.
func compileCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: compile PROGRAM [flags...]")
	}
	command := []string{"gcc", "-I" + filepath.Join(ts.Getenv("PROGRAMS"), "../../../.."),
		"-O1", "-g", "-fno-omit-frame-pointer", "-Wall", "-Werror", "-o", args[0]}
	source := filepath.Join(ts.Getenv("PROGRAMS"), args[0]+".c")
	_, err := realkernel.Built(ts.MkAbs("."), args[0], source, append(append(command, args[1:]...), source)...)
	ts.Check(err)
}

// countCommand is `count N FILE TEXT`: N lines of the file (or stdout, stderr) contain the text.
func countCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: count N FILE TEXT")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	for line := range strings.Lines(ts.ReadFile(args[1])) {
		if strings.Contains(line, args[2]) {
			got++
		}
	}
	if got != want {
		ts.Fatalf("%d lines with %q, want %d", got, args[2], want)
	}
}

// fieldCommand is `field FILE PATH OP VALUE` on a JSON file. PATH is keys and indices, separated by dots; KEY=WORD
// finds the first object of a list in which KEY is WORD. OP is =, < or >. VALUE is a number, or for = also a word.
func fieldCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: field FILE PATH OP VALUE")
	}
	var value any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &value))
	for _, key := range strings.Split(args[1], ".") {
		switch at := value.(type) {
		case map[string]any:
			value = at[key]
		case []any:
			i, err := strconv.Atoi(key)
			if of, word, ok := strings.Cut(key, "="); ok {
				i, err = slices.IndexFunc(at, func(x any) bool {
					object, _ := x.(map[string]any)
					return object[of] == word
				}), nil
			}
			if err != nil || i < 0 || i >= len(at) {
				ts.Fatalf("%s: no %q in a list of %d", args[1], key, len(at))
			}
			value = at[i]
		default:
			ts.Fatalf("%s: nothing to look for %q in", args[1], key)
		}
	}
	if args[2] == "=" {
		if got := fmt.Sprint(value); got != args[3] {
			ts.Fatalf("%s is %s, want %s", args[1], got, args[3])
		}
		return
	}
	number, ok := value.(float64)
	limit, err := strconv.ParseFloat(args[3], 64)
	ts.Check(err)
	if !ok || args[2] == "<" && number >= limit || args[2] == ">" && number <= limit {
		ts.Fatalf("%s is %v, want %s %s", args[1], value, args[2], args[3])
	}
}

// tmpfsCommand is `tmpfs DIR SIZE`: a file system of that size is mounted until the script ends.
func tmpfsCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: tmpfs DIR SIZE")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.Mkdir(dir, 0o755))
	ts.Check(unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+args[1]))
	ts.Defer(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			fmt.Fprintln(os.Stderr, "unmounting", dir, err)
		}
	})
}
