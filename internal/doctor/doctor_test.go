package doctor

import (
	"bytes"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cilium/ebpf"

	"whatif/bpf"
	"whatif/internal/hint"
)

func TestCheckHere(t *testing.T) {
	begin := time.Now()
	findings := Check()
	t.Logf("%v", time.Since(begin))
	var out bytes.Buffer
	if err := Text(&out, findings); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", out.String())
	if n := strings.Count(out.String(), "\n"); n != len(findings) {
		t.Errorf("%d lines for %d findings", n, len(findings))
	}
	for _, f := range findings {
		if f.Why == "" || f.OK && f.Fix != "" {
			t.Errorf("%+v", f)
		}
	}
	begin = time.Now()
	err := Require()
	t.Logf("Require: %v in %v", err, time.Since(begin))
	if Able(findings) != (err == nil) {
		t.Errorf("Able is %v, Require says %v", Able(findings), err)
	}
	if err != nil && hint.Of(err) == "" {
		t.Errorf("%v has no hint", err)
	}
	for _, f := range findings {
		if f.Name == "capabilities" && !f.OK && Able(findings) {
			t.Error("able without capabilities")
		}
	}
}

func TestText(t *testing.T) {
	var out bytes.Buffer
	err := Text(&out, []Finding{
		{Name: "a", OK: true, Needed: true, Why: "fine"},
		{Name: "long name", Needed: true, Why: "gone", Fix: "bring it"},
		{Name: "b", Why: "slow"},
		{Name: "c", Needed: true, Skipped: true, Why: "unknown"},
	})
	want := `ok    a          fine
FAIL  long name  gone; fix: bring it
warn  b          slow
skip  c          unknown
`
	if err != nil || out.String() != want {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestAble(t *testing.T) {
	if !Able([]Finding{{OK: true, Needed: true}, {OK: false}}) || Able([]Finding{{OK: false, Needed: true}}) {
		t.Error("Able counts what is not needed, or misses what is")
	}
}

// A check that needs a missing privilege does not report that the kernel lacks a feature.
func TestUnprivileged(t *testing.T) {
	asked := false
	findings := run([]check{
		{"capabilities", true, false, func(fs.FS) answer { return bad("sudo", "missing") }},
		{"dependent", true, true, func(fs.FS) answer { asked = true; return good("x") }},
		{"independent", true, false, func(fs.FS) answer { return good("x") }},
	}, fstest.MapFS{})
	if asked || findings[1].OK || !findings[1].Skipped || findings[1].Fix != "" || !findings[2].OK {
		t.Errorf("%+v", findings)
	}
}

// otherTracepoints are those that doctor does not check. Some are only for certain points, latencies and --kernel,
// which report it if one is missing. The kernel side works without the others.
var otherTracepoints = []string{
	"sys_enter", "sys_exit", "page_fault_user", "sched_prepare_exec", "softirq_raise",
	"irq_work_entry", "irq_work_exit",
}

// usedTracepoints and otherTracepoints together are the tracepoints to which the kernel side attaches.
func TestUsedTracepoints(t *testing.T) {
	spec, err := bpf.LoadLedger()
	if err != nil {
		t.Fatal(err)
	}
	var attached []string
	for _, p := range spec.Programs {
		if p.AttachType == ebpf.AttachTraceRawTp && !slices.Contains(attached, p.AttachTo) {
			attached = append(attached, p.AttachTo)
		}
	}
	slices.Sort(attached)
	want := slices.Sorted(slices.Values(slices.Concat(usedTracepoints, otherTracepoints)))
	if !slices.Equal(attached, want) {
		t.Errorf("attached to\n%v\nasked for\n%v", attached, want)
	}
}
