package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"whatif/internal/analyze"
	"whatif/internal/code/sourcepath"
	"whatif/internal/hint"
	"whatif/internal/outfile"
	"whatif/internal/profile"
	"whatif/internal/report"
	"whatif/internal/web"
)

// reportFlags are the flags of whatif report.
type reportFlags struct {
	format, output, point, unit, against string

	top      int
	verbose  bool
	on       elsewhere
	profiles profilesFlags
}

func (r *reportFlags) define(f *flags) {
	f.StringVar(&r.format, "format", "text", "`"+formatNames()+"`")
	f.StringVar(&r.output, "output", "", "write to `FILE` (default: stdout)")
	f.short("o", "output")
	f.IntVar(&r.top, "top", 20, "show only the `N` units that rank first; 0: all")
	f.StringVar(&r.point, "point", "", "show only the progress point `NAME`")
	f.StringVar(&r.unit, "unit", "", "of an SVG: all curves of the unit `NAME`")
	f.BoolVar(&r.verbose, "verbose", false, "in text: where each run was made, of which build, and what measuring took")
	f.StringVar(&r.against, "compare", "", "in HTML: show the profile `FILE` beside it, from before a change")
	f.short("v", "verbose")
	f.colored()
	r.on.define(f)
	r.profiles.define(f)
}

// check refuses flags that do nothing with the format.
func (r *reportFlags) check(f *flags, form *format) error {
	switch {
	case r.unit != "" && form.name != "svg":
		return wrongLine("--unit is for --format svg")
	case r.verbose && form.name != "text":
		return wrongLine("--verbose is for --format text")
	case form.whole() && (f.given("top") || r.point != ""):
		return wrongLine("--top and --point do nothing with --format %s: all is in it", form.name)
	case r.against != "" && form.name != "html":
		return wrongLine("--compare is for --format html")
	case r.on.device != "" && !form.hasDevices():
		return wrongLine("--device is for --format text, json, csv, svg and html: the others are about the machine of the " +
			"profile")
	case r.on.device != "" && r.against != "":
		return wrongLine("--device and --compare: the page has room for one of them beside the profile")
	case r.top < 0:
		return wrongLine("--top cannot be negative")
	}
	return r.on.check()
}

func reportCommand(_ context.Context, sh *shell, args []string) (int, error) {
	f := newFlags("report")
	var r reportFlags
	r.define(f)
	files, err := parse(sh, f, args, 0, -1)
	if err != nil {
		return 0, err
	}
	form, err := formatNamed(r.format)
	if err != nil {
		return 0, err
	}
	if err := r.check(f, &form); err != nil {
		return 0, err
	}
	if form.name == "html" && r.on.device == "" {
		page, err := r.profiles.page(files, r.against)
		if err != nil {
			return 0, err
		}
		return 0, sh.writeTo(r.output, page.WriteHTML)
	}
	if len(files) == 0 {
		files = []string{defaultOutput}
	}
	runs, doubts, err := r.profiles.read(files)
	if err != nil {
		return 0, err
	}
	if form.isRecorded() {
		d := recordedRun(runs)
		if d == nil {
			return 0, explainRecording(fmt.Errorf("reporting: %w", profile.ErrNoRecording))
		}
		return 0, sh.writeTo(r.output, func(w io.Writer) error { return form.write(w, &input{recorded: d}) })
	}
	result := analyze.Analyze(runs, analyze.Options{Trials: form.name == "svg" && r.unit != "" || form.name == "html"})
	in := &input{runs: runs, result: result,
		opt: report.Options{Top: r.top, Point: r.point, Unit: r.unit, Verbose: r.verbose}}
	if form.hasEstimates() || r.on.device != "" {
		moved, err := sourcePaths(r.profiles.paths)
		if err != nil {
			return 0, usageError{err}
		}
		if err := in.addEstimates(&r.on, moved); err != nil {
			return 0, fmt.Errorf("reporting: %w", explainRecording(err))
		}
	}
	result.Warnings = append(result.Warnings, doubts...)
	if form.forPrograms() && !f.given("top") {
		in.opt.Top = 0
	}
	if form.name == "html" {
		page, err := in.page(files, &r.profiles)
		if err != nil {
			return 0, err
		}
		return 0, sh.writeTo(r.output, page.WriteHTML)
	}
	return 0, sh.writeTo(r.output, func(w io.Writer) error {
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
	if in.machines, err = on.compareRun(&d.Run); err != nil {
		return err
	}
	if in.machines == nil {
		addEstimates(in.result, in.runs, moved)
		return nil
	}
	in.there, err = in.machines.beside(in.result, in.runs, moved)
	return err
}

// page is the page of both machines, or of the one if the program really had all of the other.
func (in *input) page(files []string, of *profilesFlags) (*web.Page, error) {
	if in.there == nil {
		return of.page(files, "")
	}
	label, t := strings.Join(files, ", "), in.there
	return web.NewThere(t, web.Profile{Label: label + " on " + t.Device, Runs: in.machines.experimentsThere(in.runs)},
		web.Profile{Label: label + " here, on " + t.Host, Runs: in.runs}), nil
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
	if err := keepProfile(name); err != nil {
		return fmt.Errorf("writing the report to %s: %w", name, err)
	}
	if err := outfile.Replace(name, text.Bytes()); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// keepProfile returns an error if the file is a profile: it cannot be measured again, and a profile that is named for
// the report's file is a slip of the hand.
func keepProfile(name string) error {
	if fi, err := os.Lstat(name); err != nil || !fi.Mode().IsRegular() || !profile.Is(name) {
		return nil // a link is refused when the report is written
	}
	return hint.New(errors.New("it is a profile, which the report would replace"),
		"choose another file, or delete the profile if nobody needs it")
}
