package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"whatif/internal/analyze/diff"
)

// GitHubDiff writes the effect of a change in GitHub's Markdown, for its pull request: what was
// predicted and realised, and the units with a certain change of the predicted gain.
func GitHubDiff(w io.Writer, c *diff.Comparison, opt Options) error {
	if err := KnownPoint(opt.Point, c.Old, c.New); err != nil {
		return err
	}
	const few = 5
	if opt.Top == 0 || opt.Top > few {
		opt.Top = few
	}
	out := bufio.NewWriter(w)
	title := "a program"
	if len(c.New.Runs) > 0 {
		if args := c.New.Runs[0].Run.Args; len(args) > 0 {
			title = codeSpan(cutRight(command(args), 80))
		}
	}
	fmt.Fprintf(out, "### What a change did to %s\n\n", title)
	for _, d := range append(serious(c.Warnings), Doubts(c)...) {
		fmt.Fprintf(out, "- **%s**\n", plainMarkdown(d.Text))
	}
	for _, change := range Changes(c, opt) {
		if head := change.Head; head != "" {
			fmt.Fprintf(out, "\n%s\n\n", strings.ToUpper(head[:1])+head[1:])
		}
		for _, line := range change.Lines {
			fmt.Fprintf(out, "- %s\n", plainMarkdown(line))
		}
		if change.More > 0 {
			fmt.Fprintf(out, "\n%s more: `whatif diff` shows them.\n", count(change.More, "unit"))
		}
	}
	githubChanges(out, c, opt)
	githubMinor(out, c.Warnings)
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing summary: %w", err)
	}
	return nil
}

// githubChanges is a table of the units with a certain change of the predicted gain.
func githubChanges(out io.Writer, c *diff.Comparison, opt Options) {
	name := bothNames(c)
	rows, more := 0, 0
	for i := range c.Units {
		for _, e := range c.Units[i].Effects {
			if !e.Changed || !opt.shows(&c.Points[e.Point]) {
				continue
			}
			if rows == opt.Top {
				more++
				continue
			}
			if rows++; rows == 1 {
				fmt.Fprint(out, "\nPredicted gains that changed, in percent:\n\n"+
					"| code | point | faster by | then | now |\n|---|---|--:|--:|--:|\n")
			}
			fmt.Fprintf(out, "| %s | %s | %d%% | %s | %s |\n", codeSpan(cutLeft(unitText(name, &c.Units[i]), 60)),
				codeSpan(cutRight(clean(c.Points[e.Point].Name), 40)), e.Speedup, gain(e.Old, true), gain(e.New, true))
		}
	}
	if more > 0 {
		fmt.Fprintf(out, "\n%s more: `whatif diff` shows them.\n", count(more, "change"))
	}
}
