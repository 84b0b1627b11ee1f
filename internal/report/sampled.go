package report

import (
	"bufio"
	"fmt"
	"io"

	"whatif/internal/profile"
)

// Sampled is a unit that was running when samples were taken.
type Sampled struct {
	Unit    profile.Unit
	Samples int64
	Outside string // why it is not in scope; empty if it is
}

// Units writes the units that were sampled, in and out of scope. total also counts the samples that
// belong to none of them. Widths are as in Text.
func Units(w io.Writer, sampled []Sampled, total int64, opt Options) error {
	out := newPrinter(bufio.NewWriter(w), opt)
	var in, outside int64
	units := make([]profile.Unit, len(sampled))
	for i, s := range sampled {
		units[i] = s.Unit
		if s.Outside == "" {
			in += s.Samples
		} else {
			outside += s.Samples
		}
	}
	text := fmt.Sprintf("%s: %.1f%% in scope, %.1f%% out of it",
		count(int(total), "sample"), percent(in, total), percent(outside, total))
	if rest := total - in - outside; rest > 0 {
		text += fmt.Sprintf(", %.1f%% not attributed", percent(rest, total))
	}
	out.hanging("", text)
	if len(sampled) > 0 {
		out.line("")
		sampledTable(out, sampled, units, total, opt)
	}
	if outside > 0 {
		out.line("")
		out.hanging("", "What is out of scope counts for the line that called it. --include and --exclude change "+
			"what is in scope.")
	}
	if err := out.w.Flush(); err != nil {
		return fmt.Errorf("writing the list of units: %w", err)
	}
	return nil
}

func sampledTable(p *printer, sampled []Sampled, units []profile.Unit, total int64, opt Options) {
	name, file, binary := unitNames(units), fileNames(units), binaryNames(units)
	more := 0
	if opt.Top > 0 && len(sampled) > opt.Top {
		more = len(sampled) - opt.Top
		sampled = sampled[:opt.Top]
	}
	rows := [][]string{{"share", "unit", "function", "binary", "scope"}}
	for _, s := range sampled {
		scope := "in"
		if s.Outside != "" {
			scope = "out: " + clean(s.Outside)
		}
		rows = append(rows, []string{share(percent(s.Samples, total)), clean(name(s.Unit)), clean(functionOf(s.Unit, file)),
			clean(binary[s.Unit.Binary]), scope})
	}
	const longest = 40 // of one cell
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for c := range row[:len(row)-1] {
			widths[c] = min(longest, max(widths[c], width(row[c])))
		}
	}
	for n, row := range rows {
		unit := colPlace
		if n > 0 && sampled[n-1].Unit.Kind == "func" {
			unit = colFunc // a function's name differs at its beginning
		}
		p.line(cutRight(fmt.Sprintf("%*s  %s  %s  %s  %s", widths[0], row[0], cellText(unit, row[1], widths[1]),
			cellText(colFunc, row[2], widths[2]), cellText(colFunc, row[3], widths[3]), row[4]), p.width))
	}
	if more > 0 {
		p.line(fmt.Sprintf("… and %s more", count(more, "unit")))
	}
}
