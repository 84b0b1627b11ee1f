package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// resultsIntro is the beginning of RESULTS.md.
const resultsIntro = `# Results

Written by ` + "`make accuracy`, `make across`, `make forms` and `make mpi`" +
	`: the newest table of each. ` + "`README.md`" + ` says how
they are measured, ` + "`NOTEBOOK.md`" + ` has older ones.
`

// sectionOf is the section of RESULTS.md that a run replaces: the suite's, or a group's. It is an error if the run is
// of neither.
func sectionOf(only []string) (string, error) {
	switch {
	case len(only) == 0:
		return "suite", nil
	case len(only) == 1 && isGroup(only[0]):
		return only[0], nil
	}
	return "", errors.New("reading the command line: -results is for the whole suite, or for one group")
}

func isGroup(name string) bool {
	return slices.ContainsFunc(programs, func(p program) bool { return p.group == name })
}

// section is the text of a run's section of RESULTS.md.
func (o *options) section(results []result) (string, error) {
	var text strings.Builder
	var host unix.Utsname
	if err := unix.Uname(&host); err != nil {
		return "", fmt.Errorf("asking for the kernel's version: %w", err)
	}
	fmt.Fprintf(&text, "%s, Linux %s, seed %d. Truths have %d rounds and more of %g s, predictions %g s.\n\n",
		time.Now().Format(time.DateOnly), unix.ByteSliceToString(host.Release[:]), o.plan.seed, o.plan.rounds,
		o.plan.truthSeconds, o.plan.predict.Seconds())
	if err := resultTable(results).writeMarkdown(&text); err != nil {
		return "", err
	}
	fmt.Fprintln(&text)
	for _, line := range summarize(results).lines() {
		fmt.Fprintf(&text, "- %s\n", line)
	}
	return text.String(), nil
}

// replaceSection replaces one section in the file's text, or adds it.
func replaceSection(text, name, section string) string {
	const mark = "\n## "
	parts := strings.Split(text, mark)
	parts[0] = resultsIntro
	with := name + "\n\n" + section
	at := slices.IndexFunc(parts[1:], func(p string) bool { return strings.HasPrefix(p, name+"\n") })
	if at < 0 {
		parts = append(parts, with)
	} else {
		parts[1+at] = with
	}
	for i := range parts {
		parts[i] = strings.TrimRight(parts[i], "\n") + "\n"
	}
	return strings.Join(parts, mark)
}

func (o *options) writeResults(results []result) error {
	old, err := os.ReadFile(o.resultsFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the results so far: %w", err)
	}
	section, err := o.section(results)
	if err != nil {
		return err
	}
	text := replaceSection(string(old), o.resultsSection, section)
	if err := os.WriteFile(o.resultsFile, []byte(text), 0o644); err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	return nil
}
