// Package realkernel helps tests that run whatif on the real kernel, as root. It tells whether the machine can do that,
// builds whatif and programs, and judges measured figures. Only tests use it.
//
//	realkernel.Need(t)            // skips the test with a reason, or waits for its turn
//	whatif := realkernel.Whatif(t)
//	program := realkernel.Compile(t, "testdata/counts.c")
package realkernel

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"whatif/internal/doctor"
	"whatif/internal/target"
)

// missing says why whatif does not work on this machine; see judge.
var missing = sync.OnceValues(func() (why string, wrong bool) {
	if os.Geteuid() != 0 {
		return "needs root", false
	}
	return judge(doctor.Check())
})

// judge says why whatif does not work; "" if it does. wrong means that it should work: the kernel and the user have all
// that they must provide.
func judge(findings []doctor.Finding) (why string, wrong bool) {
	if doctor.Able(findings) {
		return "", false
	}
	brought := map[string]bool{
		"kernel": true, "capabilities": true, "lockdown": true, "real-time kernel": true, "seccomp": true, "btf": true,
	}
	wrong = true
	var whys []string
	for _, f := range findings {
		if f.OK {
			continue
		}
		if brought[f.Name] {
			wrong = false
		}
		if f.Needed && !f.Skipped {
			whys = append(whys, f.Name+": "+f.Why)
		}
	}
	return strings.Join(whys, "; "), wrong
}

// Able tells whether whatif works on this machine, and if not, why. It is an error if whatif should work and does not.
func Able() (able bool, why string, err error) {
	why, wrong := missing()
	if wrong {
		return false, why, fmt.Errorf("this kernel has what whatif needs, and still: %s", why)
	}
	return why == "", why, nil
}

// Environment variables of make test.
const (
	partVariable  = "WHATIF_TESTS" // the part of a package's tests to run; see [Need]
	builtVariable = "WHATIF_BUILT" // a whatif that is built already
)

// Need skips a test if whatif does not work on this machine, and fails it if whatif should work. Until the test ends no
// other one has a session that stops cores, in any package: whatif refuses a second one.
//
// Tests that need the kernel side are either right or wrong on a busy machine, too, or they measure, and say so by
// [NeedQuiet]. The former run with WHATIF_TESTS=beside, beside packages that need no kernel side; the latter with
// WHATIF_TESTS=alone.
func Need(t testing.TB) {
	t.Helper()
	NeedKernel(t)
	hold(t, Turn)
}

// NeedSession is Need for a test that profiles with [Whatif] only. Its turn begins when the test, or a subtest, asks
// for Whatif, and ends with that test or subtest: what is compiled and started before takes no other test's time, and
// other tests run in parallel. Subtests that ask for Whatif must not.
func NeedSession(t *testing.T) {
	t.Helper()
	NeedKernel(t)
	t.Parallel()
	registerSession(t)
}

// registerSession has turns of the test begin with Whatif.
func registerSession(t testing.TB) {
	sessions.Lock()
	defer sessions.Unlock()
	name := topLevel(t)
	sessions.hasTurn[name] = false
	t.Cleanup(func() {
		sessions.Lock()
		defer sessions.Unlock()
		delete(sessions.hasTurn, name)
	})
}

// sessions has the tests that NeedSession was called for, and whether each has its turn now.
var sessions = struct {
	sync.Mutex
	hasTurn map[string]bool
}{hasTurn: make(map[string]bool)}

// topLevel is the name of the test that t is, or is a subtest of.
func topLevel(t testing.TB) string {
	name, _, _ := strings.Cut(t.Name(), "/")
	return name
}

// beginTurn begins the turn of a test that NeedSession was called for, until t ends.
func beginTurn(t testing.TB) {
	t.Helper()
	name := topLevel(t)
	sessions.Lock()
	hasTurn, needs := sessions.hasTurn[name]
	sessions.Unlock()
	if !needs || hasTurn {
		return
	}
	hold(t, Turn)
	set := func(to bool) {
		sessions.Lock()
		defer sessions.Unlock()
		sessions.hasTurn[name] = to
	}
	set(true)
	t.Cleanup(func() { set(false) })
}

// NeedBeside is Need for a test with sessions that stop nothing, as by -s 0 without -l, or by whatif record. It runs
// beside others of its kind, in parallel, and beside tests of other packages.
func NeedBeside(t *testing.T) {
	t.Helper()
	NeedKernel(t)
	t.Parallel()
	hold(t, Beside)
}

// NeedKernel is Need for a test that stops nothing and minds nothing: it waits for no other.
func NeedKernel(t testing.TB) {
	t.Helper()
	if os.Getenv(partVariable) == "alone" {
		t.Skip("it measures nothing, so it has run beside other packages")
	}
	needAble(t)
}

// NeedQuiet is Need for a test whose figures depend on what else runs. No other test that needs whatif runs until it
// ends.
func NeedQuiet(t testing.TB) {
	t.Helper()
	if os.Getenv(partVariable) == "beside" {
		t.Skip("it measures, so it runs later, alone")
	}
	needAble(t)
	hold(t, func() (func(), error) { return lock("machine", unix.LOCK_EX) })
}

func needAble(t testing.TB) {
	t.Helper()
	able, why, err := Able()
	if err != nil {
		t.Fatal(err)
	}
	if !able {
		t.Skip(why)
	}
}

// hold takes a turn until the test ends.
func hold(t testing.TB, turn func() (release func(), err error)) {
	t.Helper()
	release, err := turn()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
}

// NeedWhole is NeedQuiet for a test that takes long and runs only in make test-whole: a figure of one rule or a kind of
// stack. make test has the gate, which shows what all predictions have in common, and not each rule. So make test-whole
// belongs to each change of the kernel side.
func NeedWhole(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left to make test-whole")
	}
	NeedQuiet(t)
}

// Beside waits until no other test measures. release says that this one has ended.
func Beside() (release func(), err error) { return lock("machine", unix.LOCK_SH) }

// Turn waits until no other test has a session that stops cores, and none measures. release ends this test's turn.
func Turn() (release func(), err error) {
	quiet, err := Beside()
	if err != nil {
		return nil, err
	}
	session, err := lock("session", unix.LOCK_EX)
	if err != nil {
		quiet()
		return nil, err
	}
	return func() { session(); quiet() }, nil
}

// lock locks a file that all tests of this user share.
func lock(what string, how int) (release func(), err error) {
	name := filepath.Join(os.TempDir(), fmt.Sprintf("whatif-tests-%s-%d.lock", what, os.Getuid()))
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("waiting for the machine: %w", err)
	}
	for {
		err = unix.Flock(int(f.Fd()), how)
		if err != unix.EINTR {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("waiting for the machine: %w", err)
	}
	return func() { f.Close() }, nil
}

// Build gives the path of a whatif that is built from this checkout: make's, or one that is built into a directory. The
// test binary would not do, because go test strips symbols that whatif needs of itself.
func Build(dir string) (path string, err error) {
	if path := os.Getenv(builtVariable); path != "" {
		_, err := os.Stat(path)
		return path, err
	}
	path = filepath.Join(dir, "whatif")
	cmd := exec.Command("go", "build", "-trimpath", "-o", path, "whatif/cmd/whatif")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // like make
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building whatif: %w\n%s", err, out)
	}
	return path, nil
}

// Kept is the directory of what the tests of a package build once. Cleanup removes it.
var Kept = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "whatif-built") })

var built = sync.OnceValues(func() (string, error) {
	dir, err := Kept()
	if err != nil {
		return "", err
	}
	return Build(dir)
})

// Whatif returns the path of a whatif that is built from this checkout, once for all tests of a package. If NeedSession
// was called for the test its turn begins.
func Whatif(t testing.TB) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	beginTurn(t)
	return path
}

// Cleanup removes what the tests have built. It belongs at the end of a package's TestMain.
func Cleanup() {
	if dir, err := Kept(); err == nil {
		os.RemoveAll(dir)
	}
}

// Main is the TestMain of a package that has no other preparations. Tests of the package may call target.Start.
func Main(m *testing.M) {
	target.Main()
	status := m.Run()
	Cleanup()
	os.Exit(status)
}

// Compile compiles a C file, with debug information, and returns the program's path.
func Compile(t testing.TB, source string, flags ...string) string {
	t.Helper()
	name := strings.TrimSuffix(filepath.Base(source), ".c")
	args := []string{"gcc", "-O1", "-g", "-Wall", "-Werror", "-pthread", "-fno-omit-frame-pointer", "-o", name, source}
	program, err := Built(t.TempDir(), name, source, append(args, flags...)...)
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// programs are those that the tests of a package have compiled, by what they were compiled from and how.
var programs = struct {
	sync.Mutex
	of map[string][]byte
}{of: make(map[string][]byte)}

// Built executes a compiler, once for all tests of a package that have the same source and the same command, and gives
// each of them a copy of the program, in dir. The command calls the program by its name.
func Built(dir, name, source string, command ...string) (program string, err error) {
	programs.Lock()
	defer programs.Unlock()
	text, _ := os.ReadFile(source) // of a directory there is none
	key := fmt.Sprintf("%q %x", command, sha256.Sum256(text))
	program = filepath.Join(dir, name)
	if made := programs.of[key]; made != nil {
		return program, os.WriteFile(program, made, 0o755)
	}
	args := slices.Clone(command[1:])
	args[slices.Index(args, name)] = program
	if out, err := exec.Command(command[0], args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w (make test installs what is needed)\n%s", strings.Join(command, " "), err, out)
	}
	programs.of[key], err = os.ReadFile(program)
	return program, err
}

// Line is the number of the only line of a file that ends in a mark.
func Line(t testing.TB, file, mark string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasSuffix(line, mark) {
			if found != 0 {
				t.Fatalf("%s: two lines end in %q", file, mark)
			}
			found = i + 1
		}
	}
	if found == 0 {
		t.Fatalf("%s: no line ends in %q", file, mark)
	}
	return found
}
