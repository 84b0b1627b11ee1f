// Package realkernel is what tests share that run whatif on the real kernel, as
// root: whether they can, and a whatif and programs to do it with. It is used by
// tests only.
//
//	realkernel.Need(t)            // skips with the reason, or takes its turn
//	whatif := realkernel.Whatif(t)
//	program := realkernel.Compile(t, "testdata/counts.c")
package realkernel

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"whatif/internal/doctor"
	"whatif/internal/target"
)

// missing says what keeps whatif from working here; see judge.
var missing = sync.OnceValues(func() (why string, wrong bool) {
	if os.Geteuid() != 0 {
		return "needs root", false
	}
	return judge(doctor.Check())
})

// judge gives what is missing; "" if nothing is. wrong is set where it should not be:
// where all is there that a user and a kernel must bring along, and still something
// does not work.
func judge(findings []doctor.Finding) (why string, wrong bool) {
	if doctor.Able(findings) {
		return "", false
	}
	brought := map[string]bool{"kernel": true, "capabilities": true, "lockdown": true, "real-time kernel": true, "seccomp": true, "btf": true}
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

// Able tells whether whatif can work here, and if not, why. It is an error if it
// should and cannot.
func Able() (able bool, why string, err error) {
	why, wrong := missing()
	if wrong {
		return false, why, fmt.Errorf("this kernel has what whatif needs, and still: %s", why)
	}
	return why == "", why, nil
}

// Need skips a test that cannot be run here, and fails it where it should be
// possible. Otherwise the test has the machine for itself until it ends: such
// tests measure, also those of other packages that run at the same time.
func Need(t testing.TB) {
	t.Helper()
	able, why, err := Able()
	if err != nil {
		t.Fatal(err)
	}
	if !able {
		t.Skip(why)
	}
	release, err := Turn()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
}

// NeedWhole is Need for what takes long and is left to make test-whole: a figure of one mechanism, whose break the gate
// (make gate) shows too where it is large.
func NeedWhole(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left to make test-whole")
	}
	Need(t)
}

// Turn waits until no other test has the machine.
func Turn() (release func(), err error) {
	f, err := os.OpenFile(filepath.Join(os.TempDir(), fmt.Sprintf("whatif-tests-%d.lock", os.Getuid())), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("waiting for the machine: %w", err)
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
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

// Build builds whatif into a directory. Not the test binary: go test strips that
// of symbols that whatif needs of itself.
func Build(dir string) (path string, err error) {
	path = filepath.Join(dir, "whatif")
	cmd := exec.Command("go", "build", "-o", path, "whatif/cmd/whatif")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as make does
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building whatif: %w\n%s", err, out)
	}
	return path, nil
}

var (
	once  sync.Once
	built string
	fault error
)

// Whatif is a whatif built from this checkout, for all tests of a package. Cleanup
// takes it away again.
func Whatif(t testing.TB) string {
	t.Helper()
	once.Do(func() {
		var dir string
		if dir, fault = os.MkdirTemp("", "whatif-built"); fault == nil {
			built, fault = Build(dir)
		}
	})
	if fault != nil {
		t.Fatal(fault)
	}
	return built
}

// Cleanup belongs at the end of a package's TestMain.
func Cleanup() {
	if built != "" {
		os.RemoveAll(filepath.Dir(built))
	}
}

// Main is the TestMain of a package that has no other preparations. Tests of the package may call target.Start.
func Main(m *testing.M) {
	target.Main()
	status := m.Run()
	Cleanup()
	os.Exit(status)
}

// Compile makes a program, with debug information, of a C file.
func Compile(t testing.TB, source string, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(source), ".c"))
	args := append([]string{"-O1", "-g", "-Wall", "-Werror", "-pthread", "-fno-omit-frame-pointer", "-o", program, source}, flags...)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("compiling %s: %v (make test installs gcc)\n%s", source, err, out)
	}
	return program
}

// Line is the number of the one line of a file that ends in a mark.
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
