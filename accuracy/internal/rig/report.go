package rig

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Report is the part of whatif's JSON report that studies of estimates compare.
type Report struct {
	Targets []ReportTarget
	Points  []struct {
		Name     string
		Warnings []ReportWarning
	}
	Warnings []ReportWarning
}

// ReportTarget is a unit.
type ReportTarget struct {
	Unit, Name, File, Func string
	Line                   int
	Share                  float64 // percent of the CPU time
	Points                 []ReportPoint
	Warnings               []ReportWarning
}

// ReportPoint is what is said of one metric of one point, for a unit.
type ReportPoint struct {
	Name, Metric    string
	Curve, Estimate []ReportLevel
	Refused         string // why there is no estimate
	Warnings        []ReportWarning
}

// ReportLevel is a gain in percent at a speed-up.
type ReportLevel struct {
	Speedup float64
	Gain    float64
	CI      []float64 // empty: its interval is not known
}

// ReportWarning is a warning.
type ReportWarning struct{ Code, Text string }

// At is the level at a speed-up, if it is there and has an interval.
func At(levels []ReportLevel, speedup int) (ReportLevel, bool) {
	for _, l := range levels {
		if int(l.Speedup) == speedup && len(l.CI) == 2 {
			return l, true
		}
	}
	return ReportLevel{}, false
}

// Spec is the unit as -t takes it; "" if it takes no such unit.
func (t *ReportTarget) Spec() string {
	switch t.Unit {
	case "line":
		return fmt.Sprintf("%s:%d", t.File, t.Line)
	case "func":
		return "func:" + t.Name
	}
	return ""
}

// Same tells whether two units of two reports are the same one.
func (t *ReportTarget) Same(o *ReportTarget) bool {
	return t.Unit == o.Unit && t.Name == o.Name && t.Line == o.Line && filepath.Base(t.File) == filepath.Base(o.File)
}

// Report reads what whatif reports on a profile.
func (r *Rig) Report(ctx context.Context, profile string, flags ...string) (*Report, error) {
	var report Report
	args := append(append([]string{"report", "--format", "json"}, flags...), profile)
	return &report, r.JSON(ctx, &report, args...)
}

// JSON runs whatif, and reads the JSON that it prints.
func (r *Rig) JSON(ctx context.Context, to any, args ...string) error {
	doing := "running whatif " + args[0]
	output, err := exec.CommandContext(ctx, r.whatif, args...).Output()
	if err != nil {
		if failed, ok := err.(*exec.ExitError); ok {
			return fmt.Errorf("%s: %w%s", doing, err, lastWords(string(failed.Stderr)))
		}
		return fmt.Errorf("%s: %w", doing, err)
	}
	if err := json.Unmarshal(output, to); err != nil {
		return fmt.Errorf("%s: reading its JSON: %w", doing, err)
	}
	return nil
}

// Run runs whatif with these arguments. Its own failure is an error, and the end of the program that it runs is not.
func (r *Rig) Run(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, r.whatif, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return fmt.Errorf("running whatif %s: %w", args[0], err)
	}
	if FailedItself(cmd.ProcessState) {
		return fmt.Errorf("running whatif %s: %w%s", args[0], err, lastWords(stderr.String()))
	}
	return nil
}

// FailedItself tells whether whatif ended with a failure of its own. Else it exits with the program's status, also
// after a signal.
func FailedItself(state *os.ProcessState) bool {
	code := state.ExitCode()
	return code == 125 || code == 2 || code == -1
}
