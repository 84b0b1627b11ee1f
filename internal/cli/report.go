package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"whatif/internal/analyze"
	"whatif/internal/code/sourcepath"
	"whatif/internal/hint"
	"whatif/internal/outfile"
	"whatif/internal/profile"
	"whatif/internal/report"
)

func reportCommand(_ context.Context, sh *shell, args []string) (int, error) {
	f := newFlags("report")
	name := f.String("format", "text", "`"+formatNames()+"`")
	output := f.String("output", "", "write to `FILE` (default: stdout)")
	f.short("o", "output")
	top := f.Int("top", 20, "show only the `N` units that rank first; 0: all")
	point := f.String("point", "", "show only the progress point `NAME`")
	unit := f.String("unit", "", "of an SVG: all curves of the unit `NAME`")
	verbose := f.Bool("verbose", false, "in text: where each run was made, of which build, and what measuring took")
	against := f.String("compare", "", "in HTML: show the profile `FILE` beside it, from before a change")
	f.short("v", "verbose")
	f.colored()
	var on elsewhere
	on.define(f)
	var profiles profilesFlags
	profiles.define(f)
	files, err := parse(sh, f, args, 0, -1)
	if err != nil {
		return 0, err
	}
	form, err := formatNamed(*name)
	if err != nil {
		return 0, err
	}
	switch {
	case *unit != "" && form.name != "svg":
		return 0, wrongLine("--unit is for --format svg")
	case *verbose && form.name != "text":
		return 0, wrongLine("--verbose is for --format text")
	case form.whole() && (f.given("top") || *point != ""):
		return 0, wrongLine("--top and --point do nothing with --format %s: all is in it", form.name)
	case *against != "" && form.name != "html":
		return 0, wrongLine("--compare is for --format html")
	case on.device != "" && !form.hasEstimates():
		return 0, wrongLine("--device is for --format text and json: the others show experiments")
	}
	if err := on.check(); err != nil {
		return 0, err
	}
	if *top < 0 {
		return 0, wrongLine("--top cannot be negative")
	}
	if form.name == "html" {
		page, err := profiles.page(files, *against)
		if err != nil {
			return 0, err
		}
		return 0, sh.writeTo(*output, page.WriteHTML)
	}
	if len(files) == 0 {
		files = []string{defaultOutput}
	}
	runs, doubts, err := profiles.read(files)
	if err != nil {
		return 0, err
	}
	result := analyze.Analyze(runs, analyze.Options{Trials: form.name == "svg" && *unit != ""})
	in := &input{runs: runs, result: result,
		opt: report.Options{Top: *top, Point: *point, Unit: *unit, Verbose: *verbose}}
	if form.hasEstimates() {
		moved, err := sourcePaths(profiles.paths)
		if err != nil {
			return 0, usageError{err}
		}
		if err := in.addEstimates(&on, moved); err != nil {
			return 0, fmt.Errorf("reporting: %w", explainRecording(err))
		}
	}
	result.Warnings = append(result.Warnings, doubts...)
	if form.forPrograms() && !f.given("top") {
		in.opt.Top = 0
	}
	return 0, sh.writeTo(*output, func(w io.Writer) error {
		in.opt = sh.terminalOptions(w, in.opt)
		return form.write(w, in)
	})
}

// addEstimates adds what the recording says, of this machine and of the one that was asked for.
func (in *input) addEstimates(on *elsewhere, moved sourcepath.Map) error {
	if on.device == "" {
		addEstimates(in.result, in.runs, moved)
		return nil
	}
	d := recordedRun(in.runs)
	if d == nil {
		return fmt.Errorf("another machine is simulated with a recording: %w", profile.ErrNoRecording)
	}
	var err error
	if in.machines, err = on.compare(d.Run.Host); err != nil {
		return err
	}
	in.there, err = in.machines.beside(in.result, in.runs, moved)
	return err
}

// explainProfile adds the remedy to the error about a profile that cannot be read.
func explainProfile(err error) error {
	var newer *profile.VersionError
	switch {
	case errors.As(err, &newer):
		return hint.New(err, "use the whatif that wrote it, or a newer one")
	case errors.Is(err, os.ErrNotExist):
		return hint.New(err, "a profile is written by whatif run; name the file, or run whatif where it is")
	}
	var damaged *profile.DamageError
	if errors.As(err, &damaged) {
		return hint.New(err, "is it a profile of whatif? A damaged line can be deleted; the others stay good")
	}
	return err
}

// writeTo calls write with stdout if name is empty. Else it writes the report to a file, whole or not at all: if write
// fails, or the disk is full, an old file stays as it was.
func (sh *shell) writeTo(name string, write func(io.Writer) error) error {
	if name == "" {
		if err := write(sh.stdout); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
		return nil
	}
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return fmt.Errorf("writing the report to %s: %w", name, err)
	}
	if err := outfile.Replace(name, text.Bytes()); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}
