// Package realkernel helps tests that run whatif on the real kernel, as root. It tells whether the machine can do that,
// builds whatif and programs, and judges measured figures. Only tests use it.
//
//	realkernel.Need(t)            // skips the test with a reason, or waits for its turn
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

// Need skips a test if whatif does not work on this machine, and fails it if whatif should work. Otherwise the test has
// the machine for itself until it ends. Such tests measure, and those of other packages may run at the same time.
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

// NeedWhole is Need for a test that takes long and runs only in make test-whole: a figure of one rule or a kind of
// stack. make test has the gate, which shows what all predictions have in common, and not each rule. So make test-whole
// belongs to each change of the kernel side.
func NeedWhole(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left to make test-whole")
	}
	Need(t)
}

// Turn waits until no other test uses the machine. release ends this test's turn.
func Turn() (release func(), err error) {
	name := filepath.Join(os.TempDir(), fmt.Sprintf("whatif-tests-%d.lock", os.Getuid()))
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
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

// Build builds whatif into a directory. The test binary would not do, because go test strips symbols that whatif needs
// of itself.
func Build(dir string) (path string, err error) {
	path = filepath.Join(dir, "whatif")
	cmd := exec.Command("go", "build", "-o", path, "whatif/cmd/whatif")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // like make
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

// Whatif returns the path of a whatif that is built from this checkout, once for all tests of a package. Cleanup
// removes it.
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

// Cleanup removes what Whatif has built. It belongs at the end of a package's TestMain.
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

// Compile compiles a C file, with debug information, and returns the program's path.
func Compile(t testing.TB, source string, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(source), ".c"))
	args := []string{"-O1", "-g", "-Wall", "-Werror", "-pthread", "-fno-omit-frame-pointer", "-o", program, source}
	args = append(args, flags...)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("compiling %s: %v (make test installs gcc)\n%s", source, err, out)
	}
	return program
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
