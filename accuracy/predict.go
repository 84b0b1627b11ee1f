package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"whatif/accuracy/internal/rig"
)

// pointName is the name of the progress point in profiles.
const pointName = "done"

// forever is the SECONDS argument of a program that the profiler ends.
const forever = "100000"

// predictor asks whatif about one program. It profiles in chunks, which all go to one profile, and then makes a report.
type predictor struct {
	whatif  string
	program *program
	built   binaries
	levels  []int
	any     bool // whatif tries all units, not only the target
	profile string
	log     string // the output of whatif and of the program
}

// newPredictor makes a predictor without any measurement.
func newPredictor(whatif string, p *program, b binaries, levels []int) (*predictor, error) {
	b.target = p.predicted(b.target)
	made := &predictor{whatif: whatif, program: p, built: b, levels: levels,
		profile: b.plain + ".profile", log: b.plain + ".log"}
	return made, made.clear()
}

// of is a predictor of the same program for something else than its target: a target, or no target, "", when whatif has
// to find one. What it keeps has a name of its own.
func (p *predictor) of(target, name string) (*predictor, error) {
	with := *p
	if target != "" {
		with.built.target = place{spec: target}
	}
	with.any = target == ""
	with.profile, with.log = p.built.plain+"."+name+".profile", p.built.plain+"."+name+".log"
	return &with, with.clear()
}

// clear removes what an earlier study left.
func (p *predictor) clear() error {
	for _, old := range []string{p.profile, p.log} {
		if err := os.Remove(old); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("removing what an earlier study left: %w", err)
		}
	}
	return nil
}

// keptPredictor makes a predictor of a program that was profiled before: nothing is built or run.
func keptPredictor(whatif, root, directory string, p *program, levels []int) (*predictor, error) {
	line, err := targetOf(filepath.Join(root, "accuracy", "programs", p.source))
	if err != nil {
		return nil, err
	}
	profile := filepath.Join(directory, p.name+".profile")
	if _, err := os.Stat(profile); err != nil {
		return nil, fmt.Errorf("finding the recording of %s: %w", p.name, err)
	}
	return &predictor{whatif: whatif, program: p, built: binaries{target: p.predicted(line)}, levels: levels,
		profile: profile}, nil
}

// predicted is what predictions of a program are about: its marked line, or what replaces that.
func (p *program) predicted(line place) place {
	line.kernel = p.kernel
	if p.wait != "" {
		return place{spec: "wait:" + p.wait}
	}
	if p.target != "" {
		return place{spec: p.target}
	}
	return line
}

// arguments is the command line of one chunk of experiments.
func (p *predictor) arguments(duration time.Duration) []string {
	speedups := []string{"0"}
	for _, level := range p.levels {
		speedups = append(speedups, strconv.Itoa(level))
	}
	if p.any {
		return p.commandLine("run", duration)
	}
	return p.commandLine("run", duration, "-t", p.built.target.String(), "-s", strings.Join(speedups, ","))
}

// commandLine is a command line of whatif that profiles the program for duration.
func (p *predictor) commandLine(command string, duration time.Duration, options ...string) []string {
	args := []string{command}
	if !p.program.batch { // the end of a batch program is a point that needs no name
		args = append(args, "-p", pointName+"="+p.built.point)
	}
	if p.program.latency != "" {
		args = append(args, "-l", p.program.latency)
	}
	seconds := forever
	if p.program.batch {
		seconds = strconv.FormatFloat(p.program.seconds, 'f', -1, 64)
	}
	if p.program.kernel != "" {
		args = append(args, "--kernel")
	}
	if p.program.managed() { // the code of the first second is slower, and new all the time
		args = append(args, "--warmup", "1s")
	}
	args = append(args, options...)
	args = append(args, "-d", duration.String(), "-o", p.profile, "--")
	return append(args, p.program.profiled(p.built.plain, "0", seconds)...)
}

// chunk profiles the program for duration with experiments.
func (p *predictor) chunk(ctx context.Context, duration time.Duration) error {
	return p.run(ctx, duration, p.arguments(duration))
}

// record records the program for duration, which delays nothing.
func (p *predictor) record(ctx context.Context, duration time.Duration) error {
	return p.run(ctx, duration, p.commandLine("record", duration, "-t", p.built.target.String()))
}

// run runs whatif with these arguments. Its output and the program's go to a file beside the profile.
func (p *predictor) run(ctx context.Context, duration time.Duration, args []string) error {
	doing := "predicting " + p.program.name
	said, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	defer said.Close()
	ctx, cancel := context.WithTimeout(ctx, 2*duration+time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.whatif, args...)
	cmd.Stdout, cmd.Stderr = said, said
	if p.program.managed() {
		cmd.Dir = p.built.plain // runtimes write files there
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // whatif ends the program and saves
	cmd.WaitDelay = 5 * time.Second
	stopPartner := func() time.Duration { return 0 }
	if p.program.partner {
		if stopPartner, err = startPartner(ctx, p.built.plain); err != nil {
			return fmt.Errorf("%s: %w", doing, err)
		}
	}
	err = cmd.Run()
	stopPartner()
	reapOrphans(time.Second)
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", doing, ctx.Err())
	}
	if rig.FailedItself(cmd.ProcessState) {
		return fmt.Errorf("%s: %s ended with %v, see %s", doing, filepath.Base(p.whatif), err, said.Name())
	}
	return nil
}

// report is whatif's JSON report on the profile.
func (p *predictor) report(ctx context.Context) ([]byte, error) {
	output, err := exec.CommandContext(ctx, p.whatif, "report", "--format", "json", p.profile).Output()
	if err != nil {
		return nil, fmt.Errorf("reporting on %s: %w%s", p.program.name, err, words(err))
	}
	return output, nil
}

// answer reads what whatif says of a metric from the profile.
func (p *predictor) answer(ctx context.Context, metric string) (answer, []string, error) {
	output, err := p.report(ctx)
	if err != nil {
		return answer{}, nil, err
	}
	point := pointName
	if p.program.batch {
		point = ""
	}
	if metric != throughput {
		point, _, _ = strings.Cut(p.program.latency, "=")
	}
	a, warnings, err := parseReport(output, p.built.target, point, metric)
	if err != nil {
		return answer{}, nil, fmt.Errorf("reporting on %s: %w", p.program.name, err)
	}
	return a, warnings, nil
}

// rank is the target's place, from 1, among the units that have been tried; 0: it is none of them.
func (p *predictor) rank(ctx context.Context) (int, error) {
	output, err := p.report(ctx)
	if err != nil {
		return 0, err
	}
	var r rig.Report
	if err := json.Unmarshal(output, &r); err != nil {
		return 0, fmt.Errorf("ranking the units of %s: %w", p.program.name, err)
	}
	for i := range r.Targets {
		if isTarget(&r.Targets[i], p.built.target) {
			return i + 1, nil
		}
	}
	return 0, nil
}

// answer is what whatif says of one metric of the target: the gains by level.
type answer struct {
	tested    map[int]estimate // by experiments
	estimated map[int]estimate // from the recording
	refused   string           // why there is no estimate
	doubts    []string         // codes of the warnings about the target, at this point
}

// doubts are the codes of warnings about a target, about its effect at a point, and about that point.
func doubts(r *rig.Report, point string, of ...[]rig.ReportWarning) (codes []string) {
	for _, p := range r.Points {
		if p.Name == point {
			of = append(of, p.Warnings)
		}
	}
	for _, w := range slices.Concat(of...) {
		codes = append(codes, w.Code)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// isTarget tells whether the report's target is this one.
func isTarget(t *rig.ReportTarget, target place) bool {
	if target.kernel != "" {
		return t.Func == target.kernel
	}
	// A target with callers is no line in the report; it has the name that was given to -t, without "func:".
	line := filepath.Base(t.File) == target.file && t.Line == target.line && target.callers == ""
	return line || t.Name == strings.TrimPrefix(target.String(), "func:")
}

// gainsOf has the levels that have an interval. The level 0 is left out, because its gain is 0 by definition.
func gainsOf(levels []rig.ReportLevel) map[int]estimate {
	gains := map[int]estimate{}
	for _, l := range levels {
		if l.Speedup > 0 && len(l.CI) == 2 {
			gains[int(l.Speedup)] = estimate{l.Gain, l.CI[0], l.CI[1]}
		}
	}
	return gains
}

// parseReport finds what is said of the target's metric for the point, or for the first point if point is empty.
func parseReport(text []byte, target place, point, metric string) (answer, []string, error) {
	var r rig.Report
	if err := json.Unmarshal(text, &r); err != nil {
		return answer{}, nil, fmt.Errorf("parsing the report: %w", err)
	}
	var warnings []string
	for _, w := range r.Warnings {
		warnings = append(warnings, w.Code+": "+w.Text)
	}
	for _, t := range r.Targets {
		if !isTarget(&t, target) {
			continue
		}
		for _, p := range t.Points {
			if p.Metric != metric || point != "" && p.Name != point {
				continue
			}
			a := answer{tested: gainsOf(p.Curve), estimated: gainsOf(p.Estimate), refused: p.Refused}
			a.doubts = doubts(&r, p.Name, t.Warnings, p.Warnings)
			return a, warnings, nil
		}
		return answer{}, warnings, fmt.Errorf("the report on %s has no %s of point %q", target, metric, point)
	}
	return answer{}, warnings, fmt.Errorf("the report has nothing about %s", target)
}
