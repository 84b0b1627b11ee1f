package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"whatif/internal/analyze"
)

// csvHead names the columns of the CSV report. New columns are added at the end, and none is
// renamed.
var csvHead = []string{"unit", "name", "file", "line", "func", "binary", "share", "samples",
	"point", "metric", "verdict",
	"slope", "slope_low", "slope_high", "unit_experiments", "speedup", "gain", "gain_low", "gain_high", "experiments",
	"reason", "shape", "shape_at", "warnings", "bound"}

// CSV writes the result in the format of RFC 4180: a row for each unit, point, metric and speed-up
// that was tried, including 0. A unit that was never tried has one row, without those. Numbers are
// percent, except slopes; unknown ones are empty.
//
// Spreadsheets take a cell that begins with =, +, - or @ for a formula. Such a name gets an
// apostrophe in front, which they remove again.
func CSV(w io.Writer, r *analyze.Result, opt Options) error {
	points, err := selected(r, opt.Point)
	if err != nil {
		return err
	}
	shown := map[int]bool{}
	for _, k := range points {
		shown[k] = true
	}
	out := csv.NewWriter(w)
	out.UseCRLF = true
	rows := [][]string{csvHead}
	name := unitNames(unitsOf(r))
	for i := range r.Targets {
		if opt.Top > 0 && i >= opt.Top {
			break
		}
		rows = append(rows, csvRows(r, &r.Targets[i], name(r.Targets[i].Unit), shown)...)
	}
	if err := out.WriteAll(rows); err != nil {
		return fmt.Errorf("writing CSV report: %w", err)
	}
	return nil
}

func csvRows(r *analyze.Result, t *analyze.Target, name string, shown map[int]bool) (rows [][]string) {
	u := t.Unit
	line := ""
	if u.Line > 0 {
		line = strconv.Itoa(u.Line)
	}
	head := []string{u.Kind, harmless(name), harmless(u.File), line, harmless(u.Func), harmless(u.Binary),
		decimal(t.Share, 2), strconv.FormatInt(t.Samples, 10)}
	for i := range t.Effects {
		e := &t.Effects[i]
		if !shown[e.Point] || e.Experiments == 0 {
			continue
		}
		effect := append(append([]string(nil), head...), harmless(r.Points[e.Point].Name), string(e.Metric),
			string(e.Verdict))
		effect = append(effect, csvEstimate(e.Slope, 5)...)
		effect = append(effect, strconv.Itoa(e.Experiments))
		at := ""
		if e.Shape == analyze.Plateau || e.Shape == analyze.Peak {
			at = strconv.Itoa(e.ShapeAt)
		}
		for _, l := range e.Curve {
			row := append(append([]string(nil), effect...), strconv.Itoa(l.Speedup))
			row = append(row, csvEstimate(l.Gain, 3)...)
			row = append(row, strconv.Itoa(l.Experiments), harmless(e.Reason), string(e.Shape), at,
				harmless(strings.Join(notes(t, e), "; ")), bound(e.UpperBound))
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		row := append(head, make([]string, len(csvHead)-len(head))...)
		row[len(row)-2] = harmless(strings.Join(notes(t, &analyze.Effect{}), "; "))
		rows = append(rows, row)
	}
	return rows
}

// csvEstimate is a value and the ends of its interval.
func csvEstimate(e analyze.Estimate, digits int) []string {
	value, ci := estimate(e, digits)
	cells := make([]string, 3)
	if value != nil {
		cells[0] = decimal(*value, digits)
	}
	if ci != nil {
		cells[1], cells[2] = decimal(ci[0], digits), decimal(ci[1], digits)
	}
	return cells
}

func decimal(x float64, digits int) string {
	return strconv.FormatFloat(round(x, digits), 'f', -1, 64)
}

// harmless changes text that a spreadsheet would take for a formula.
func harmless(s string) string {
	s = clean(s)
	start := strings.TrimLeft(s, " ")
	if strings.HasPrefix(start, "'") || strings.IndexAny(start, "=+-@＝＋－＠") == 0 {
		return "'" + s
	}
	return s
}
