package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"whatif/internal/analyze"
	"whatif/internal/analyze/diff"
	"whatif/internal/hint"
	"whatif/internal/report"
)

// statusCheck is the exit status of check if a limit does not hold, by the whole interval.
const statusCheck = 1

// percentage is the value of a flag that may be left out.
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

// checkCommand exits with 1 if the whole interval violates a limit. With --strict it exits with 1 also if the interval
// does not tell.
func checkCommand(_ context.Context, sh *shell, args []string) (int, error) {
	f := newFlags("check")
	var least, loss percentage
	f.Var(&least, "min-gain",
		"the least gain: of FILE, some unit would gain at least `PERCENT`; of OLD NEW, the program did")
	f.Var(&loss, "max-regress",
		"the largest loss: of FILE, no unit, made faster, would cost the program more than `PERCENT`; of OLD NEW, the "+
			"program lost no more")
	point := f.String("point", "", "look only at the progress point `NAME`")
	strict := f.Bool("strict", false, "exit with 1 also where it cannot be told whether a limit holds")
	var profiles profilesFlags
	profiles.define(f)
	files, err := parse(sh, f, args, 1, 2)
	if err != nil {
		return 0, err
	}
	if !least.given && !loss.given {
		return 0, hint.New(wrongLine("nothing to check"), "give --min-gain PERCENT or --max-regress PERCENT")
	}
	c, err := profiles.checked(files, *point)
	if err != nil {
		return 0, err
	}
	if err := report.KnownPoint(*point, c.results...); err != nil {
		return 0, fmt.Errorf("checking: %w", err)
	}
	for _, d := range c.doubts {
		fmt.Fprintln(sh.stderr, report.WarningLine(d))
	}
	if c.missing {
		what := "no progress point in common"
		if *point != "" {
			what = fmt.Sprintf("no point %q in common that can be compared", *point)
		}
		return 0, hint.New(fmt.Errorf("checking: the profiles have %s", what),
			"give the points of both the same name: -p NAME=WHERE")
	}
	status := 0
	say := func(f analyze.Finding) {
		fmt.Fprintf(sh.stdout, "%s: %s\n", f.Answer, report.Clean(f.Text))
		if f.Answer == analyze.Fails || *strict && f.Answer != analyze.Holds {
			status = statusCheck
		}
	}
	if least.given {
		say(c.limits.CheckLeast(least.value, *point))
	}
	if loss.given {
		say(c.limits.CheckLoss(loss.value, *point))
	}
	return status, nil
}

// checked is what limits are checked on: the result of one profile, or the comparison of two.
type checked struct {
	limits interface {
		CheckLeast(limit float64, point string) analyze.Finding
		CheckLoss(limit float64, point string) analyze.Finding
	}
	results []*analyze.Result
	doubts  []analyze.Warning
	missing bool // the profiles have no point in common that the check is about
}

// checked reads one profile, or two to compare. point is the only point to check; "": all.
func (p *profilesFlags) checked(files []string, point string) (checked, error) {
	if len(files) == 2 {
		c, err := p.compare(files)
		if err != nil {
			return checked{}, err
		}
		asked := func(change diff.PointChange) bool { return point == "" || change.Name == point }
		return checked{
			limits: c, results: []*analyze.Result{c.Old, c.New}, doubts: append(report.Doubts(c), c.Warnings...),
			missing: !slices.ContainsFunc(c.Points, asked),
		}, nil
	}
	runs, doubts, err := p.read(files)
	if err != nil {
		return checked{}, err
	}
	r := analyze.Analyze(runs, analyze.Options{})
	return checked{limits: r, results: []*analyze.Result{r}, doubts: append(r.Warnings, doubts...)}, nil
}
