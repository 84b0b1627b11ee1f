// Package doctor finds out whether whatif works on this machine: what is missing for whatif to work at all, and what
// makes its answers less accurate. It tries things out: it loads small programs into the kernel, and for a moment runs
// a clock and a probe on whatif itself. Nothing of that remains afterwards.
//
//	findings := doctor.Check()   // everything, for `whatif doctor`
//	err := doctor.Require()      // only what `whatif run` cannot do without
package doctor

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"whatif/internal/hint"
)

// A Finding is the answer to one question about the machine.
type Finding struct {
	Name string
	OK   bool
	// Needed means that whatif does not work if this finding is not OK. Other findings are advice.
	Needed bool
	// Skipped means that the check was not made, because a check before it failed.
	Skipped bool
	Why     string // what was found
	Fix     string // the remedy; "" if the finding is OK, or there is no remedy
}

// A check answers one question about the machine.
type check struct {
	name   string
	needed bool
	// privileged checks are skipped if the capabilities are missing: they would only say so again.
	privileged bool
	run        func(root fs.FS) answer
}

type answer struct {
	ok       bool
	why, fix string
}

func good(format string, args ...any) answer {
	return answer{ok: true, why: fmt.Sprintf(format, args...)}
}

func bad(fix, format string, args ...any) answer {
	return answer{why: fmt.Sprintf(format, args...), fix: fix}
}

// checks lists all checks. A check comes before those whose failure it would explain.
func checks() []check {
	return []check{
		{"kernel", false, false, kernelVersion},
		{"capabilities", true, false, capabilities},
		{"lockdown", true, false, lockdown},
		{"seccomp", true, true, seccomp},
		{"memlock", true, true, memlock},
		{"btf", true, false, kernelTypes},
		{"tracepoints", true, true, tracepoints},
		{"task storage", true, true, taskStorage},
		{"ring buffer", true, true, ringBuffer},
		{"bpf_loop", true, true, loop},
		{"softirqs", true, false, softirqThreads}, // some kernels with softirq threads have no bpf_timer, either
		{"bpf_timer", true, true, timer},
		{"cpu-clock", true, true, cpuClock},
		{"uprobes", true, true, uprobes},
		{"uprobes without root", false, true, uprobesWithout},
		{"ptrace", true, false, ptraceScope},
		{"pinned bpf_timer", false, true, pinnedTimer},
		{"points in the source", false, true, sourcePoints},
		{"bpf jit", false, false, jit},
		{"perf_event_paranoid", false, false, paranoid},
		{"sample rate", false, false, sampleRate},
		{"kernel symbols", false, false, kernelSymbols},
		{"clock", false, false, clockSource},
		{"cpus", false, false, cpus},
		{"isolated cpus", false, false, isolated},
		{"smt", false, false, smt},
		{"virtual machine", false, false, virtualMachine},
		{"cpu quota", false, false, quota},
	}
}

// Check makes all checks.
func Check() []Finding { return run(checks(), os.DirFS("/")) }

func run(list []check, root fs.FS) []Finding {
	var findings []Finding
	privileged := true
	for _, c := range list {
		f := Finding{Name: c.name, Needed: c.needed}
		if c.privileged && !privileged {
			f.Skipped, f.Why = true, "not checked without the capabilities"
		} else {
			a := c.run(root)
			f.OK, f.Why, f.Fix = a.ok, a.why, a.fix
		}
		if c.name == "capabilities" {
			privileged = f.OK
		}
		findings = append(findings, f)
	}
	return findings
}

// Able tells whether whatif works: no finding that is Needed is not OK.
func Able(findings []Finding) bool { return firstMissing(findings) == nil }

func firstMissing(findings []Finding) *Finding {
	for i, f := range findings {
		if f.Needed && !f.OK {
			return &findings[i]
		}
	}
	return nil
}

// Require returns an error if whatif does not work on this machine: the first needed thing that is missing, with a
// remedy as a hint. It delays the start of each run, so it first tries everything together, and leaves out the probe,
// which takes long.
func Require() error {
	if err := requireFiles(); err != nil {
		return err
	}
	root := os.DirFS("/")
	able := capabilities(root).ok && ptraceScope(root).ok && softirqThreads(root).ok
	if able && tryTogether() == nil && tryClock() == nil {
		return nil
	}
	for _, c := range checks() {
		if !c.needed {
			continue
		}
		if a := c.run(root); !a.ok {
			err := fmt.Errorf("checking this machine: %s: %w", c.name, errors.New(a.why))
			return hint.New(err, a.fix)
		}
	}
	return nil
}

// leastFiles is how many files whatif has to be able to open: each program and each map of the kernel side is one, and
// each binary.
const leastFiles = 256

// requireFiles comes before all checks, because these open files, too, and would find other reasons.
func requireFiles() error {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil || l.Max >= leastFiles {
		return nil
	}
	err := fmt.Errorf("checking this machine: %d files may be open at once, and whatif needs %d", l.Max, leastFiles)
	return hint.New(err, "ulimit -n 4096, as root if this shell's limit cannot be raised")
}

// Text writes one line for each finding, with a mark: ok, FAIL (needed and not OK), warn (advice) or skip.
func Text(w io.Writer, findings []Finding) error {
	width := 0
	for _, f := range findings {
		width = max(width, len(f.Name))
	}
	for _, f := range findings {
		mark := "ok"
		switch {
		case f.Skipped:
			mark = "skip"
		case !f.OK && f.Needed:
			mark = "FAIL"
		case !f.OK:
			mark = "warn"
		}
		line := fmt.Sprintf("%-4s  %-*s  %s", mark, width, f.Name, f.Why)
		if f.Fix != "" {
			line += "; fix: " + f.Fix
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return fmt.Errorf("writing the findings: %w", err)
		}
	}
	return nil
}
