package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"whatif/internal/doctor"
	"whatif/internal/experiment"
	"whatif/internal/report"
	"whatif/internal/target"
)

// What happens so many times a second is a good progress point: often enough for every experiment to have visits, and
// seldom enough to cost next to nothing.
const (
	leastOften, mostOften = 10, 10_000
	mostOftenInJava       = 1_000_000 // code in the class counts there, without a breakpoint
	mostSeen              = 20        // functions that are listed
)

// see ranks what a program is seen to do. While it is whatif's program, it has stdout, and the list goes to w.
func (p *pointsFlags) see(ctx context.Context, sh *shell, w io.Writer, cfg experiment.Config) (int, error) {
	if err := doctor.Require(); err != nil {
		return 0, err
	}
	if !cfg.Starts() {
		var restore func()
		ctx, restore = untilSignal(ctx)
		defer restore()
		target.PreferSelf()
	}
	cfg.Log = newLog(sh.stderr, newStatus(sh.stderr, true), false)
	seen, err := experiment.See(ctx, cfg)
	if seen == nil {
		return 0, err
	}
	return 0, errors.Join(err, printSeen(w, seen))
}

// printSeen prints what could be a progress point, by the time that it stands for, and names what is too frequent.
func printSeen(out io.Writer, seen *experiment.Seen) error {
	var often []string
	var text bytes.Buffer
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	found := 0
	most := float64(mostOften)
	if seen.Methods != nil {
		most = mostOftenInJava
	}
	section := func(title string, all []experiment.SeenPlace, share bool) {
		n := 0
		for _, p := range all {
			if p.TooOften || p.Rate > most {
				often = append(often, p.Spec)
				continue
			}
			if p.Rate < leastOften || n == mostSeen {
				continue
			}
			if n++; n == 1 {
				fmt.Fprintf(w, "  %s:\n", title)
			}
			part := ""
			if share {
				part = fmt.Sprintf("%.1f%% of the time", p.Share)
			}
			fmt.Fprintf(w, "    -p %s\t%s\t%s\t%s\n", report.Clean(report.Quoted(p.Spec)), report.PerSecond(p.Rate), part,
				report.Clean(p.Note))
		}
		if n == 0 {
			fmt.Fprintf(w, "  %s: none\n", title)
		}
		found += n
	}
	if seen.Methods != nil {
		section("methods seen to be entered 10 to a million times a second", seen.Methods, true)
	} else {
		section("functions seen to be entered 10 to 10,000 times a second", seen.Functions, true)
		section("system calls for input and output as often", seen.Calls, false)
	}
	if len(often) > 0 {
		fmt.Fprintf(w, "  too often: %s\n", report.Clean(strings.Join(often[:min(len(often), mostSeen)], ", ")))
	}
	if found > 0 {
		fmt.Fprint(w, "  Shares of the time are with what a function calls. The best point is passed once for each "+
			"unit of useful work.\n")
	} else {
		fmt.Fprint(w, "  Nothing was entered between 10 and 10,000 times a second. If the program had no load, start "+
			"the load and\n  try again. If it had, its functions are inlined, or the work is one loop: name a line that "+
			"runs once for\n  each unit of useful work, -p FILE:LINE.\n")
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	for line := range strings.Lines(text.String()) {
		if _, err := fmt.Fprintln(out, strings.TrimRight(line, " \n")); err != nil {
			return fmt.Errorf("printing: %w", err)
		}
	}
	return nil
}
