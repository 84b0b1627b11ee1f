package cli

import (
	"context"
	"io"
	"slices"

	"whatif/internal/analyze"
	"whatif/internal/analyze/diff"
	"whatif/internal/report"
)

func diffCommand(_ context.Context, sh *shell, args []string) (int, error) {
	f := newFlags("diff")
	format := f.String("format", "text", "`text|json|github`")
	output := f.String("output", "", "write to `FILE` (default: stdout)")
	f.short("o", "output")
	top := f.Int("top", 20, "show only the `N` units that changed most; 0: all")
	point := f.String("point", "", "show only the progress point `NAME`")
	f.colored()
	var profiles profilesFlags
	profiles.define(f)
	files, err := parse(sh, f, args, 2, 2)
	if err != nil {
		return 0, err
	}
	if !slices.Contains([]string{"text", "json", "github"}, *format) {
		return 0, unknownFormat(*format, "text|json|github")
	}
	if *top < 0 {
		return 0, wrongLine("--top cannot be negative")
	}
	c, err := profiles.compare(files)
	if err != nil {
		return 0, err
	}
	opt := report.Options{Top: *top, Point: *point}
	if *format == "json" && !f.given("top") {
		opt.Top = 0
	}
	return 0, sh.writeTo(*output, func(w io.Writer) error {
		switch *format {
		case "json":
			return report.DiffJSON(w, c, opt)
		case "github":
			return report.GitHubDiff(w, c, opt)
		}
		return report.Diff(w, c, sh.terminalOptions(w, opt))
	})
}

// compare compares the profiles in two files.
func (p *profilesFlags) compare(files []string) (*diff.Comparison, error) {
	old, doubts, err := p.read(files[:1])
	if err != nil {
		return nil, err
	}
	new, more, err := p.read(files[1:])
	if err != nil {
		return nil, err
	}
	c := diff.Compare(old, new, analyze.Options{})
	c.Warnings = append(c.Warnings, append(doubts, more...)...)
	return c, nil
}
