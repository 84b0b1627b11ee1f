package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"whatif/accuracy/internal/rig"
)

// kernels are the cases of the programs. The second one was written when the method was fixed, which the first one had
// shaped; the last one when it was fixed again.
var kernels = []struct {
	program string
	cases   []string
}{
	{"memory/programs/kernels.c",
		[]string{"triad", "chase", "multiply_plain", "multiply_block", "join", "merge", "sha256", "parse"}},
	{"memory/programs/more_kernels.c",
		[]string{"search", "histogram", "sparse", "transpose", "attract", "checksum", "distance", "mandelbrot"}},
	{"memory/programs/last_kernels.c",
		[]string{"look_up", "gather", "unite", "copy", "base64", "filter", "match", "pack"}},
}

// study says how much to measure, and with which rig.
type study struct {
	rig     *rig.Rig
	rounds  int
	seconds float64
	record  time.Duration
	only    string
	keep    string
	log     io.Writer
}

// A share is the part of a kernel's time that waits for memory, in percent.
type share struct {
	Share, Low, High float64
}

// A row has what was measured of one kernel.
type row struct {
	name  string
	truth float64
	all   []float64 // of each round
	said  *share    // nil: nothing
}

// waits tells whether a share is that of a kernel that waits for memory.
func waits(share float64) bool { return share > 50 }

func (r *row) right() bool { return r.said != nil && waits(r.said.Share) == waits(r.truth) }

// chosen tells whether a kernel is to be measured.
func (s *study) chosen(program, name string) bool {
	return strings.Contains(program+" "+name, s.only)
}

func (s *study) measureAll(ctx context.Context) (rows []row, err error) {
	for _, p := range kernels {
		program, err := s.rig.Compile(ctx, p.program)
		if err != nil {
			return rows, err
		}
		for _, name := range p.cases {
			if !s.chosen(p.program, name) || ctx.Err() != nil {
				continue
			}
			fmt.Fprintf(s.log, "%s %s\n", time.Now().Format("15:04:05"), name)
			r, err := s.measure(ctx, program, name)
			if err != nil {
				return rows, fmt.Errorf("measuring %s: %w", name, err)
			}
			rows = append(rows, *r)
		}
	}
	return rows, nil
}

func (s *study) measure(ctx context.Context, program, name string) (*row, error) {
	r := &row{name: name}
	rate := func(small string) (float64, error) {
		b, err := s.rig.Bare(ctx, program, name, small, strconv.FormatFloat(s.seconds, 'g', -1, 64))
		if err != nil {
			return 0, err
		}
		return b.Said.Rate(), nil
	}
	for range s.rounds {
		large, err := rate("0")
		if err != nil {
			return nil, err
		}
		small, err := rate("100")
		if err != nil {
			return nil, err
		}
		r.all = append(r.all, 100*(1-large/small))
	}
	sorted := slices.Sorted(slices.Values(r.all))
	r.truth = (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
	var err error
	r.said, err = s.ask(ctx, program, name)
	return r, err
}

// ask records the kernel with large data, and gives what whatif says of the kernel's function.
func (s *study) ask(ctx context.Context, program, name string) (*share, error) {
	dir := s.keep
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "whatif-memory"); err != nil {
			return nil, fmt.Errorf("recording: %w", err)
		}
		defer os.RemoveAll(dir)
	}
	profile := filepath.Join(dir, name+".profile")
	if err := os.Remove(profile); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("recording: %w", err)
	}
	length := strconv.FormatFloat(s.record.Seconds()+30, 'g', -1, 64) // with what comes before the first visit
	if _, err := output(ctx, s.rig.Command(), "record", "-q", "-p", "func:progress_done", "-t", "func:"+name,
		"-d", s.record.String(), "-o", profile, "--", program, name, "0", length); err != nil {
		return nil, err
	}
	text, err := output(ctx, s.rig.Command(), "report", "--format", "json", profile)
	if err != nil {
		return nil, err
	}
	var report struct {
		Targets []struct {
			Name   string
			Memory *share
		}
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return nil, fmt.Errorf("reading what whatif says: %w", err)
	}
	for _, t := range report.Targets {
		if t.Name == name {
			return t.Memory, nil
		}
	}
	return nil, fmt.Errorf("reporting: no time in %s", name)
}

func output(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var said strings.Builder
	cmd.Stderr = &said
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("running %s: %w\n%s", strings.Join(args, " "), err, said.String())
	}
	return text, nil
}

// write prints the table, and how many answers are right.
func write(w io.Writer, rows []row) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "kernel\twaits for memory\tof each round\tanswer\t[interval]\tright")
	right := 0
	for i := range rows {
		r := &rows[i]
		answer, interval := "none", ""
		if r.said != nil {
			answer = fmt.Sprintf("%.0f%%", r.said.Share)
			interval = fmt.Sprintf("%.0f..%.0f", r.said.Low, r.said.High)
		}
		word := "no"
		if r.right() {
			word = "yes"
			right++
		}
		fmt.Fprintf(tw, "%s\t%.0f%%\t%.0f\t%s\t%s\t%s\n", r.name, r.truth, r.all, answer, interval, word)
	}
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("printing the table: %w", err)
	}
	_, err := fmt.Fprintf(w, "\n%d of %d right\n", right, len(rows))
	return err
}
