package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"

	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// UnitList is what could be a target of a program.
type UnitList struct {
	Units   []Sampled // most time first
	Samples int64     // those that belong to no unit included
	Tried   bool      // the list is of a profile: it says what was tried, and not what is in scope
}

// Sampled is a unit that was running when samples were taken.
type Sampled struct {
	Unit    profile.Unit
	Samples int64
	Share   float64 // percent of the program's time
	Outside string  // why it is not in scope; empty if it is
	Tried   int     // experiments with it
}

// UnitsOf lists the units of a result.
func UnitsOf(r *analyze.Result) UnitList {
	list := UnitList{Samples: r.Samples, Tried: true}
	for i := range r.Targets {
		t := &r.Targets[i]
		if t.Unit.Kind == profile.Together {
			continue // its units are there
		}
		list.Units = append(list.Units, Sampled{Unit: t.Unit, Samples: t.Samples, Share: t.Share, Tried: t.Tried})
	}
	slices.SortStableFunc(list.Units, func(a, b Sampled) int { return cmp.Compare(b.Share, a.Share) })
	return list
}

// Units writes what could be a target, in and out of scope. Widths are as in Text.
func Units(w io.Writer, list UnitList, opt Options) error {
	out := newPrinter(bufio.NewWriter(w), opt)
	inside, outside := list.shares()
	if list.Tried {
		tried := 0
		for _, s := range list.Units {
			tried += min(s.Tried, 1)
		}
		out.hanging("", fmt.Sprintf("%s, %d of them tried", count(len(list.Units), "unit"), tried))
	} else {
		text := fmt.Sprintf("%s: %.1f%% in scope, %.1f%% out of it", count(int(list.Samples), "sample"), inside, outside)
		if rest := 100 - inside - outside; list.Samples > 0 && rest > 0.05 {
			text += fmt.Sprintf(", %.1f%% not attributed", rest)
		}
		out.hanging("", text)
	}
	if len(list.Units) > 0 {
		out.line("")
		sampledTable(out, list, opt)
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

// shares is how much of the time units in and out of scope have.
func (l *UnitList) shares() (inside, outside float64) {
	for _, s := range l.Units {
		if s.Outside == "" {
			inside += s.Share
		} else {
			outside += s.Share
		}
	}
	return inside, outside
}

// state says in words whether a unit is tried.
func (l *UnitList) state(s Sampled) string {
	switch {
	case l.Tried && s.Tried > 0:
		return "tried, " + count(s.Tried, "experiment")
	case l.Tried:
		return "never tried"
	case s.Outside != "":
		return "out: " + clean(s.Outside)
	}
	return "in"
}

func sampledTable(p *printer, list UnitList, opt Options) {
	sampled := list.Units
	units := make([]profile.Unit, len(sampled))
	for i, s := range sampled {
		units[i] = s.Unit
	}
	name, file, binary := unitNames(units), fileNames(units), binaryNames(units)
	more := 0
	if opt.Top > 0 && len(sampled) > opt.Top {
		more = len(sampled) - opt.Top
		sampled = sampled[:opt.Top]
	}
	last := "scope"
	if list.Tried {
		last = "state"
	}
	rows := [][]string{{"share", "unit", "function", "binary", last}}
	for _, s := range sampled {
		rows = append(rows, []string{share(s.Share), clean(name(s.Unit)), clean(functionOf(s.Unit, file)),
			clean(binary[s.Unit.Binary]), list.state(s)})
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

type jsonUnits struct {
	Version int            `json:"version"`
	Samples int64          `json:"samples"`
	Units   []jsonListUnit `json:"units"`
}

// jsonListUnit has the fields of a report's target that are not about gains.
type jsonListUnit struct {
	Unit    string  `json:"unit"`
	Name    string  `json:"name"`
	Target  string  `json:"target,omitempty"` // what -t takes; none: -t takes no such unit
	File    string  `json:"file"`
	Line    int     `json:"line"`
	Func    string  `json:"func"`
	Binary  string  `json:"binary"`
	Share   float64 `json:"share"`
	Samples int64   `json:"samples"`
	InScope *bool   `json:"in_scope,omitempty"`
	Outside string  `json:"outside,omitempty"` // why it is not in scope
	Tried   *int    `json:"experiments,omitempty"`
}

// UnitsJSON writes what could be a target as one JSON object.
func UnitsJSON(w io.Writer, list UnitList, opt Options) error {
	units := make([]profile.Unit, len(list.Units))
	for i, s := range list.Units {
		units[i] = s.Unit
	}
	name := unitNames(units)
	out := jsonUnits{Version: JSONVersion, Samples: list.Samples, Units: []jsonListUnit{}}
	for i, s := range list.Units {
		if opt.Top > 0 && i == opt.Top {
			break
		}
		u := jsonListUnit{Unit: s.Unit.Kind, Name: s.Unit.Name, Target: targetSpec(s.Unit, name(s.Unit)), File: s.Unit.File,
			Line: s.Unit.Line, Func: s.Unit.Func, Binary: s.Unit.Binary, Share: round(s.Share, 2), Samples: s.Samples,
			Outside: s.Outside}
		if list.Tried {
			u.Tried = &list.Units[i].Tried
		} else {
			in := s.Outside == ""
			u.InScope = &in
		}
		out.Units = append(out.Units, u)
	}
	return writeJSON(w, "writing the list of units", out)
}

// targetSpec is how -t names a unit; "": it takes no units of this kind.
func targetSpec(u profile.Unit, name string) string {
	switch {
	case u.Kind == "line" || u.Kind == "path":
		return name
	case u.Kind == "func" && u.Self:
		return "func-self:" + name
	case u.Kind == "func":
		return "func:" + name
	case u.Kind == "wait":
		return u.Name
	}
	return ""
}
