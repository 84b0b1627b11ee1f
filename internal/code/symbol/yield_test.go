package symbol

import (
	"strings"
	"testing"
)

// TestWaitsThatYield checks waits that yield the core in each turn. Compilers and linkers make the call in many ways.
func TestWaitsThatYield(t *testing.T) {
	for _, c := range []struct {
		source  string
		command []string
	}{
		{"yield.c", []string{"gcc", "-O0"}},
		{"yield.c", []string{"gcc", "-O2"}},
		{"yield.c", []string{"gcc", "-O2", "-fcf-protection", "-Wl,-z,ibtplt"}},
		{"yield.c", []string{"gcc", "-O2", "-Wl,-z,now", "-fno-plt"}},
		{"yield.c", []string{"gcc", "-O2", "-shared", "-fPIC"}},
		{"yield.c", []string{"gcc", "-O2", "-static"}},
		{"yield.c", []string{"gcc", "-O2", "-no-pie", "-s", "-rdynamic"}},
		{"yield.c", []string{"clang", "-O1"}},
		{"yield.c", []string{"clang", "-Os", "-fuse-ld=lld"}},
		{"yield.rs", []string{"rustc", "-O"}},
		{"yield.rs", []string{"rustc", "-C", "opt-level=1"}},
	} {
		t.Run(strings.Join(c.command, " "), func(t *testing.T) {
			b := open(t, build(t, c.source, c.command...))
			names := []string{"wait_ready", "work_adds"}
			if c.source == "yield.c" {
				names = []string{
					"wait_turn", "wait_flag", "wait_either", "wait_lock", "wait_wrapped", "work_politely", "work_counts",
					"work_calls", "work_adds", "work_wakes", "work_hook", "work_either", "work_other",
				}
			}
			for _, name := range names {
				funcs, err := b.Functions(name)
				if err != nil || len(funcs) != 1 {
					t.Fatal(name, funcs, err)
				}
				spins := 0
				for i := range funcs[0].Size {
					is, err := b.SpinWaits(funcs[0].FileOffset + i)
					if err != nil {
						t.Fatal(err)
					}
					if is {
						spins++
					}
				}
				if waits := strings.HasPrefix(name, "wait"); (spins > 0) != waits {
					t.Errorf("%s: %d of %d bytes are a wait's", name, spins, funcs[0].Size)
				}
			}
		})
	}
}
