package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"whatif/internal/profile"
)

// The program and its source, below accuracy.
const (
	source  = "programs/jvm/Lines.java"
	program = "jvm.Lines"
)

// calling is the kind of lines that call methods.
const calling = "inlined"

// key is the name of a line with steps: of a kind of code, such as straight, and of the line in it.
type key struct{ kind, name string }

func (k key) String() string { return k.kind + "." + k.name }

var mark = regexp.MustCompile(`// ([a-z]+)\.([a-z]+)$`)

// markedLines finds the lines with steps.
func markedLines(text string) map[int]key {
	lines := make(map[int]key)
	for i, line := range strings.Split(text, "\n") {
		if m := mark.FindStringSubmatch(line); m != nil {
			lines[i+1] = key{m[1], m[2]}
		}
	}
	return lines
}

// compile compiles the program into accuracy/build, and finds its lines.
func (s *study) compile(ctx context.Context) error {
	from := filepath.Join(s.rig.Root(), "accuracy", source)
	text, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("finding the lines: %w", err)
	}
	s.lines = markedLines(string(text))
	s.classes = filepath.Join(s.rig.Root(), "accuracy", "build", "lines")
	out, err := exec.CommandContext(ctx, "javac", "-g", "-d", s.classes, from).CombinedOutput()
	if err != nil {
		return fmt.Errorf("compiling %s: %w\n%s", source, err, out)
	}
	return nil
}

// share is one line: the program's steps, and whatif's samples.
type share struct {
	key
	steps   float64
	samples int64
}

// shares are lines of one or more kinds.
type shares struct {
	lines   []share
	samples int64 // with those that are on none of the lines
}

// off is the total variation between steps and samples, in percent: 100 without samples.
func (s shares) off() float64 {
	var steps, sum float64
	for _, l := range s.lines {
		steps += l.steps
	}
	other := s.samples
	for _, l := range s.lines {
		sum += math.Abs(l.steps/steps - float64(l.samples)/float64(s.samples))
		other -= l.samples
	}
	if s.samples == 0 {
		return 100
	}
	return 50 * (sum + float64(other)/float64(s.samples))
}

// byChance is the total variation to be expected of so many samples if all are right: half of the sum of the standard
// deviations of shares, as a deviation has sqrt(2/pi) of that on average.
func (s shares) byChance() float64 {
	var steps, sum float64
	for _, l := range s.lines {
		steps += l.steps
	}
	for _, l := range s.lines {
		p := l.steps / steps
		sum += math.Sqrt(p * (1 - p) / float64(max(1, s.samples)))
	}
	return 100 * sum * math.Sqrt(2/math.Pi) / 2
}

// measured is what one run has shown.
type measured struct {
	lines   []share // in the order of the source
	other   int64   // samples on other lines, or in methods, of the program
	methods int64   // those of them that are in methods
	outside int64   // samples elsewhere: in the VM, for example
}

// all are all lines. Samples on other lines of the program count: they should be on none.
func (m *measured) all() shares {
	s := shares{lines: m.lines, samples: m.other}
	for _, l := range m.lines {
		s.samples += l.samples
	}
	return s
}

// of are the lines of one kind. Which kind a sample on another line belongs to is not known.
func (m *measured) of(kind string) shares {
	var s shares
	for _, l := range m.lines {
		if l.kind == kind {
			s.lines = append(s.lines, l)
			s.samples += l.samples
		}
	}
	return s
}

// measure runs the program under whatif once, with or without the agent, in a Java VM with options.
func (s *study) measure(ctx context.Context, agent string, options ...string) (*measured, error) {
	command := append(append([]string{"java"}, options...), "-cp", s.classes, program,
		strconv.FormatFloat(s.seconds, 'f', -1, 64))
	flags := []string{"-p", "exit", "-s", "0", "--period", "250us", "--java-agent", agent}
	run, err := s.rig.Whatif(ctx, flags, command...)
	if err != nil {
		return nil, err
	}
	return s.count(run.Data, run.Said)
}

// count adds up the samples of a run. said are the steps that the program has counted.
func (s *study) count(data *profile.Data, said map[string]float64) (*measured, error) {
	m := &measured{}
	on := make(map[int]int64)
	for _, e := range data.Experiments {
		m.outside += e.Samples
		for id, n := range e.UnitSamples {
			u := data.Units[id]
			switch {
			case u.Kind == "line" && filepath.Base(u.File) == filepath.Base(source):
				on[u.Line] += n
			case strings.HasPrefix(u.Name, program+"."):
				m.methods += n
			default:
				continue
			}
			m.outside -= n
			m.other += n
		}
	}
	for line, k := range s.lines {
		steps, ok := said[k.String()]
		if !ok {
			return nil, fmt.Errorf("counting the steps of %s: the program says nothing of it", k)
		}
		m.lines = append(m.lines, share{k, steps, on[line]})
		m.other -= on[line]
	}
	slices.SortFunc(m.lines, func(a, b share) int { return strings.Compare(a.String(), b.String()) })
	return m, nil
}

// write prints a table of the lines, and how far off each kind is.
func write(w io.Writer, with, interpreted, without *measured) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	all := with.all()
	fmt.Fprintf(t, "line\tsteps\tsamples\n")
	var steps float64
	for _, l := range with.lines {
		steps += l.steps
	}
	var kinds []string
	for _, l := range with.lines {
		fmt.Fprintf(t, "%s\t%.2f%%\t%.2f%%\n", l, 100*l.steps/steps, 100*float64(l.samples)/float64(max(1, all.samples)))
		if !slices.Contains(kinds, l.kind) {
			kinds = append(kinds, l.kind)
		}
	}
	fmt.Fprintf(t, "others of the program\t0.00%%\t%.2f%%\n", 100*float64(with.other)/float64(max(1, all.samples)))
	fmt.Fprintf(t, "\nkind\tsamples\ton wrong lines\tby chance\n")
	for _, kind := range kinds {
		s := with.of(kind)
		fmt.Fprintf(t, "%s\t%d\t%.2f%%\t%.2f%%\n", kind, s.samples, s.off(), s.byChance())
	}
	fmt.Fprintf(t, "all\t%d\t%.2f%%\t%.2f%%\n", all.samples, all.off(), all.byChance())
	for _, kind := range kinds {
		if kind == calling { // a step takes less time than a call
			continue
		}
		s := interpreted.of(kind)
		fmt.Fprintf(t, "%s, interpreted\t%d\t%.2f%%\t%.2f%%\n", kind, s.samples, s.off(), s.byChance())
	}
	blunt := without.all()
	fmt.Fprintf(t, "all, without the agent\t%d\t%.2f%%\t\n", blunt.samples, blunt.off())
	if err := t.Flush(); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	fmt.Fprintf(w, "\nwithout the agent %d of %d samples are in methods of the program\n", without.methods, blunt.samples)
	return nil
}
