package cli

import (
	"io"
	"strings"

	"whatif/internal/analyze"
	"whatif/internal/hint"
	"whatif/internal/profile"
	"whatif/internal/recording"
	"whatif/internal/report"
)

// input is what a report is made from.
type input struct {
	runs   []*profile.Data
	result *analyze.Result
	opt    report.Options
	// Of a report about another machine; nil: it is about the one of the runs.
	machines *comparison
	there    *report.There
	recorded *profile.Data // the run of which a format is made from the recording alone
}

func (in *input) text(w io.Writer) error {
	if in.there == nil {
		return report.Text(w, in.result, in.opt)
	}
	if err := in.machines.tellFactors(w); err != nil {
		return err
	}
	return report.TextThere(w, in.there, in.opt)
}

func (in *input) json(w io.Writer) error {
	if in.there == nil {
		return report.JSON(w, in.result, in.opt)
	}
	return report.JSONThere(w, in.there, in.opt)
}

func (in *input) csv(w io.Writer) error {
	if in.there == nil {
		return report.CSV(w, in.result, in.opt)
	}
	return report.CSVThere(w, in.there, in.opt)
}

func (in *input) svg(w io.Writer) error {
	if in.there == nil {
		return report.SVG(w, in.result, in.opt)
	}
	return report.SVGThere(w, in.there, in.opt)
}

// collapsed writes the stacks of the recorded samples, for flame graphs.
func collapsed(w io.Writer, d *profile.Data) error {
	r, err := d.Recording()
	if err != nil {
		return err
	}
	return recording.Collapsed(w, r)
}

// A format is one form of the report.
type format struct {
	name  string
	write func(w io.Writer, in *input) error
}

// forPrograms tells whether programs read the format. It then has all units unless --top is given.
func (f *format) forPrograms() bool { return f.name == "json" || f.name == "csv" || f.name == "pprof" }

// whole tells whether the format is always complete, so that --top and --point cannot apply. The page filters by
// itself, COZ's profiles have experiments but no units, and a recording has both in one.
func (f *format) whole() bool {
	return f.name == "html" || f.name == "coz" || f.name == "coz-json" || f.isRecorded()
}

// isRecorded tells whether the format is made from input.recorded alone.
func (f *format) isRecorded() bool { return f.name == "collapsed" || f.name == "recording" }

// hasEstimates tells whether the format shows what a recording says.
func (f *format) hasEstimates() bool {
	return f.name == "text" || f.name == "json" || f.name == "svg" || f.name == "map"
}

// hasDevices tells whether the format shows what is known of another machine.
func (f *format) hasDevices() bool {
	return f.name == "text" || f.name == "json" || f.name == "csv" || f.name == "svg" || f.name == "html"
}

func formats() []format {
	return []format{
		{"text", func(w io.Writer, in *input) error { return in.text(w) }},
		{"json", func(w io.Writer, in *input) error { return in.json(w) }},
		{"csv", func(w io.Writer, in *input) error { return in.csv(w) }},
		{"html", nil}, // the page: see profilesFlags.page
		{"svg", func(w io.Writer, in *input) error { return in.svg(w) }},
		{"map", func(w io.Writer, in *input) error { return report.Map(w, in.result, in.opt) }},
		{"github", func(w io.Writer, in *input) error { return report.GitHub(w, in.result, in.opt) }},
		{"pprof", func(w io.Writer, in *input) error { return report.Pprof(w, in.result, in.opt) }},
		{"coz", func(w io.Writer, in *input) error { return report.Coz(w, in.runs, false) }},
		{"coz-json", func(w io.Writer, in *input) error { return report.Coz(w, in.runs, true) }},
		{"collapsed", func(w io.Writer, in *input) error { return collapsed(w, in.recorded) }},
		{"recording", func(w io.Writer, in *input) error { return in.recorded.WriteAnonymous(w) }},
	}
}

func formatNames() string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return strings.Join(names, "|")
}

func formatNamed(name string) (format, error) {
	for _, f := range formats() {
		if f.name == name {
			return f, nil
		}
	}
	return format{}, unknownFormat(name, formatNames())
}

func unknownFormat(name, known string) error {
	return hint.New(wrongLine("unknown format %q", name), "the formats are "+strings.ReplaceAll(known, "|", ", "))
}
