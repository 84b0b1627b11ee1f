// Package doctor finds out whether this machine can run whatif: what is missing
// for it to work at all, and what would make its answers less true. It asks the
// kernel by trying (small programs are loaded, a clock and a probe on whatif itself
// run for a moment) and changes nothing that outlives the question.
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

	"whatif/internal/hint"
)

// A Finding is the answer to one question about the machine.
type Finding struct {
	Name string
	OK   bool
	// Needed: without it whatif does not work. Otherwise it is advice.
	Needed bool
	// Skipped: not asked, since without something above there is no answer.
	Skipped bool
	Why     string // what was found
	Fix     string // what to do about it; "" when it is OK or nothing can be done
}

// A check answers one question.
type check struct {
	name   string
	needed bool
	// privileged checks only repeat that the privilege is missing when it is.
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

// checks are in the order in which a missing thing explains those after it.
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
		{"softirqs", true, false, softirqThreads}, // where they are threads some kernels have no bpf_timer, either
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

// Check asks everything.
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

// Able says whether nothing that whatif needs is missing.
func Able(findings []Finding) bool { return firstMissing(findings) == nil }

func firstMissing(findings []Finding) *Finding {
	for i, f := range findings {
		if f.Needed && !f.OK {
			return &findings[i]
		}
	}
	return nil
}

// Require returns the first thing missing that whatif cannot work without, with
// its remedy as a hint, or nil. It takes the time of a run's start, so it tries
// everything at once first and leaves out what takes long (the probe).
func Require() error {
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

// Text writes one line for each finding: ok, FAIL for what is needed, warn for
// advice, skip for what could not be asked.
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
