package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"whatif/internal/analyze"
	"whatif/internal/analyze/diff"
	"whatif/internal/hint"
	"whatif/internal/report"
)

// statusCheck is what check exits with when a limit surely does not hold.
const statusCheck = 1

// percentage is a flag that may be left out.
type percentage struct {
	value float64
	given bool
}

func (p *percentage) String() string { return "" }

func (p *percentage) Set(s string) error {
	v, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
	if err != nil || !(v >= 0 && v <= 1e6) {
		return fmt.Errorf("%q is not a percentage of 0 or more", s)
	}
	p.value, p.given = v, true
	return nil
}

// checkCommand exits with 1 only where the whole interval says that a limit does not hold, or, with --strict, does not
// say that it holds.
func checkCommand(sh *shell, args []string) (int, error) {
	f := newFlags("check")
	var least, loss percentage
	f.Var(&least, "min-gain", "of FILE: some unit would gain at least `PERCENT`; of OLD NEW: the program did")
	f.Var(&loss, "max-regress", "of FILE: no unit, made faster, would cost more than `PERCENT`; of OLD NEW: the program lost no more")
	point := f.String("point", "", "only at the progress point `NAME`")
	strict := f.Bool("strict", false, "exit with 1 also where it cannot be told whether a limit holds")
	var profiles profilesFlags
	profiles.define(f)
	files, err := parse(sh, f, args, 1, 2)
	if err != nil {
		return 0, err
	}
	if !least.given && !loss.given {
		return 0, hint.New(usageError{errors.New("reading the command line: nothing to check")}, "give --min-gain PERCENT or --max-regress PERCENT")
	}
	var check interface {
		CheckLeast(limit float64, point string) analyze.Finding
		CheckLoss(limit float64, point string) analyze.Finding
	}
	var doubts []analyze.Warning
	var known []*analyze.Result
	missing := false // what is asked about cannot be compared, and never will be
	if len(files) == 2 {
		c, err := profiles.compare(files)
		if err != nil {
			return 0, err
		}
		missing = !slices.ContainsFunc(c.Points, func(p diff.PointChange) bool { return *point == "" || p.Name == *point })
		check, doubts, known = c, append(report.Doubts(c), c.Warnings...), []*analyze.Result{c.Old, c.New}
	} else {
		runs, more, err := profiles.read(files)
		if err != nil {
			return 0, err
		}
		r := analyze.Analyze(runs, analyze.Options{})
		check, doubts, known = r, append(r.Warnings, more...), []*analyze.Result{r}
	}
	if err := report.KnownPoint(*point, known...); err != nil {
		return 0, fmt.Errorf("checking: %w", err)
	}
	for _, d := range doubts {
		fmt.Fprintln(sh.stderr, report.WarningLine(d))
	}
	if missing {
		what := "no progress point in common"
		if *point != "" {
			what = fmt.Sprintf("no point %q in common that can be compared", *point)
		}
		return 0, hint.New(fmt.Errorf("checking: the profiles have %s", what), "give the points of both the same name: -p NAME=WHERE")
	}
	status := 0
	say := func(f analyze.Finding) {
		fmt.Fprintf(sh.stdout, "%s: %s\n", f.Answer, report.Clean(f.Text))
		if f.Answer == analyze.Fails || *strict && f.Answer != analyze.Holds {
			status = statusCheck
		}
	}
	if least.given {
		say(check.CheckLeast(least.value, *point))
	}
	if loss.given {
		say(check.CheckLoss(loss.value, *point))
	}
	return status, nil
}
