package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"whatif/accuracy/internal/rig"
	"whatif/internal/knobs"
	"whatif/internal/target"
	"whatif/internal/testing/noise"
)

const source = "device/programs/elsewhere.c"

// study says how much to measure, and with which rig.
type study struct {
	rig     *rig.Rig
	rounds  int
	seconds float64
	record  time.Duration
	// experiments is how long each program is experimented with; 0: not at all.
	experiments time.Duration
	only        string
	tries       int // of each run, until others use little of the machine
	log         io.Writer
	program     string

	emulation *emulation // nil: none of the devices needs it
}

// levels are the speed-ups that are compared.
var levels = []int{25, 50, 75, 100}

// estimate is a gain in percent with its interval; NaN: it is not known.
type estimate struct{ gain, low, high float64 }

func (e estimate) known() bool { return !math.IsNaN(e.gain) }

// A row has what was measured of one device. Lists are by level.
type row struct {
	device      *device
	truth       []estimate
	there, here []estimate // of a recording; empty: refused says why
	tested      []estimate // as there, of experiments; empty: there were none about the device
	refused     string
	foreign     []float64 // the share of the machine that others used, of each run
}

// errorOf is the mean distance of answers from the truth, in points; NaN if there are none.
func (r *row) errorOf(answers []estimate) float64 {
	sum, n := 0.0, 0.0
	for i, a := range answers {
		if a.known() {
			sum += math.Abs(a.gain - r.truth[i].gain)
			n++
		}
	}
	return sum / n
}

// within is how many intervals of answers hold the truth, which is itself known with an error.
func (r *row) within(answers []estimate) (n int) {
	for i, t := range r.truth {
		if i < len(answers) && answers[i].known() {
			half := math.Hypot(answers[i].high-answers[i].low, t.high-t.low) / 2
			if math.Abs(answers[i].gain-t.gain) <= half {
				n++
			}
		}
	}
	return n
}

// measureAll measures all devices that were chosen. If one fails it goes on with the next.
func (s *study) measureAll(ctx context.Context) (rows []row, err error) {
	if s.program, err = s.rig.Compile(ctx, source); err != nil {
		return nil, err
	}
	for i := range devices {
		d := &devices[i]
		if !strings.Contains(d.name(), s.only) || ctx.Err() != nil {
			continue
		}
		fmt.Fprintf(s.log, "%s %s: %s\n", time.Now().Format("15:04:05"), d.name(), d.about)
		r, failed := s.measure(ctx, d)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("measuring %s: %w", d.name(), failed))
			continue
		}
		rows = append(rows, *r)
	}
	return rows, err
}

// measure records the program here, and measures on the device what shrinking its target gains.
func (s *study) measure(ctx context.Context, d *device) (*row, error) {
	r := &row{device: d}
	var err error
	if d.on.arch != "" && s.emulation == nil {
		if s.emulation, err = s.emulate(ctx); err != nil {
			return nil, err
		}
	}
	place, err := s.place(d, here)
	if err != nil {
		return nil, err
	}
	err = s.predict(ctx, place, r)
	if err := errors.Join(err, place.leave()); err != nil {
		return nil, err
	}
	if place, err = s.place(d, there); err != nil {
		return nil, err
	}
	err = s.truth(ctx, place, r)
	return r, errors.Join(err, place.leave())
}

// truth measures each level on the device: runs with the whole work and with less of it in turns.
func (s *study) truth(ctx context.Context, p *place, r *row) error {
	d := r.device
	variables := d.on.variables()
	if d.queue > 0 || d.reads[0] > 0 {
		variables = nil // the queue or the disk is slower, and nothing else
	}
	rate := func(percent int) (float64, error) {
		args := append(append(p.command(variables), s.executed(d)...), d.program, strconv.Itoa(percent),
			number(d.longer(s.seconds)))
		is, foreign, err := undisturbed(s.tries, func() (float64, error) {
			b, err := s.rig.Bare(ctx, args...)
			if err != nil {
				return 0, err
			}
			return b.Said.Rate(), nil
		})
		r.foreign = append(r.foreign, foreign)
		return is, err
	}
	ratios := make([][]float64, len(levels))
	for range s.rounds {
		before, err := rate(0)
		if err != nil {
			return err
		}
		for i, level := range levels {
			is, err := rate(level)
			if err != nil {
				return err
			}
			after, err := rate(0)
			if err != nil {
				return err
			}
			ratios[i] = append(ratios[i], math.Log(math.Sqrt(before*after)/is))
			before = after
		}
	}
	for _, list := range ratios {
		mean, half := noise.Mean(list)
		gain := func(x float64) float64 { return 100 * (1 - math.Exp(x)) }
		r.truth = append(r.truth, estimate{gain(mean), gain(mean + half), gain(mean - half)})
	}
	return nil
}

// predict asks for the target on the device in both ways: of a recording, and of experiments.
func (s *study) predict(ctx context.Context, p *place, r *row) error {
	d := r.device
	recorded, err := s.ask(ctx, p, r, "record", "-d", time.Duration(d.longer(float64(s.record))).String())
	if err != nil {
		return err
	}
	r.there, r.here, r.refused = chosen(recorded.Estimate), chosen(recorded.Here.Estimate), recorded.Refused
	if s.experiments == 0 {
		return nil
	}
	seconds := time.Duration(d.longer(float64(s.experiments))).String()
	args := append([]string{"run", "-s", "0,25,50,75,100", "-d", seconds}, s.flags(d)...)
	tested, err := s.ask(ctx, p, r, args...)
	if err != nil {
		return err
	}
	r.tested = chosen(tested.Curve)
	return nil
}

// An answer is what a profile says of the target: on the device, and here.
type answer struct {
	Metric, Refused string
	Estimate, Curve []level
	Here            struct{ Estimate []level }
}

// ask profiles the program by a command of whatif's.
func (s *study) ask(ctx context.Context, p *place, r *row, command ...string) (*answer, error) {
	d := r.device
	target, name, err := s.target(d)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "whatif-device")
	if err != nil {
		return nil, fmt.Errorf("profiling: %w", err)
	}
	defer os.RemoveAll(dir)
	profile := filepath.Join(dir, "profile")
	args := append(p.command(nil), s.rig.Command())
	args = append(append(args, command...), "-q", "-p", "func:progress_done", "-t", target, "-o", profile, "--", s.program,
		d.program, "0", "3600")
	_, foreign, err := undisturbed(s.tries, func() (bool, error) {
		if err := os.RemoveAll(profile); err != nil {
			return false, err
		}
		return true, output(ctx, args, nil)
	})
	if err != nil {
		return nil, err
	}
	r.foreign = append(r.foreign, foreign)
	var report struct {
		Targets []struct {
			Name   string
			Points []answer
		}
	}
	args = append([]string{s.rig.Command(), "report", "--format", "json"}, append(s.flags(d), profile)...)
	if err := output(ctx, args, &report); err != nil {
		return nil, err
	}
	for _, t := range report.Targets {
		if t.Name == name {
			return &t.Points[0], nil
		}
	}
	return nil, fmt.Errorf("reporting: no time in %s", target)
}

// target is what is sped up, as -t takes it, and its name in reports.
func (s *study) target(d *device) (target, name string, err error) {
	if name, ok := strings.CutPrefix(d.target, "func:"); ok {
		return d.target, name, nil
	}
	line, err := s.rig.Line(source, "// TARGET "+d.target)
	target = filepath.Base(source) + ":" + strconv.Itoa(line)
	return target, target, err
}

// level is one level of a report.
type level struct {
	Speedup int
	Gain    float64
	CI      *[2]float64
}

// chosen are the estimates at the levels that are compared; nil: there are none.
func chosen(all []level) (some []estimate) {
	known := false
	for _, speedup := range levels {
		e := estimate{math.NaN(), math.Inf(-1), math.Inf(1)}
		for _, l := range all {
			if l.Speedup == speedup {
				e.gain, known = l.Gain, true
				if l.CI != nil {
					e.low, e.high = l.CI[0], l.CI[1]
				}
			}
		}
		some = append(some, e)
	}
	if !known {
		return nil
	}
	return some
}

// output runs a command, and reads the JSON that it prints, if to is not nil.
func output(ctx context.Context, args []string, to any) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var said strings.Builder
	cmd.Stderr = &said
	text, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("running %s: %w\n%s", strings.Join(args, " "), err, said.String())
	}
	if to == nil {
		return nil
	}
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("reading what %s says: %w", strings.Join(args, " "), err)
	}
	return nil
}

// A place is where programs run: beside a server, and perhaps with a slow loopback or disk.
type place struct {
	limited *knobs.Place // nil: the network and the disk are those of everybody
	port    int
	bytes   int // for each millisecond of the server's work, if the network is slow instead
	server  *exec.Cmd
}

// bytesOf is how many bytes a loopback of so many Mbit/s transfers in a millisecond.
func bytesOf(mbit float64) int { return int(mbit * 1e6 / 8 / 1e3) }

// The machines of a place.
const (
	here = iota
	there
)

// place makes a place for a device's program, on this machine or as on the device.
func (s *study) place(d *device, on int) (*place, error) {
	port, err := rig.FreePort()
	if err != nil {
		return nil, err
	}
	p := &place{port: port}
	if d.queue > 0 {
		p.bytes = bytesOf(d.queue)
	}
	if limits := d.limits(on); limits.Net() || limits.Disk() {
		// Programs have their files in /var/tmp.
		if p.limited, err = knobs.Set(limits, "/var/tmp", target.User{}); err != nil {
			return nil, err
		}
	}
	args := append(p.command(nil), s.program, "serve", strconv.Itoa(p.port))
	p.server = exec.Command(args[0], args[1:]...)
	p.server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.server.Start(); err != nil {
		p.server = nil
		return nil, errors.Join(fmt.Errorf("starting the server: %w", err), p.leave())
	}
	time.Sleep(200 * time.Millisecond) // until it listens: a program that comes sooner fails, and says so
	return p, nil
}

// command begins the command line of a program at the place, with variables of its own.
func (p *place) command(variables []string) (args []string) {
	if p.limited != nil && p.limited.Network != "" {
		args = []string{"nsenter", "--net=" + p.limited.Network}
	}
	if p.limited != nil && p.limited.Procs != "" {
		args = append(args, "sh", "-c", `echo $$ > "$0" && exec "$@"`, p.limited.Procs)
	}
	args = append(args, "env", "NET_PORT="+strconv.Itoa(p.port))
	if p.bytes > 0 {
		args = append(args, "NET_BYTES="+strconv.Itoa(p.bytes))
	}
	return append(args, variables...)
}

// leave ends the server, and takes the limits away.
func (p *place) leave() error {
	if p.server != nil {
		if err := syscall.Kill(-p.server.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("ending the server: %w", err)
		}
		_ = p.server.Wait() // that it was killed
	}
	return p.limited.Close()
}

// write prints the table, and the mean errors.
func write(w io.Writer, rows []row) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "device\ttruth at 25, 50, 75, 100%\t--device\t[95% interval]\terror\twithin\t"+
		"experiments\ttheir error\twithin\twithout\tits error\tothers")
	var errors, tested, without []float64
	refused := ""
	for i := range rows {
		r := &rows[i]
		if len(r.there) == 0 {
			fmt.Fprintf(tw, "%s\t%s\trefused\t\t\t\t%s\t\t\t\n", r.device.name(), gains(r.truth), gains(r.tested))
			refused += fmt.Sprintf("%s: refused: %s\n", r.device.name(), r.refused)
			continue
		}
		here := r.errorOf(r.here)
		errors, without = append(errors, r.errorOf(r.there)), append(without, here)
		experiments := "–\t\t"
		if len(r.tested) > 0 {
			tested = append(tested, r.errorOf(r.tested))
			experiments = fmt.Sprintf("%s\t%.1f\t%d/%d", gains(r.tested), r.errorOf(r.tested), r.within(r.tested),
				len(r.truth))
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%.1f\t%d/%d\t%s\t%s\t%.1f\t%.0f%%\n", r.device.name(), gains(r.truth),
			gains(r.there), intervals(r.there), r.errorOf(r.there), r.within(r.there), len(r.truth), experiments,
			gains(r.here), here, 100*mean(r.foreign))
	}
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("printing the table: %w", err)
	}
	fmt.Fprint(w, refused)
	if len(errors) > 0 {
		fmt.Fprintf(w, "\nmean error %.1f points, at most %.1f; without --device %.1f\n", mean(errors), slices.Max(errors),
			mean(without))
	}
	if len(tested) > 0 {
		fmt.Fprintf(w, "by experiments: mean error %.1f points, at most %.1f, over %d devices\n", mean(tested),
			slices.Max(tested), len(tested))
	}
	return nil
}

func mean(x []float64) (m float64) {
	for _, v := range x {
		m += v / float64(len(x))
	}
	return m
}

func gains(all []estimate) string {
	var texts []string
	for _, e := range all {
		text := "–"
		if e.known() {
			text = strconv.FormatFloat(e.gain+0, 'f', 0, 64)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "/")
}

func intervals(all []estimate) string {
	var texts []string
	for _, e := range all {
		texts = append(texts, fmt.Sprintf("%.0f..%.0f", e.low, e.high))
	}
	return strings.Join(texts, " ")
}
