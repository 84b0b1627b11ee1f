package realkernel

import (
	"testing"

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
