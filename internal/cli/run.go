package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/analyze"
	"whatif/internal/doctor"
	"whatif/internal/experiment"
	"whatif/internal/hint"
	"whatif/internal/outfile"
	"whatif/internal/point"
	"whatif/internal/profile"
	"whatif/internal/report"
)

const (
	defaultOutput = "whatif.profile"
	defaultLength = 200 * time.Millisecond // of an experiment

	// settledWithin is the precision at which experiments end if there is no --duration, --repeat or --until. It is the
	// precision of the documentation's examples; smaller differences hardly matter.
	settledWithin percent = 2

	defaultPeriod = time.Millisecond
	// restingPeriod is the sampling period if nothing is sped up. No thread has to be stopped in time then, so samples
	// need not be more frequent than those of profilers that run all day. Samples are what whatif costs a program that
	// computes.
	restingPeriod = 10 * time.Millisecond
)

// runFlags are the flags of the commands that profile, as given.
type runFlags struct {
	points, targets    list
	together           changes
	latencies          list
	include, exclude   list
	paths              list
	unit, user, output string
	overwrite          bool
	written            string // what was done with the output file: "added run 3 to whatif.profile"
	waiting            string
	speedups           levels
	period, length     time.Duration
	warmup, duration   time.Duration
	until              percent
	repeat             int
	seed               uint64
	quiet, verbose     bool
	listUnits          bool
	kernel             bool
	vmlinux            string
	view               bool
	preserveStatus     bool
	noDelays           bool
	runtimeFlags       bool
	javaAgent          string
	page               string   // the file that gets the results as a page
	typed              []string // the command and its arguments
	given              func(flag string) bool
	on                 elsewhere
	knobs              bool
	machines           *comparison // that on is about; nil: no device was named
}

// define defines the flags that all commands have which profile. withoutPoints ends the text of --point: it tells what
// is measured without a progress point. Each execution of a program that whatif starts can be an experiment.
func (r *runFlags) define(f *flags, withoutPoints string) {
	r.definePoints(f, withoutPoints)
	r.defineUnits(f)
	r.defineExperiments(f)
	f.StringVar(&r.output, "output", defaultOutput, "write to `FILE`, or add to it if it is a profile already")
	f.short("o", "output")
	f.BoolVar(&r.overwrite, "overwrite", false, "replace the runs that the output file has, instead of adding to them")
	f.BoolVar(&r.noDelays, "no-delays", false, "record only, for estimates (as whatif record): nothing is ever stopped")
	f.StringVar(&r.page, "report", "", "at the end, write the page with the results to `FILE`, in HTML")
	f.BoolVar(&r.quiet, "quiet", false, "no status line, no table")
	f.short("q", "quiet")
	f.BoolVar(&r.view, "view", false, "show the experiments in a browser as they come")
	f.BoolVar(&r.verbose, "verbose", false, "show unresolved symbols and measurement overhead")
	f.short("v", "verbose")
	f.colored()
}

func (r *runFlags) definePoints(f *flags, withoutPoints string) {
	f.Var(&r.points, "point",
		"count visits of the progress point `[NAME=]SPEC`, repeatable; SPEC is one of\n"+
			"  func:NAME (NAME may have a *), func:NAME%return; of Java func:com.shop.Cart.total\n"+
			"  func:PATH:NAME, in another binary\n"+
			"  FILE:LINE\n"+
			"  usdt:[PROVIDER:]NAME, a static probe\n"+
			"  syscall:NAME, syscall:NAME%exit\n"+
			"  tracepoint:CATEGORY:NAME\n"+
			"  exit, the end of a process\n"+
			"  sample:FILE:LINE, samples of a line\n"+
			"  the NAME of a point in the source (see whatif.h)\n"+
			"Default: all points in the source"+withoutPoints+". whatif points lists what a program offers")
	f.short("p", "point")
	f.Var(&r.latencies, "latency",
		"measure the time from one point to another, `NAME=BEGIN..END`, repeatable; BEGIN and END are SPECs as for "+
			"--point, or NAME alone is a pair in the source (WHATIF_BEGIN, WHATIF_END). A begin and an end belong "+
			"together if they are in the same thread, or, with %argN after both, if that argument is the same")
	f.short("l", "latency")
}

func (r *runFlags) defineUnits(f *flags) {
	f.Var(&r.targets, "target",
		"speed up only this `UNIT`, repeatable (default: what runs); UNIT is one of\n"+
			"  FILE:LINE\n"+
			"  func:NAME (with all that it calls), func-self:NAME\n"+
			"  CODE<CALLER, a line or function when it is called from CALLER\n"+
			"  wait:CLASS, all waiting for disk, net, sleep, lock, child, cpu, other\n"+
			"  jvm:gc or jvm:compiler, what Java VMs do")
	f.short("t", "target")
	f.Var(&r.together, "together",
		"speed up several units at once, each by its own amount: `UNIT=PERCENT`, repeatable; UNIT is as for --target")
	r.given = f.given
	f.StringVar(&r.waiting, "waiting", "",
		"kinds of waiting to charge to the code that waits: a `LIST` of disk, net, sleep, lock (for another thread), "+
			"child, other; or none, or all (default: disk,net,sleep; with -s 0 none)")
	r.defineKind(f)
	r.defineScope(f)
	f.BoolVar(&r.listUnits, "list-units", false,
		"show what is sampled, in and out of scope, instead of experimenting (see whatif units)")
	f.StringVar(&r.javaAgent, "java-agent", "on",
		"`WHETHER` (on or off) an agent is loaded into Java VMs: without it their units are methods, not lines (see "+
			"docs/jit.md)")
}

func (r *runFlags) defineKind(f *flags) {
	f.StringVar(&r.unit, "unit", "line",
		"the `KIND` of unit that is tried: line, func (a function with all that it calls), func-self (without what it "+
			"calls), file or binary")
	f.short("u", "unit")
}

// defineScope defines the flags that say which code is in scope, and where its source is.
func (r *runFlags) defineScope(f *flags) {
	f.Var(&r.include, "include",
		"try only code that matches `KIND:GLOB`, repeatable; KIND is binary, source or func (default: the program and "+
			"its own libraries)")
	f.Var(&r.exclude, "exclude", "do not try code that matches `KIND:GLOB`, repeatable")
	f.BoolVar(&r.kernel, "kernel", false,
		"try the kernel's functions, too (default: the kernel's time counts for the code that calls it)")
	f.StringVar(&r.vmlinux, "vmlinux", "", "vmlinux `FILE` with debug info, for kernel source lines (needs --kernel)")
	f.Var(&r.paths, "source-path", sourcePathText)
}

// sourcePathText is the text of --source-path.
const sourcePathText = "show source files that were recorded below the directory OLD as files below NEW: `OLD=NEW`, " +
	"repeatable"

func (r *runFlags) defineExperiments(f *flags) {
	r.speedups = everyFive()
	f.Var(&r.speedups, "speedups",
		"`PERCENTAGES` to try, separated by commas; 0 is always measured, too, and alone it only counts and samples")
	f.short("s", "speedups")
	f.Var(&r.until, "until",
		"stop early, when the gains of the leading units are known to within `PERCENT` points (statistical error "+
			"only); --duration remains the upper limit")
	f.Uint64Var(&r.seed, "seed", 0, "a number `N` that makes the plan of experiments reproducible (default: random)")
	f.length(&r.period, "period", 0,
		"sampling `PERIOD` (default: 1ms, 250us where threads wait busily, or hand over more than once in each "+
			"millisecond that they run, 10ms with -s 0)")
	f.length(&r.length, "experiment", defaultLength, "minimum `LENGTH` of an experiment")
	f.seconds(&r.warmup, "warmup", 0, "wait `TIME` before the first experiment")
}

// defineStart defines the flags of the commands that start a program. duration is the text of --duration.
func (r *runFlags) defineStart(f *flags, duration string) {
	f.starts = true
	f.seconds(&r.duration, "duration", 0, duration)
	f.short("d", "duration")
	f.IntVar(&r.repeat, "repeat", 0, "run the program `N` times")
	r.defineUser(f)
	f.BoolVar(&r.preserveStatus, "preserve-status", false,
		"exit with the program's own status also where --duration or --until ended it")
	f.BoolVar(&r.runtimeFlags, "runtime-flags", false,
		"set NODE_OPTIONS, ERL_FLAGS and PYTHONPERFSUPPORT, so that Node, Erlang and Python (3.12 and later) name the "+
			"code that they make (see docs/jit.md)")
}

// userText is the text of --user.
const userText = "run the program as the user `NAME` (default: the one that called sudo)"

func (r *runFlags) defineUser(f *flags) {
	f.StringVar(&r.user, "user", "", userText)
}

// withoutVariable switches rules of the kernel side off, for developers: ARCHITECTURE.md says what for.
const withoutVariable = "WHATIF_WITHOUT"

const (
	executions = ", and where there are none each execution of the program is one experiment: see --repeat and " +
		"--duration"
	stopsProgram = "stop after `TIME`: the program, and what it leaves behind, gets SIGTERM; a program that ends " +
		"sooner, with status 0, is run again until then"
)

// Texts of whatif record's flags, which say nothing of experiments.
const onlyTime = ", and where there are none the recording tells where time goes, and no gains"

var recordTexts = map[string]string{
	"duration": "stop after `TIME`: the program, and what it leaves behind, gets SIGTERM (default: when it ends)",
	"warmup":   "wait `TIME` before it is recorded",
	"target":   "estimate this `UNIT`, too, however little time it has, repeatable; UNIT is as for whatif run",
	"together": "estimate several units that are faster at once, each by its own amount: `UNIT=PERCENT`, repeatable; " +
		"whatif ask does the same afterwards",
	"unit": "the `KIND` of unit that is estimated: line, func (a function with all that it calls), func-self (without " +
		"what it calls), file or binary",
	"waiting": "kinds of waiting to charge to the code that waits: a `LIST` of disk, net, sleep, lock (for another " +
		"thread), child, other; or none, or all (default: disk,net,sleep)",
	"period": "sampling `PERIOD` (default: 1ms)",
	"report": "at the end, write the page with the estimates to `FILE`, in HTML",
}

// config checks the flags and turns them into the session's configuration.
func (r *runFlags) config(args []string) (experiment.Config, error) {
	cfg := experiment.Config{
		Args: args, User: r.user, RuntimeFlags: r.runtimeFlags, NoJavaAgent: r.javaAgent == "off",
		Kind: r.unit, Speedups: r.speedups, Experiment: r.length, Warmup: r.warmup,
		Duration: r.duration, Repeat: r.repeat, Seed: r.seed,
		Kernel: r.kernel, Vmlinux: r.vmlinux,
	}
	within := r.until
	if within == 0 && cfg.Starts() && r.duration == 0 && r.repeat == 0 {
		// The command line does not say how long to measure. Experiments end when more of them would not help, and the
		// program runs on to its own end.
		within, cfg.RunsOn = settledWithin, true
	}
	if within > 0 {
		cfg.Enough = func(so *analyze.Result) bool { return so.Settled(float64(within)) }
	}
	if cfg.Seed == 0 {
		cfg.Seed = rand.Uint64()
	}
	if err := r.parseCode(&cfg); err != nil {
		return cfg, usageError{err}
	}
	cfg.Finer = r.period == 0
	r.setDefaults(cfg.Rests())
	cfg.Period = r.period
	var err error
	if cfg.Waiting, err = experiment.ParseWaiting(r.waiting); err != nil {
		return cfg, usageError{err}
	}
	if cfg.Without, err = experiment.ParseRules(os.Getenv(withoutVariable)); err != nil {
		return cfg, usageError{err}
	}
	if err := r.scope(&cfg); err != nil {
		return cfg, usageError{err}
	}
	if cfg.Record = r.recorded(&cfg); r.on.device != "" && r.duration > 0 {
		cfg.RecordAfter = min(experiment.RecordAfter, r.duration/3)
	}
	return cfg, r.check(&cfg)
}

// parseCode reads the flags that name code: points, latencies and targets.
func (r *runFlags) parseCode(cfg *experiment.Config) error {
	for _, text := range r.points {
		spec, err := point.Parse(text)
		if err != nil {
			return err
		}
		cfg.Points = append(cfg.Points, spec)
	}
	for _, text := range r.latencies {
		l, err := point.ParseLatency(text)
		if err != nil {
			return err
		}
		cfg.Latencies = append(cfg.Latencies, l)
	}
	for _, text := range r.targets {
		t, err := point.ParseTarget(text)
		if err != nil {
			return err
		}
		cfg.Targets = append(cfg.Targets, t)
	}
	return r.parseTogether(cfg)
}

// parseTogether reads the units that are sped up at once. Then they are the targets, as one unit, which is tried with
// the amounts that were given.
func (r *runFlags) parseTogether(cfg *experiment.Config) error {
	if len(r.together) == 0 {
		return nil
	}
	switch {
	case len(r.targets) > 0:
		return hint.New(errors.New("--together with --target: units are either alternatives or sped up at once"),
			"leave --target out; whatif ask answers for each combination from one recording")
	case r.given("speedups"):
		return hint.New(errors.New("--together with --speedups: each unit has its own amount already"), "leave -s out")
	case len(r.together) > experiment.MaxTogether:
		return fmt.Errorf("--together %d times, %d are possible", len(r.together), experiment.MaxTogether)
	}
	for _, c := range r.together {
		if c.percent <= 0 {
			return hint.New(fmt.Errorf("--together %s=%v: experiments can make code faster only", c.unit, c.percent),
				"what slower code would do, a recording can tell: whatif record, then whatif ask")
		}
		t, err := point.ParseTarget(c.unit)
		if err != nil {
			return err
		}
		cfg.Targets, cfg.Together = append(cfg.Targets, t), append(cfg.Together, c.percent)
	}
	cfg.Speedups = []int{100}
	return nil
}

// forExperiments are the flags that a recording has no use for.
var forExperiments = []string{"speedups", "until", "repeat", "experiment", "seed", "view", "list-units"}

var errNoExperiments = hint.New(errors.New("it is for experiments, and a recording has none"),
	"leave the flag out, or experiment: whatif help run")

// check refuses values that are too many, out of range, or of no use together.
func (r *runFlags) check(cfg *experiment.Config) error {
	if r.noDelays {
		if i := slices.IndexFunc(forExperiments, r.given); i >= 0 {
			return wrongLine("--%s with --no-delays: %w", forExperiments[i], errNoExperiments)
		}
	}
	points := len(cfg.Points) + 2*len(cfg.Latencies)
	switch {
	case len(cfg.Latencies) > experiment.MaxLatencies:
		return wrongLine("%d latencies, %d are possible", len(cfg.Latencies), experiment.MaxLatencies)
	case points > experiment.MaxPoints:
		return wrongLine("%d progress points, those of latencies included, %d are possible", points, experiment.MaxPoints)
	case !slices.Contains([]string{"line", "func", "func-self", "file", "binary"}, r.unit):
		return wrongLine("--unit %s: a unit is a line, func, func-self, file or binary", r.unit)
	case !slices.Contains([]string{"", "on", "off"}, r.javaAgent): // whatif units has no such flag
		return wrongLine("--java-agent %s: it is on or off", r.javaAgent)
	case r.period < 100*time.Microsecond || r.period > 100*time.Millisecond:
		return wrongLine("--period %v is not between 100us and 100ms", r.period)
	case r.vmlinux != "" && !r.kernel:
		return wrongLine("--vmlinux without --kernel: the kernel's lines would not be looked at")
	case r.on.device != "" && (r.listUnits || cfg.Rests()):
		return wrongLine("--device with --list-units or -s 0: nothing is estimated")
	case r.knobs && r.on.device == "":
		return wrongLine("--device-knobs without --device: no other machine is named")
	case r.length < 10*r.period:
		return wrongLine("--experiment %v is shorter than ten sampling periods", r.length)
	case r.page != "" && r.listUnits:
		return wrongLine("--report needs experiments, and with --list-units there are none")
	case r.noDelays && r.duration > 0 && r.duration < experiment.LeastRecorded:
		return wrongLine("--duration %v: a recording needs %v", r.duration, experiment.LeastRecorded)
	case r.duration < 0 || r.warmup < 0 || r.repeat < 0:
		return wrongLine("--duration, --warmup and --repeat cannot be negative")
	}
	return r.on.check()
}

// recorded is for how long a run is recorded between its experiments, so that the report has estimates of what is not
// tried: a tenth of it. Where code is named with -t, all of it is for that code; a combination is answered both ways.
// What it would be on another machine comes from the recording, so that one is at least 3 s long, but no more than a
// third of the run.
func (r *runFlags) recorded(cfg *experiment.Config) time.Duration {
	const shortest, longest = 1500 * time.Millisecond, 5 * time.Second
	share := cfg.Duration / 10
	switch {
	case r.on.device != "" && !r.noDelays:
		if cfg.Duration == 0 {
			return 2 * shortest
		}
		return min(max(share, 2*shortest), cfg.Duration/3)
	case len(cfg.Targets) > 0 && len(cfg.Together) == 0, cfg.Rests(), len(cfg.Without) > 0, r.listUnits, r.noDelays:
		return 0
	case cfg.Duration == 0:
		return shortest
	case share < shortest:
		return 0
	}
	return min(share, longest)
}

// setDefaults sets what the command line does not. If nothing is sped up (rests), measuring is to cost little. By
// default waiting for another thread of the target is not a unit's time: it is an effect of what that thread does, not
// a cause.
func (r *runFlags) setDefaults(rests bool) {
	period, waiting := defaultPeriod, "disk,net,sleep"
	if rests {
		waiting = "none"
		if r.length >= 10*restingPeriod { // else an experiment would have too few samples
			period = restingPeriod
		}
	}
	r.period, r.waiting = cmp.Or(r.period, period), cmp.Or(r.waiting, waiting)
}

func runCommand(ctx context.Context, sh *shell, args []string) (int, error) {
	return sh.runAs(ctx, "run", args)
}

// recordCommand is run --no-delays.
func recordCommand(ctx context.Context, sh *shell, args []string) (int, error) {
	return sh.runAs(ctx, "record", args)
}

// runAs runs a program as the command of this name does.
func (sh *shell) runAs(ctx context.Context, name string, args []string) (int, error) {
	f := newFlags(name)
	var r runFlags
	without := executions
	if name == "record" {
		without = onlyTime
	}
	r.define(f, without)
	r.defineStart(f, stopsProgram)
	if name == "record" {
		for flag, text := range recordTexts {
			f.Lookup(flag).Usage = text
		}
		f.refuse(errNoExperiments, forExperiments...)
		f.hide("no-delays")
	}
	r.on.define(f)
	f.BoolVar(&r.knobs, knobsFlag, false,
		"with --device: while it runs, the program really has the device's network (bandwidth of loopback, round trips) and "+
			"disk, where these are slower than here; the rest is simulated (see docs/devices.md)")
	r.typed = append([]string{name}, args...)
	args, err := parse(sh, f, args, 1, -1)
	if err != nil {
		return 0, err
	}
	r.noDelays = r.noDelays || name == "record"
	cfg, err := r.config(args)
	if err != nil {
		return 0, err
	}
	if err := doctor.Require(); err != nil {
		return 0, err
	}
	return sh.profileAndTell(ctx, cfg, &r)
}

// profileAndTell profiles and prints the table. If whatif has started a program, signals are that program's. Else they
// end profiling.
func (sh *shell) profileAndTell(ctx context.Context, cfg experiment.Config, r *runFlags) (int, error) {
	// A closed stderr must cost neither the profile nor the status.
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE)
	profiling := ctx
	if !cfg.Starts() {
		var restore func()
		profiling, restore = untilSignal(ctx)
		defer restore()
	}
	if err := r.checkPage(); err != nil {
		return 0, err
	}
	place, err := sh.compareMachines(&cfg, r)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err := place.Close(); err != nil {
			sh.complain(err)
		}
	}()
	if r.noDelays {
		return sh.record(profiling, cfg, r)
	}
	if r.listUnits {
		return sh.listUnits(profiling, cfg, r)
	}
	page, err := sh.watch(ctx, r, cfg.Args)
	if err != nil {
		return 0, err
	}
	defer page.close()
	status := newStatus(sh.stderr, r.quiet)
	outcome, err := sh.profile(profiling, cfg, r, page, status)
	if outcome == nil {
		return 0, err
	}
	if !r.quiet {
		if r.until > 0 {
			sh.untilReached(outcome, r.until)
		}
		if r.machines != nil {
			sh.summaryThere(outcome.Data, r)
		} else {
			sh.summary(outcome, status.warnings(), r.verbose)
		}
		if outcome.Written {
			fmt.Fprintf(sh.stderr, "\nwhatif: %s; see whatif report --top 0 %s\n", r.written, r.output)
		}
		sh.adviseRepeat(outcome, cfg, r)
		sh.explainTrap(outcome, cfg)
	}
	if r.page != "" && outcome.Written {
		err = errors.Join(err, sh.writePage(r.output, r.page))
	}
	if page != nil {
		err = errors.Join(err, page.wait(ctx, sh, outcome.Data))
	}
	return r.status(outcome), err
}

// explainTrap says what a program may have done that ended by SIGTRAP: a program that has copied its own code, and runs
// the copy, gets it from a breakpoint.
func (sh *shell) explainTrap(outcome *experiment.Outcome, cfg experiment.Config) {
	if !cfg.Starts() || outcome.Status != 128+int(unix.SIGTRAP) {
		return
	}
	sh.say("whatif: ", fmt.Sprintf("%s ended by SIGTRAP. If that does not happen without whatif, the program has "+
		"copied its own code, as into large pages, and whatif's breakpoints with it", cfg.Args[0]))
	sh.say("whatif: hint: ", "switch the copying off, or count with a point that needs no breakpoint: syscall:, "+
		"tracepoint: or a point in the source (docs/points.md)")
}

// checkPage returns an error if the file of --report cannot be written. It is called before the program runs.
func (r *runFlags) checkPage() error {
	if r.page == "" {
		return nil
	}
	if filepath.Clean(r.page) == filepath.Clean(r.output) {
		return wrongLine("--report and --output name the same file: %s", r.page)
	}
	err := keepProfile(r.page)
	if err == nil {
		err = outfile.Check(r.page)
	}
	if err == nil {
		return nil
	}
	remedy := cmp.Or(hint.Of(err), "choose another file with -o FILE")
	return hint.New(fmt.Errorf("writing the report to %s: %w", r.page, err),
		strings.ReplaceAll(remedy, "-o FILE", "--report FILE"))
}

// writePage writes the page of a profile to a file.
func (sh *shell) writePage(profile, file string) error {
	page, err := (&profilesFlags{}).page([]string{profile}, "")
	if err != nil {
		return fmt.Errorf("writing the report to %s: %w", file, err)
	}
	return sh.writeTo(file, page.WriteHTML)
}

// status is the exit status of whatif. If whatif ended the program, as the command line says, the program has not
// failed, and the status is 0.
func (r *runFlags) status(outcome *experiment.Outcome) int {
	if outcome.Ended && !r.preserveStatus {
		return 0
	}
	return outcome.Status
}

// profile runs a session that writes to r.output.
func (sh *shell) profile(ctx context.Context, cfg experiment.Config, r *runFlags, page *watcher, status *status) (
	*experiment.Outcome, error,
) {
	output, err := r.open()
	if err != nil {
		return nil, err
	}
	cfg.Output = output
	cfg.Log = newLog(sh.stderr, status, r.verbose)
	cfg.Progress = func(p experiment.Progress) {
		status.show(p)
		page.update(p.Data)
	}
	outcome, err := experiment.Profile(ctx, cfg)
	status.clear()
	return outcome, errors.Join(err, output.Close())
}

// open opens the profile, and notes what the last message says about it.
func (r *runFlags) open() (*profile.Writer, error) {
	open := profile.Append
	if r.overwrite {
		open = profile.Overwrite
	}
	output, err := open(r.output)
	if err != nil && hint.Of(err) == "" {
		err = hint.New(err, "choose another file with -o FILE")
	}
	if err != nil {
		return nil, err
	}
	r.written = "wrote " + r.output
	if n := output.Number(); n > 1 {
		r.written = fmt.Sprintf("added run %d to %s", n, r.output)
	}
	return output, nil
}

// untilReached says whether the precision of --until was reached.
func (sh *shell) untilReached(outcome *experiment.Outcome, until percent) {
	if outcome.Settled {
		fmt.Fprintf(sh.stderr,
			"whatif: stopped: the gains of the leading units are known to +-%g points, not counting the method's own error\n",
			float64(until))
	} else {
		fmt.Fprintf(sh.stderr, "whatif: the gains of the leading units are not known to +-%g points yet: run longer\n",
			float64(until))
	}
}

// summary prints the table of one run, without the warnings that were said as they came.
func (sh *shell) summary(outcome *experiment.Outcome, said map[string]bool, verbose bool) {
	fmt.Fprintln(sh.stderr)
	runs := []*profile.Data{outcome.Data}
	result := analyze.Analyze(runs, analyze.Options{})
	addEstimates(result, runs, nil)
	opt := sh.terminalOptions(sh.stderr, report.Options{Top: 20, Width: 100, Verbose: verbose, Said: said})
	if err := report.Text(sh.stderr, result, opt); err != nil {
		sh.complain(err)
	}
}
