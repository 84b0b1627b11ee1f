package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"whatif/accuracy/internal/rig"
)

func main() { rig.Main(run) }

// options is the command line.
type options struct {
	plan     plan
	chosen   []program
	jsonFile string
	// The file for the tables, and the section of it that this run replaces.
	resultsFile, resultsSection string
	check                       bool
	truthOnly                   bool
	// The files with the kept results that estimates are compared with, and how long each program is recorded.
	keptFiles []string
	record    time.Duration
	engines   bool // judge both engines together
	// The directory with recordings of an earlier run, which are estimated anew; "": each program is recorded.
	recordings string
}

// run is the command. Its status is 2 for a wrong command line, 1 if something fails or, with -check, a target is
// missed, else 0.
func run(ctx context.Context, stdout, stderr io.Writer, args []string) int {
	o, err := parseOptions(stderr, args)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintf(stderr, "accuracy: %v\n", err)
		return 2
	}
	if err := o.locate(); err != nil {
		fmt.Fprintf(stderr, "accuracy: %v\n", err)
		return 1
	}
	if len(o.keptFiles) > 0 {
		return runEstimates(ctx, o, stdout, stderr)
	}
	results, failed := studyAll(ctx, o, stderr)
	if err := o.print(stdout, results); err != nil {
		fmt.Fprintf(stderr, "accuracy: %v\n", err)
		failed = true
	}
	if o.check {
		misses := missed(results)
		if o.engines {
			_, misses = judgeEngines(results)
		}
		for _, m := range misses {
			fmt.Fprintf(stderr, "accuracy: missed: %s\n", m)
			failed = true
		}
	}
	if failed {
		return 1
	}
	return 0
}

// studyAll studies all chosen programs. If one fails it goes on, so that the results of the others are not lost.
func studyAll(ctx context.Context, o *options, stderr io.Writer) (results []result, failed bool) {
	if err := errors.Join(adoptOrphans(), shareCalibration()); err != nil {
		fmt.Fprintf(stderr, "accuracy: %v\n", err)
		return nil, true
	}
	fmt.Fprintf(stderr, "accuracy: the order of levels comes from -seed %d\n", o.plan.seed)
	for i := range o.chosen {
		more, err := o.plan.study(ctx, &o.chosen[i], stderr)
		if err != nil {
			fmt.Fprintf(stderr, "accuracy: %v\n", err)
			failed = true
		} else {
			results = append(results, more...)
		}
		if ctx.Err() != nil {
			return results, true
		}
	}
	return results, failed
}

func parseOptions(stderr io.Writer, args []string) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("accuracy", flag.ContinueOnError)
	f.SetOutput(stderr)
	only := f.String("only", "", "study only these programs and groups, `names` separated by commas")
	levels := f.String("levels", "25,50,75,100", "shrink the target by these `percentages`")
	seconds := f.Float64("seconds", 20, "profile each program this long with whatif")
	quick := f.Bool("quick", false, "measure little: do the programs and the profilers work at all?")
	f.IntVar(&o.plan.rounds, "rounds", 6, "rounds of truth for each program")
	f.Float64Var(&o.plan.truthWithin, "truth-within", 3,
		fmt.Sprintf("more rounds, up to %d times as many, until the throughput's truth is known to so many `points` "+
			"at each level; 0: no more", moreRounds))
	f.Float64Var(&o.plan.truthSeconds, "truth-seconds", 0.6, "length of one truth run")
	f.IntVar(&o.plan.chunks, "chunks", 2, "split the prediction into this many runs, between rounds of truth")
	f.BoolVar(&o.plan.coz, "coz", false, "ask coz too, where it can run the program")
	f.Float64Var(&o.plan.cozSeconds, "coz-seconds", 40, "profile each program this long with coz")
	f.StringVar(&o.plan.whatif, "whatif", "bin/whatif", "the whatif `command` to ask, from the checkout's root")
	f.DurationVar(&o.plan.patience, "patience", time.Minute, "wait up to this long, per program, for a quiet machine, "+
		"and repeat disturbed runs; 0: neither")
	f.Uint64Var(&o.plan.seed, "seed", 0,
		"`seed` of the random order of levels; 0: another one each time, which is printed")
	f.BoolVar(&o.truthOnly, "truth-only", false, "measure the truth, and make no prediction")
	kept := f.String("estimates", "",
		"record each program without delays, and compare the estimates with the truths of earlier runs in these `files`, "+
			"separated by commas, which -json has written; without -only: all programs in them")
	f.DurationVar(&o.record, "record", 5*time.Second, "with -estimates or -engines: record each program this long")
	f.BoolVar(&o.engines, "engines", false, "record each program, too, and judge experiments and estimates together: one "+
		"of them is to be right, and where the other one is not, whatif is to warn")
	f.StringVar(&o.recordings, "recordings", "",
		"with -estimates: record nothing, and estimate anew from the recordings NAME.profile in this `directory`, which "+
			"an earlier run has left in accuracy/build")
	f.StringVar(&o.jsonFile, "json", "", "write everything measured to this `file` too")
	f.StringVar(&o.resultsFile, "results", "",
		"replace the tables of the suite, or of the group, in this `file`, RESULTS.md")
	f.BoolVar(&o.check, "check", false, "exit with 1 when a target of the suite is missed")
	if err := rig.Parse(f, args); err != nil {
		return nil, err
	}
	if *quick {
		if err := setUnsaid(f, quickSettings); err != nil {
			return nil, err
		}
	}
	if o.plan.rounds < 2 || o.plan.chunks < 1 || o.plan.truthSeconds <= 0 || *seconds <= 0 {
		return nil, errors.New("reading the command line: at least 2 rounds, 1 chunk and some seconds are needed")
	}
	for o.plan.seed == 0 {
		o.plan.seed = rand.Uint64()
	}
	o.plan.predict = time.Duration(*seconds * float64(time.Second))
	if o.engines {
		o.plan.record = o.record
	}
	o.keptFiles = fieldsOf(*kept)
	if o.recordings != "" && len(o.keptFiles) == 0 {
		return nil, errors.New("reading the command line: -recordings needs -estimates, which names the truths")
	}
	var err error
	if o.plan.levels, err = parseLevels(*levels); err != nil {
		return nil, err
	}
	names := fieldsOf(*only)
	if len(o.keptFiles) > 0 {
		o.resultsSection = estimatesSection
		if len(names) == 0 {
			o.chosen = programs
			return o, nil
		}
	} else if o.resultsFile != "" {
		if o.resultsSection, err = sectionOf(names); err != nil {
			return nil, err
		}
	}
	o.chosen, err = choose(names)
	return o, err
}

// fieldsOf are the parts of a list on the command line.
func fieldsOf(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// quickSettings are the defaults with -quick.
var quickSettings = map[string]string{
	"rounds": "2", "truth-within": "0", "truth-seconds": "0.4", "chunks": "1", "seconds": "6", "coz-seconds": "15",
}

// setUnsaid sets those flags that the command line does not have.
func setUnsaid(f *flag.FlagSet, settings map[string]string) error {
	said := map[string]bool{}
	f.Visit(func(g *flag.Flag) { said[g.Name] = true })
	for name, value := range settings {
		if said[name] {
			continue
		}
		if err := f.Set(name, value); err != nil {
			return fmt.Errorf("setting -%s: %w", name, err)
		}
	}
	return nil
}

func parseLevels(text string) ([]int, error) {
	var levels []int
	for _, field := range strings.Split(text, ",") {
		level, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || level < 1 || level > 100 {
			return nil, fmt.Errorf("reading the levels: %q is no percentage from 1 to 100", field)
		}
		levels = append(levels, level)
	}
	return levels, nil
}

// locate finds the checkout, in the working directory or above it, and whatif in it.
func (o *options) locate() error {
	dir, err := rig.FindRoot()
	if err != nil {
		return err
	}
	o.plan.root = dir
	if o.truthOnly {
		o.plan.whatif = ""
		return nil
	}
	if !filepath.IsAbs(o.plan.whatif) {
		o.plan.whatif = filepath.Join(dir, o.plan.whatif)
	}
	if _, err := os.Stat(o.plan.whatif); err != nil {
		return fmt.Errorf("finding whatif: %w", err)
	}
	return nil
}

// print writes the table and the summary, and the requested files.
func (o *options) print(w io.Writer, results []result) error {
	rows, lines := resultTable(results), append(summarize(results).lines(), ranks(results)...)
	if o.engines {
		rows = estimateTable(results)
		lines, _ = judgeEngines(results)
	}
	if err := rows.writeText(w); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%s\n", strings.Join(lines, "\n"))
	if o.resultsFile != "" {
		how := fmt.Sprintf("Seed %d. Truths have %d rounds and more of %g s, predictions %g s.", o.plan.seed,
			o.plan.rounds, o.plan.truthSeconds, o.plan.predict.Seconds())
		if err := o.writeResults(how, rows, lines); err != nil {
			return err
		}
	}
	return o.writeJSON(results)
}

// writeJSON writes everything measured to the file that was asked for.
func (o *options) writeJSON(results []result) error {
	if o.jsonFile == "" {
		return nil
	}
	text, err := json.MarshalIndent(results, "", " ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", o.jsonFile, err)
	}
	if err := os.WriteFile(o.jsonFile, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	return nil
}
