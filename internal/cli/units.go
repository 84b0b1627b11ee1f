package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"whatif/internal/analyze"
	"whatif/internal/doctor"
	"whatif/internal/experiment"
	"whatif/internal/hint"
	"whatif/internal/report"
	"whatif/internal/target"
)

const (
	// listedUnits is the number of units that a list shows without --top.
	listedUnits = 40
	// listedTime is how long running processes are sampled without --duration: 10,000 samples of a busy core.
	listedTime = 10 * time.Second
)

// unitsFlags are the flags of whatif units.
type unitsFlags struct {
	runFlags
	profilesFlags
	attach experiment.Attach
	names  list
	format string
	top    int
}

// unitsCommand lists what could be a target: of a program that it starts, of running processes, or of a profile.
func unitsCommand(ctx context.Context, sh *shell, args []string) (int, error) {
	f := newFlags("units")
	var u unitsFlags
	u.define(f)
	args, err := parse(sh, f, args, 0, -1)
	if err != nil {
		return 0, err
	}
	switch {
	case u.format != "text" && u.format != "json":
		return 0, unknownFormat(u.format, "text|json")
	case u.top < 0:
		return 0, wrongLine("--top cannot be negative")
	}
	if u.format == "json" && !f.given("top") {
		u.top = 0
	}
	running, err := namesProcesses(&u.attach, u.names, args)
	if err != nil {
		return 0, err
	}
	switch {
	case running:
		u.duration = cmp.Or(u.duration, listedTime)
	case len(args) == 0:
		return 0, hint.New(wrongLine("missing argument"), "usage: "+usageOf("units"))
	case isProfile(args[0]):
		return 0, u.ofProfiles(sh, f, args)
	case u.format == "json" && u.output == "":
		return 0, hint.New(wrongLine("--format json without --output: stdout is the program's"), "name a file with -o")
	}
	if err := doctor.Require(); err != nil {
		return 0, err
	}
	if running {
		return u.ofRunning(ctx, sh)
	}
	return u.ofProgram(ctx, sh, args)
}

func (u *unitsFlags) define(f *flags) {
	// What follows a program are its arguments. Processes and profiles are operands like those of other commands.
	f.starts, f.isProgram = true, func(first string) bool { return !isNumber(first) && !isProfile(first) }
	f.seconds(&u.duration, "duration", 0,
		"stop after `TIME` (default: when PROGRAM ends; 10s for a PID): a program that was started gets SIGTERM, "+
			"processes that ran already run on")
	f.short("d", "duration")
	u.defineKind(f)
	u.defineScope(f)
	u.defineUser(f)
	defineProcesses(f, &u.attach, &u.names)
	f.BoolVar(&u.mixed, "mixed", false, mixedText)
	f.StringVar(&u.format, "format", "text", "`text|json`")
	f.StringVar(&u.runFlags.output, "output", "",
		"write to `FILE` (default: stdout; where whatif starts PROGRAM, which has stdout, stderr)")
	f.short("o", "output")
	f.IntVar(&u.top, "top", listedUnits, "show only the `N` units with the most time; 0: all")
	f.BoolVar(&u.verbose, "verbose", false, "show unresolved symbols")
	f.short("v", "verbose")
	f.colored()
	u.speedups, u.length = everyFive(), defaultLength
}

func isNumber(word string) bool {
	_, err := strconv.ParseUint(word, 10, 32)
	return err == nil
}

// isProfile tells a profile from a program: it is a file, and it may not be executed.
func isProfile(word string) bool {
	if _, err := exec.LookPath(word); err == nil {
		return false
	}
	info, err := os.Stat(word)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 == 0
}

// ofRunning samples processes that run already, and leaves them running.
func (u *unitsFlags) ofRunning(ctx context.Context, sh *shell) (int, error) {
	cfg, err := u.config(nil)
	if err != nil {
		return 0, err
	}
	cfg.Attach = &u.attach
	target.PreferSelf()
	ctx, restore := untilSignal(ctx)
	defer restore()
	outcome, err := sh.sampleUnits(ctx, cfg, &u.runFlags)
	if outcome == nil {
		return 0, err
	}
	return 0, errors.Join(err, u.write(sh, sh.stdout, listingOf(outcome.Listing)))
}

// ofProgram samples a program that it starts, and exits with the program's status.
func (u *unitsFlags) ofProgram(ctx context.Context, sh *shell, args []string) (int, error) {
	cfg, err := u.config(args)
	if err != nil {
		return 0, err
	}
	outcome, err := sh.sampleUnits(ctx, cfg, &u.runFlags)
	if outcome == nil {
		return 0, err
	}
	return u.status(outcome), errors.Join(err, u.write(sh, sh.stderr, listingOf(outcome.Listing)))
}

// ofProfiles lists the units of profiles, tried or not.
func (u *unitsFlags) ofProfiles(sh *shell, f *flags, files []string) error {
	for _, name := range []string{"duration", "unit", "include", "exclude", "kernel", "vmlinux", "user", "children"} {
		if f.given(name) {
			return wrongLine("--%s does nothing with a profile, which has the units of its run", name)
		}
	}
	u.profilesFlags.paths = u.runFlags.paths
	runs, _, err := u.profilesFlags.read(files)
	if err != nil {
		return err
	}
	result := analyze.Analyze(runs, analyze.Options{})
	if len(result.Targets) == 0 { // only recorded
		moved, err := sourcePaths(u.profilesFlags.paths)
		if err != nil {
			return usageError{err}
		}
		addEstimates(result, runs, moved)
	}
	return u.write(sh, sh.stdout, report.UnitsOf(result))
}

// write writes a list to the file that the command line names, else to w.
func (u *unitsFlags) write(sh *shell, w io.Writer, list report.UnitList) error {
	to := *sh
	to.stdout = w
	return to.writeTo(u.runFlags.output, func(w io.Writer) error {
		opt := sh.terminalOptions(w, report.Options{Top: u.top})
		if u.format == "json" {
			return report.UnitsJSON(w, list, opt)
		}
		return report.Units(w, list, opt)
	})
}

// sampleUnits runs a session without experiments, in which units are counted wherever they are.
func (sh *shell) sampleUnits(ctx context.Context, cfg experiment.Config, r *runFlags) (*experiment.Outcome, error) {
	cfg.List = true
	cfg.Log = newLog(sh.stderr, newStatus(sh.stderr, true), r.verbose)
	return experiment.Profile(ctx, cfg)
}

func listingOf(l *experiment.Listing) report.UnitList {
	list := report.UnitList{Samples: l.Samples}
	for _, u := range l.Units {
		list.Units = append(list.Units, report.Sampled{Unit: u.Unit, Samples: u.Samples, Outside: u.Outside,
			Share: 100 * float64(u.Samples) / float64(max(l.Samples, 1))})
	}
	return list
}

// listUnits does what --list-units of the profiling commands asks for. It writes no profile.
func (sh *shell) listUnits(ctx context.Context, cfg experiment.Config, r *runFlags) (int, error) {
	outcome, err := sh.sampleUnits(ctx, cfg, r)
	if outcome == nil {
		return 0, err
	}
	opt := sh.terminalOptions(sh.stderr, report.Options{Top: listedUnits})
	fmt.Fprintln(sh.stderr)
	return r.status(outcome), errors.Join(err, report.Units(sh.stderr, listingOf(outcome.Listing), opt))
}
