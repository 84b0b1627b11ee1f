package cli

import (
	"fmt"
	"slices"
	"strings"

	"whatif/internal/analyze"
	"whatif/internal/hint"
	"whatif/internal/profile"
	"whatif/internal/report"
)

// profilesFlags are the flags of commands that read profiles.
type profilesFlags struct {
	paths list
	mixed bool
}

// mixedText is the text of --mixed.
const mixedText = "merge runs of different builds of the program (default: only those of the latest build)"

func (p *profilesFlags) define(f *flags) {
	f.Var(&p.paths, "source-path", sourcePathText)
	f.BoolVar(&p.mixed, "mixed", false, mixedText)
}

// read reads profiles. It leaves out runs of builds other than the latest, unless --mixed is given. The warnings say
// so, and name other differences between the runs.
func (p *profilesFlags) read(files []string) ([]*profile.Data, []analyze.Warning, error) {
	moved, err := sourcePaths(p.paths)
	if err != nil {
		return nil, nil, usageError{err}
	}
	runs, err := profile.ReadFiles(files)
	if err != nil {
		return nil, nil, explainProfile(err)
	}
	if len(runs) == 0 {
		return nil, nil, hint.New(fmt.Errorf("reading profile: %s: there is no run in it", strings.Join(files, ", ")),
			"the whatif that made the file could not begin, or was killed before it had written anything: run it again")
	}
	for _, run := range runs {
		run.MapFiles(moved.Apply)
	}
	var doubts []analyze.Warning
	doubt := func(code, text string) { doubts = append(doubts, analyze.Warning{Code: code, Text: text}) }
	builds, unknown := profile.Builds(runs)
	if builds > 1 {
		if p.mixed {
			doubt("mixed-builds", fmt.Sprintf("runs of %d builds of the program are merged (--mixed): "+
				"the numbers are those of none of them", builds))
		} else {
			var left int
			runs, left = profile.Latest(runs)
			doubt("other-builds", fmt.Sprintf("%d of the runs left out: they are of other builds of the program; "+
				"--mixed merges them, whatif diff compares builds", left))
		}
	}
	if unknown > 0 && unknown+builds > 1 {
		doubt("unknown-build", fmt.Sprintf("%d of the runs do not say of which build the program was: "+
			"whatif cannot tell whether they belong together", unknown))
	}
	for _, differs := range []struct {
		code, what string
		of         func(profile.Run) string
	}{
		{"several-machines", "from %d different machines", machineOf},
		{"several-kernels", "under %d different kernels", func(run profile.Run) string { return run.Kernel }},
		{"several-arguments", "of %d different command lines",
			func(run profile.Run) string { return strings.Join(run.Args, " ") }},
		{"several-knobs", "with %d different networks and disks", networkAndDisk},
	} {
		if all := different(runs, differs.of); len(all) > 1 {
			doubt(differs.code, fmt.Sprintf("runs "+differs.what+" are merged: gains may differ between them: %s",
				len(all), strings.Join(all, "; ")))
		}
	}
	return runs, doubts, nil
}

// different lists the distinct values that of gives for the runs, without empty ones.
func different(runs []*profile.Data, of func(profile.Run) string) (all []string) {
	for _, d := range runs {
		if is := of(d.Run); is != "" && !slices.Contains(all, is) {
			all = append(all, is)
		}
	}
	return all
}

// networkAndDisk names the machine that has the network and disk of a run.
func networkAndDisk(run profile.Run) string {
	if run.Knobs == nil {
		return "those of the machine itself"
	}
	return fmt.Sprintf("those of %s (%s)", run.Knobs.Device, run.Knobs.Text)
}

// machineOf describes the machine of a run without its kernel; "" if the host is unknown.
func machineOf(run profile.Run) string {
	if run.Host == "" {
		return ""
	}
	run.Kernel = ""
	return report.Machine(&run)
}
