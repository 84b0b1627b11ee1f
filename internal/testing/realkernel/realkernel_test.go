package realkernel

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"whatif/internal/doctor"
)

// A test may be skipped only if the kernel or the user lacks something.
func TestJudge(t *testing.T) {
	ok := func(name string) doctor.Finding { return doctor.Finding{Name: name, Needed: true, OK: true} }
	lacks := func(name string) doctor.Finding { return doctor.Finding{Name: name, Needed: true, Why: "none"} }
	old := doctor.Finding{Name: "kernel", Why: "5.4"}
	newer := doctor.Finding{Name: "kernel", OK: true}
	for _, test := range []struct {
		findings []doctor.Finding
		why      string
		wrong    bool
	}{
		{[]doctor.Finding{newer, ok("btf"), ok("uprobes"), {Name: "clock"}}, "", false},
		{[]doctor.Finding{newer, lacks("btf"), lacks("uprobes")}, "btf: none; uprobes: none", false},
		{[]doctor.Finding{old, ok("btf"), lacks("pinned bpf_timer")}, "pinned bpf_timer: none", false},
		{[]doctor.Finding{newer, ok("btf"), lacks("pinned bpf_timer")}, "pinned bpf_timer: none", true},
	} {
		if why, wrong := judge(test.findings); why != test.why || wrong != test.wrong {
			t.Errorf("%+v: %q, %v, want %q, %v", test.findings, why, wrong, test.why, test.wrong)
		}
	}
}

// The turn of a test that NeedSession was called for begins when the test asks for it, and ends with the subtest that
// asked first. A test that NeedSession was not called for has no turn.
func TestSessionTurn(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // these locks are no other test's
	free := func() bool {
		t.Helper()
		f, err := os.OpenFile(filepath.Join(os.TempDir(), fmt.Sprintf("whatif-tests-session-%d.lock", os.Getuid())),
			os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
	}
	beginTurn(t)
	if !free() {
		t.Error("a test that needs no session has a turn")
	}
	registerSession(t)
	for _, name := range []string{"one", "other"} {
		if !free() {
			t.Errorf("before %s there is a turn", name)
		}
		t.Run(name, func(t *testing.T) {
			t.Run("within", beginsTurn)
			if !free() {
				t.Error("the turn did not end with its subtest")
			}
			beginTurn(t)
			if free() {
				t.Error("the turn has not begun")
			}
			t.Run("within", beginsTurn)
			if free() {
				t.Error("the turn has ended with a subtest that it did not begin with")
			}
		})
	}
	if !free() {
		t.Error("the turn did not end")
	}
}

func beginsTurn(t *testing.T) { beginTurn(t) }
