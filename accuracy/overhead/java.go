package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"whatif/accuracy/internal/rig"
	"whatif/accuracy/internal/spread"
)

// javaProgram works with a library of a Debian package, as a program of the DaCapo suite does.
type javaProgram struct {
	class string   // in programs/java
	jars  []string // in /usr/share/java
}

var javaParts = []part{
	ofJava("h2", javaProgram{"H2", []string{"h2"}}),
	ofJava("fop", javaProgram{"Fop", []string{"fop", "xmlgraphics-commons", "commons-io", "commons-logging", "batik-all",
		"xml-apis-ext"}}),
	ofJava("batik", javaProgram{"Batik", []string{"batik-all", "xmlgraphics-commons", "commons-io", "commons-logging",
		"xml-apis-ext"}}),
	ofJava("xalan", javaProgram{"Xalan", []string{"xalan2", "serializer", "xml-apis"}}),
	ofJava("lucene", javaProgram{"Lucene", []string{"lucene-core-4.10.4", "lucene-analyzers-common-4.10.4"}}),
	ofJava("jython", javaProgram{"Jython", []string{"jython"}}),
}

func ofJava(name string, p javaProgram) part {
	return part{name, func(s *study, ctx context.Context, t *table) error {
		err := s.javaRatios(ctx, name, p, t)
		if err != nil {
			err = fmt.Errorf("measuring the Java program %s: %w", name, err)
		}
		return err
	}}
}

// The programs are measured when the VM has compiled what is hot. That takes longer than for other programs, and so do
// rounds in which the rate of a second says something.
const (
	javaWarms   = 2 // times as long as a run is measured
	javaSeconds = 2 // times as long as other programs
	javaPoint   = "func:Runs.piece"
)

// javaRatios adds the rows of a Java program: sampled with the agent loaded and nothing delayed, and with the default
// plan.
func (s *study) javaRatios(ctx context.Context, name string, p javaProgram, t *table) error {
	command, err := p.command(ctx, s.rig.Root(), s.seconds*javaSeconds)
	if err != nil {
		return err
	}
	beside, err := s.turns(ctx, command, func(*rig.Bare) {})
	if err != nil {
		return err
	}
	// It leaves out what other programs take.
	perCPU := func(said rig.Said) float64 { return said["visits"] / said["cpu"] }
	var idle, idleCPU, planned []float64
	for range s.rounds {
		turn, err := beside("-s", "0", "-p", javaPoint)
		if err != nil {
			return err
		}
		if turn.Visits() < turn.Said.Visits() {
			return fmt.Errorf("%d visits were counted of %d", turn.Visits(), turn.Said.Visits())
		}
		idle, idleCPU = append(idle, turn.ratio(rig.Said.Rate)), append(idleCPU, turn.ratio(perCPU))
		if turn, err = beside("-p", javaPoint); err != nil {
			return err
		}
		planned = append(planned, turn.ratio(rig.Said.Rate))
	}
	t.add(row{figure: name + ": rate sampled with the agent / without whatif", format: "%.3f", measured: spread.Of(idle),
		least: 0.97})
	t.add(row{figure: "  by the VM's processor time", format: "%.3f", measured: spread.Of(idleCPU)})
	t.add(row{figure: "  with the default plan (JCoz: 0.6 to 0.9)", format: "%.3f", measured: spread.Of(planned)})
	return nil
}

// command compiles the program and gives the command that runs it.
func (p *javaProgram) command(ctx context.Context, root string, seconds float64) ([]string, error) {
	classes := filepath.Join(root, "accuracy", "build", "java", p.class)
	if err := os.MkdirAll(classes, 0o755); err != nil {
		return nil, err
	}
	path := []string{classes}
	var missing []error
	for _, jar := range p.jars {
		file := filepath.Join("/usr/share/java", jar+".jar")
		if _, err := os.Stat(file); err != nil {
			missing = append(missing, err)
		}
		path = append(path, file)
	}
	if err := errors.Join(missing...); err != nil {
		return nil, err
	}
	sources := filepath.Join(root, "accuracy", "overhead", "programs", "java")
	javac := exec.CommandContext(ctx, "javac", "-g", "-nowarn", "-d", classes, "-cp", strings.Join(path, ":"),
		filepath.Join(sources, "Runs.java"), filepath.Join(sources, p.class+".java"))
	if out, err := javac.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compiling it: %w\n%s", err, out)
	}
	text := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	return []string{"java", "-Xmx256m", "-cp", strings.Join(path, ":"), "Runs", p.class, text(javaWarms * seconds),
		text(seconds)}, nil
}
