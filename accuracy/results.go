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

Written by ` + "`make accuracy`, `make across`, `make forms`, `make mpi`, `make jvm` and `make jit`" +
	`: the newest table of each.
` + "`README.md`" + ` says how they are measured, ` + "`NOTEBOOK.md`" + ` has older ones.
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

// estimatesSection is the section of estimates from recordings.
const estimatesSection = "estimates"

// section is the text of a run's section of RESULTS.md: how it was made, the table, and what it comes to.
func section(how string, rows table, lines []string) (string, error) {
	var text strings.Builder
	var host unix.Utsname
	if err := unix.Uname(&host); err != nil {
		return "", fmt.Errorf("asking for the kernel's version: %w", err)
	}
	fmt.Fprintf(&text, "%s, Linux %s. %s\n\n", time.Now().Format(time.DateOnly),
		unix.ByteSliceToString(host.Release[:]), how)
	if err := rows.writeMarkdown(&text); err != nil {
		return "", err
	}
	fmt.Fprintln(&text)
	for _, line := range lines {
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

func (o *options) writeResults(how string, rows table, lines []string) error {
	old, err := os.ReadFile(o.resultsFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the results so far: %w", err)
	}
	with, err := section(how, rows, lines)
	if err != nil {
		return err
	}
	text := replaceSection(string(old), o.resultsSection, with)
	if err := os.WriteFile(o.resultsFile, []byte(text), 0o644); err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	return nil
}
