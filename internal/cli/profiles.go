package cli

import (
	"fmt"

	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// profilesFlags are the flags of commands that read profiles.
type profilesFlags struct {
	paths list
	mixed bool
}

func (p *profilesFlags) define(f *flags) {
	f.Var(&p.paths, "source-path", "source files recorded as OLD/... are NEW/..., repeatable: `OLD=NEW`")
	f.BoolVar(&p.mixed, "mixed", false, "merge runs of different builds of the program, too (default: those of the latest)")
}

// read reads files, leaves runs of other builds than the latest out, and says so.
func (p *profilesFlags) read(files []string) ([]*profile.Data, []analyze.Warning, error) {
	moved, err := sourcePaths(p.paths)
	if err != nil {
		return nil, nil, usageError{err}
	}
	runs, err := profile.ReadFiles(files)
	if err != nil {
		return nil, nil, explainProfile(err)
	}
	for _, run := range runs {
		run.MapFiles(moved.Apply)
	}
	var doubts []analyze.Warning
	doubt := func(code, text string) { doubts = append(doubts, analyze.Warning{Code: code, Text: text}) }
	if builds := profile.Builds(runs); len(builds) > 1 {
		if p.mixed {
			doubt("mixed-builds", fmt.Sprintf("runs of %d builds of the program are merged (--mixed): the numbers are those of none of them", len(builds)))
		} else {
			var left int
			runs, left = profile.Latest(runs)
			doubt("other-builds", fmt.Sprintf("%d of the runs left out: they are of other builds of the program; --mixed merges them, whatif diff compares builds", left))
		}
	}
	if n := machines(runs); n > 1 {
		doubt("several-machines", fmt.Sprintf("runs from %d different machines are merged: gains may differ between them", n))
	}
	return runs, doubts, nil
}

// machines counts the machines that runs are from, as far as they are known.
func machines(runs []*profile.Data) int {
	seen := map[string]bool{}
	for _, d := range runs {
		if d.Run.Host != "" {
			seen[fmt.Sprintf("%s %d %s", d.Run.Host, d.Run.CPUs, d.Run.CPUModel)] = true
		}
	}
	return len(seen)
}
