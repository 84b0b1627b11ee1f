package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"whatif/accuracy/internal/rig"
	"whatif/internal/estimate"
	"whatif/internal/profile"
)

// study runs programs under whatif.
type study struct {
	rig             *rig.Rig
	record, seconds time.Duration
	progress        io.Writer
}

func (s *study) say(b *built, format string, args ...any) {
	fmt.Fprintf(s.progress, "%s %s: %s\n", time.Now().Format("15:04:05"), b.name, fmt.Sprintf(format, args...))
}

// recorded records a program, and returns its units with their estimates. seen is the number of all units that have a
// sample, also of those that are too small for an estimate.
func (s *study) recorded(ctx context.Context, b *built) (units []unit, seen int, err error) {
	s.say(b, "recording, %v", s.record)
	file, err := s.profile(ctx, b, s.record, "record")
	if err != nil {
		return nil, 0, err
	}
	defer os.RemoveAll(filepath.Dir(file))
	if seen, err = countUnits(file); err != nil {
		return nil, 0, err
	}
	report, err := s.rig.Report(ctx, file)
	if err != nil {
		return nil, 0, err
	}
	for _, t := range report.Targets {
		if p, ok := throughput(&t); ok && t.Share > 0 {
			units = append(units, unit{built: b, target: t, point: p})
		}
	}
	if len(units) == 0 {
		return nil, 0, fmt.Errorf("recording %s: the report has no units", b.name)
	}
	return units, seen, nil
}

// throughput is what a report says of a unit's effect on throughput. There is one point.
func throughput(t *rig.ReportTarget) (rig.ReportPoint, bool) {
	for _, p := range t.Points {
		if p.Metric == "throughput" {
			return p, true
		}
	}
	return rig.ReportPoint{}, false
}

// countUnits counts the units of a recording that have a sample.
func countUnits(file string) (int, error) {
	runs, err := profile.ReadFiles([]string{file})
	if err != nil {
		return 0, fmt.Errorf("counting units: %w", err)
	}
	recording, err := runs[len(runs)-1].Recording()
	if err != nil {
		return 0, fmt.Errorf("counting units: %w", err)
	}
	const least = 1e-9
	e, err := estimate.Open(recording, estimate.Options{Kind: "line", Least: least})
	if err != nil {
		return 0, fmt.Errorf("counting units: %w", err)
	}
	seen := 0
	for _, u := range e.Units() {
		if u.Samples > 0 {
			seen++
		}
	}
	return seen, nil
}

// compare draws units, tests each by experiments, and prints the table and the verdict.
func (s *study) compare(ctx context.Context, all []unit, o *options, stdout io.Writer) (string, bool, error) {
	drawn := draw(all, o.units, o.large, rand.New(rand.NewPCG(o.seed, 0)))
	fmt.Fprintf(stdout, "\n%d units, drawn by share with -seed %d\n", len(drawn), o.seed)
	for i := range drawn {
		u := &drawn[i]
		s.say(u.built, "%s (%.1f%%), unit %d of %d, %v", u.target.Name, u.target.Share, i+1, len(drawn), s.seconds)
		if err := s.test(ctx, u); err != nil {
			if ctx.Err() != nil {
				return "", false, err
			}
			s.say(u.built, "%v", err) // its row says that experiments gave nothing
		}
	}
	if err := write(stdout, drawn); err != nil {
		return "", false, err
	}
	line, held := agreement(drawn)
	fmt.Fprintln(stdout, "\n"+line)
	return line, held, nil
}

// test tests one unit by experiments.
func (s *study) test(ctx context.Context, u *unit) error {
	speedups := "0"
	for _, l := range levels {
		speedups += "," + strconv.Itoa(l)
	}
	file, err := s.profile(ctx, u.built, s.seconds, "run", "-t", u.target.Spec(), "-s", speedups)
	if err != nil {
		return err
	}
	defer os.RemoveAll(filepath.Dir(file))
	report, err := s.rig.Report(ctx, file)
	if err != nil {
		return err
	}
	for _, t := range report.Targets {
		if p, ok := throughput(&t); ok && t.Same(&u.target) {
			u.tested = p
			return nil
		}
	}
	return fmt.Errorf("testing %s: the report does not have it", u.target.Spec())
}

// profile runs a program under whatif for a time, and returns the path of the profile, in a directory of its own.
func (s *study) profile(ctx context.Context, b *built, length time.Duration, args ...string) (string, error) {
	doing := fmt.Sprintf("profiling %s", b.name)
	dir, err := os.MkdirTemp("", "whatif-units")
	if err != nil {
		return "", fmt.Errorf("%s: %w", doing, err)
	}
	file := filepath.Join(dir, "profile")
	args = append(args, "--quiet", "-p", "done="+b.point, "-d", length.String(), "-o", file)
	args = append(append(args, "--"), b.command...)
	if err := s.whatif(ctx, b, 2*length+time.Minute, args); err != nil {
		return "", errors.Join(fmt.Errorf("%s: %w", doing, err), os.RemoveAll(dir))
	}
	return file, nil
}

// whatif runs whatif in a process group of its own, of which nothing is left at the end. The program's output is thrown
// away.
func (s *study) whatif(ctx context.Context, b *built, patience time.Duration, args []string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.rig.Command(), args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if b.input != nil {
		cmd.Stdin = &again{text: b.input}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // whatif ends the program
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		return err
	}
	err := cmd.Wait()
	if kill := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); kill != nil && !errors.Is(kill, syscall.ESRCH) {
		return fmt.Errorf("ending what is left of it: %w", kill)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if rig.FailedItself(cmd.ProcessState) {
		return fmt.Errorf("%w (%s)", err, strings.ReplaceAll(strings.TrimSpace(stderr.String()), "\n", "; "))
	}
	return nil
}

// again is a text that is read again and again, and never ends.
type again struct {
	text []byte
	left bytes.Reader
}

func (a *again) Read(p []byte) (int, error) {
	if a.left.Len() == 0 {
		a.left.Reset(a.text)
	}
	return a.left.Read(p)
}

// write prints a row for each tested unit.
func write(w io.Writer, tested []unit) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "program\tunit\tshare\testimate at 50, 100%\t[95% interval at 100%]\texperiments\t[95% interval]\t"+
		"apart\t")
	for i := range tested {
		u := &tested[i]
		off, word := "?", "no"
		if d := u.off(); !math.IsNaN(d) {
			off = fmt.Sprintf("%.1f", d)
			if d <= mostOff {
				word = "yes"
			}
		}
		fmt.Fprintf(tw, "%s\t%s\t%.1f%%\t%s\t%s\t%s\t%s\t%s\t%s\n", u.built.name, u.target.Name, u.target.Share,
			gains(u.point.Estimate), interval(u.point.Estimate), gains(u.tested.Curve), interval(u.tested.Curve), off, word)
	}
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("printing the table: %w", err)
	}
	return nil
}

func gains(all []rig.ReportLevel) string {
	var texts []string
	for _, level := range levels {
		text := "?"
		if l, ok := rig.At(all, level); ok {
			text = strconv.FormatFloat(l.Gain+0, 'f', 1, 64)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "/")
}

func interval(all []rig.ReportLevel) string {
	l, ok := rig.At(all, 100)
	if !ok {
		return "?"
	}
	return fmt.Sprintf("%.1f..%.1f", l.CI[0], l.CI[1])
}
